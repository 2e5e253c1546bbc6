package layout

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// programs returns the Go programs of docs/library.md: the front door's, the lower packages', and
// the other first line of the latter, for OpenCL.
func programs(t *testing.T) (front, source, line string) {
	text, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 3 {
		t.Fatalf("docs/library.md: blocks of Go: got %d, want 3 (two programs, a line for OpenCL)",
			len(blocks))
	}
	return blocks[0][1], blocks[1][1], blocks[2][1]
}

// TestFrontDoor builds the program of docs/library.md that uses the front door alone, and runs it.
func TestFrontDoor(t *testing.T) {
	front, _, _ := programs(t)
	dir := t.TempDir()
	writeModule(t, dir)
	if printed := runProgram(t, dir, front); printed != "cat dog <nil>\n" {
		t.Errorf("docs/library.md: the program of the front door: printed %q, want what the page says",
			printed)
	}
}

// TestProgramIsShort: what a user writes to read, train, save and predict stays within 15
// lines: all that are not blank after the imports, with braces and the handling of errors.
func TestProgramIsShort(t *testing.T) {
	_, source, _ := programs(t)
	_, body, _ := strings.Cut(source, "\n)\n")
	lines := 0
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines < 5 || lines > 15 {
		t.Errorf("docs/library.md: the program has %d lines after the imports, want at most 15", lines)
	}
}

// TestProgram builds the program of docs/library.md in a module of its own, on the processor and
// on OpenCL, and compares what both predict.
func TestProgram(t *testing.T) {
	_, source, line := programs(t)
	dir := t.TempDir()
	writeData(t, dir)
	writeModule(t, dir)
	onCPU := runProgram(t, dir, source)
	if n := strings.Count(onCPU, " "); n != 596 {
		t.Errorf("%d blanks between the classes, want those of 597 examples: %.80s", n, onCPU)
	}
	if _, err := gpu.Devices(); err != nil {
		t.Logf("no OpenCL to compare with: %v", err)
		return
	}
	changed := regexp.MustCompile(`(?m)^\tctx, e := .*\n`).ReplaceAllLiteralString(source, "\t"+line)
	changed = strings.Replace(changed, "uma-gpu/cpuref/simd\"", "uma-gpu/gpu\"", 1)
	if changed == source {
		t.Fatal("docs/library.md: the line for OpenCL replaces none of the program")
	}
	if onOpenCL := runProgram(t, dir, changed); onOpenCL != onCPU {
		t.Errorf("OpenCL predicts otherwise than the processor:\n%s\n%s", onOpenCL, onCPU)
	}
}

// writeData makes the files that the program reads: digits with wrong labels, their C, and
// others to judge.
func writeData(t *testing.T, dir string) {
	ctx := context.Background()
	d, err := file.Read(ctx, "../../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := dataset.SplitCounts(d, []int{1200, dataset.Rest}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := confusion.Pairwise(d.Classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	if parts[0].Y, err = c.Inject(parts[0].Y, 1); err != nil {
		t.Fatal(err)
	}
	if err := osfile.Write(filepath.Join(dir, "C.csv"), c.Write); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{"noisy.csv", "test.csv"} {
		if err := file.Write(ctx, filepath.Join(dir, name), parts[k],
			file.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// writeModule makes a module that uses this one as it lies here, with nothing to fetch.
func writeModule(t *testing.T, dir string) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			own := strings.TrimSuffix(module, "/")
			text = bytes.Replace(text, []byte("module "+own), []byte("module example.org/user"), 1)
			text = append(text, "\nrequire "+own+" v0.0.0\nreplace "+own+" => "+root+"\n"...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// runProgram builds and runs a program in a module, and returns what it prints.
func runProgram(t *testing.T, dir, source string) string {
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	for _, args := range [][]string{{"go", "build", "-o", "program", "."}, {"./program"}} {
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.Stdout, c.Stderr = dir, &out, &problems
		c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, problems.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m.npz")); err != nil {
		t.Errorf("the program saved no model: %v", err)
	}
	return out.String()
}
