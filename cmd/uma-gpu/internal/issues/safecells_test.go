package issues_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// With --safe-cells no text of a table for spreadsheets is a formula; numbers stay.
func TestSafeCells(t *testing.T) {
	dir, data, p := t.TempDir(), strings.Builder{}, strings.Builder{}
	data.WriteString("who,size,kind\n")
	p.WriteString("=a,-1\n")
	for i := range 24 {
		fmt.Fprintf(&data, "%s,%d,%s\n", []string{"=1+1", "+49", "-x", "@me", "a=b"}[i%5], i,
			[]string{"=a", "-1"}[i%2])
		fmt.Fprintf(&p, "%s\n", []string{".9,.1", ".1,.9"}[i%2])
	}
	for _, safe := range []bool{false, true} {
		out := filepath.Join(dir, "i.csv")
		args := []string{"issues", "--data", clitest.Write(t, dir, "d.csv", data.String()),
			"--id-column", "who", "--probabilities", clitest.Write(t, dir, "p.csv", p.String()),
			"--out", out}
		if safe {
			args = append(args, "--safe-cells")
		}
		clitest.Succeed(t, args...)
		text := string(clitest.Read(t, out))
		for _, cell := range []string{"=1+1", "-x", "@me", "=a"} {
			if strings.Contains(text, ","+cell+",") == safe || strings.Contains(text,
				",'"+cell+",") != safe {
				t.Errorf("safe %v: %s\n%s", safe, cell, text)
			}
		}
		for _, cell := range []string{"+49", "a=b", "-1"} {
			if !strings.Contains(text, ","+cell+",") {
				t.Errorf("safe %v: without %s\n%s", safe, cell, text)
			}
		}
	}
}
