//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// What does not fit in memory ends with an exit code and a line of its own, in real
// processes with limits: not with Go's trace of all that it was doing, nor by the kernel.
func TestMemoryBudget(t *testing.T) {
	dir := t.TempDir()
	wide := write(t, dir, "wide.svm", "a 1:1\nb 2147483000:1\n")
	var ids, packed bytes.Buffer
	for i := range 200000 {
		fmt.Fprintf(&ids, "0.5,%d\n", i)
	}
	id := write(t, dir, "id.csv", ids.String())
	bare := write(t, dir, "C.csv", "1,0\n0,1\n")
	long := write(t, dir, "long.csv", ids.String()+"0.5,"+strings.Repeat("x", 60000)+"\n")
	for i := range 8000 { // 32 MB of text, 64 MB of numbers
		fmt.Fprintf(&packed, "%s%d\n", strings.Repeat("7,", 2000), i%2)
	}
	bomb := write(t, dir, "bomb.csv.gz", pack(t, packed.String()))
	name, line := "0.5,"+strings.Repeat("x", 1<<18-10), strings.Repeat("1,", 30<<20)+"1\n2"
	var classes strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&classes, "%s%d\n", name, i)
	}
	words := write(t, dir, "words.csv.gz", pack(t, classes.String()))
	flat := write(t, dir, "flat.csv.gz", pack(t, line))
	before := names(t, dir)
	m, out := filepath.Join(dir, "m.npz"), filepath.Join(dir, "out.csv")
	// Address space, which a program with C in it takes some of for a start.
	const space, small = "ulimit -v 4000000;", "GOMEMLIMIT=64MiB; export GOMEMLIMIT;"
	tests := []struct {
		prefix string
		args   string
	}{
		{space, "train --data " + wide + " --model " + m},
		{space, "info --data " + wide},
		{space, "convert --data " + wide + " --out " + out},
		{space, "confusion inject --pairwise 0.1 --data " + wide + " --out " + out},
		{space, "train --data " + id + " --confusion " + bare + " --model " + m},
		{space, "train --data " + id + " --kernel rbf --model " + m},
		{space, "confusion inject --pairwise 0.1 --data " + id + " --out " + out},
		{space, "convert --data " + long + " --out " + out + ".npz"},
		{space, "synth --examples 9223372036854775807 --features 9223372036854775807 --out " + out},
		{space, "synth --examples 2 --features 1 --classes 2000000000 --out " + out},
		{small, "synth --examples 1000000 --features 64 --out " + out},
		{small, "train --data " + words + " --model " + m},
		{space, "info --data " + flat},
		{small, "train --data " + bomb + " --model " + m},
		{small, "train --label-column first --data " + letter +
			" --kernel rbf --landmarks 2000 --model " + m},
	}
	for _, c := range tests {
		var stdout, stderr bytes.Buffer
		p := processOf(t, c.prefix, strings.Fields(c.args)...)
		p.Stdout, p.Stderr = &stdout, &stderr
		code := exitOf(t, p.Run())
		lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
		last := lines[len(lines)-1]
		traced := strings.Contains(stderr.String(), "goroutine") || strings.Contains(stderr.String(),
			"panic")
		if code != app.ExitMemory || traced || stdout.Len() > 0 ||
			!strings.HasPrefix(last, "uma-gpu: ") || !strings.Contains(last, "memory") {
			t.Errorf("%s uma-gpu %s: exit code %d\n%.600s", c.prefix, c.args, code, stderr.String())
		}
		if left := names(t, dir); !slices.Equal(left, before) {
			t.Errorf("%s: found %q", c.args, left)
			before = left
		}
	}
}

// A GOMEMLIMIT that the program by itself is above ends no run that fits.
func TestUnrealLimit(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.npz")
	p := processOf(t, "GOMEMLIMIT=1; export GOMEMLIMIT;", "train", "--data", digits, "--quiet",
		"--learner", "classmean", "--model", m)
	if text, err := p.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// Landmarks are dense where products are computed: sparse examples of very many features are
// refused before.
func TestKernelOfVeryManyFeatures(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 12 {
		fmt.Fprintf(&rows, "%d %d:1 %d:2 %d:0.5\n", i%2, 1+i, 50+3*i, 100_000_000-i)
	}
	data := write(t, dir, "wide.svm", rows.String())
	args := "train --kernel rbf --data " + data + " --model " + filepath.Join(dir, "out.npz")
	p := processOf(t, "ulimit -v 8000000;", strings.Fields(args)...)
	text, err := p.CombinedOutput()
	if code := exitOf(t, err); code != app.ExitMemory || !strings.Contains(string(text), "features") {
		t.Errorf("%s: exit code %d\n%.600s", args, code, text)
	}
}

// pack packs a text by gzip.
func pack(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}
