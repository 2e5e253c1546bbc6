//go:build unix

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// A file that is cut short while a training uses it ends the training with an error that names it,
// and nothing is written. An emptied file has no bytes in any page.
func TestFileCutShortWhileUsed(t *testing.T) {
	for _, device := range []string{"cpu"} {
		dir := t.TempDir()
		data := filepath.Join(dir, "d.npz")
		succeed(t, "convert", "--data", digits, "--normalize", "auto", "--out", data)
		c := processOf(t, "", "train", "--learner", "uma", "--data", data, "--model", filepath.Join(dir,
			"m.npz"),
			"--device", device, "--step", "pair", "--doubt", "0", "--max-steps", "1000000000", "--verbose")
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(stderr), ""
		for lines.Scan() {
			if last = lines.Text(); strings.HasPrefix(last, "step 3:") {
				if err := os.Truncate(data, 0); err != nil {
					t.Error(err)
				}
			}
		}
		if code := exitOf(t, c.Wait()); code != app.ExitFailure ||
			!strings.HasPrefix(last, "uma-gpu: "+data+": the file cannot be read any more") {
			t.Errorf("%s: exit code %d, last line %q", device, code, last)
		}
		if left := names(t, dir); !slices.Equal(left, []string{"d.npz"}) {
			t.Errorf("%s: found %q", device, left)
		}
	}
}
