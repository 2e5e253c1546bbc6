package inject_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestInject(t *testing.T) {
	dir := t.TempDir()
	original, err := file.Read(t.Context(), clitest.Digits, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := clitest.Write(t, dir, "half.csv", matrixOfHalves)
	seen := map[string]string{}
	for _, source := range [][]string{
		{"--symmetric", "0.4"}, {"--pairwise", "0.4"}, {"--random", "0.6"}, {"--confusion", c},
		{"--pairwise", "0.4", "--seed", "2"}, {"--random", "0.6", "--seed", "2"},
	} {
		a, b, matrix := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), filepath.Join(dir,
			"C.csv")
		args := append([]string{"confusion", "inject", "--data", clitest.Digits}, source...)
		_, stderr := clitest.Succeed(t, append(args, "--out", a, "--write-confusion", matrix)...)
		clitest.Succeed(t, append(args, "--out", b)...)
		if !bytes.Equal(clitest.Read(t, a), clitest.Read(t, b)) {
			t.Errorf("%s: a second run corrupts otherwise", source)
		}
		text := string(clitest.Read(t, a))
		if before := seen[text]; before != "" {
			t.Errorf("%s corrupts like %s", source, before)
		}
		seen[text] = strings.Join(source, " ")
		d, err := file.Read(t.Context(), a, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for i, y := range d.Y {
			if d.Classes[y] != original.Classes[original.Y[i]] {
				changed++
			}
		}
		if share := float64(changed) / float64(d.N); share < 0.3 || share > 0.6 {
			t.Errorf("%s changes %v of the labels", source, share)
		}
		if !facts.Told(stderr, fmt.Sprintf("%d 1797 labels", changed)) {
			t.Errorf("%s: stderr %s, want %d labels", source, stderr, changed)
		}
		for k, v := range d.X {
			if v != original.X[k] {
				t.Fatalf("%s: value %d is %v, want %v", source, k, v, original.X[k])
			}
		}
		// The matrix that is kept does the same.
		clitest.Succeed(t, append([]string{"confusion", "inject", "--data", clitest.Digits, "--confusion",
			matrix,
			"--out", b}, seedOf(source)...)...)
		if !bytes.Equal(clitest.Read(t, a), clitest.Read(t, b)) {
			t.Errorf("%s: the kept matrix corrupts otherwise", source)
		}
	}
}

func seedOf(args []string) []string {
	for i, a := range args {
		if a == "--seed" {
			return args[i : i+2]
		}
	}
	return nil
}

// Half of the clitest.Digits 0 to 9 become the one before.
const matrixOfHalves = `0.5,0.5,0,0,0,0,0,0,0,0
0,0.5,0.5,0,0,0,0,0,0,0
0,0,0.5,0.5,0,0,0,0,0,0
0,0,0,0.5,0.5,0,0,0,0,0
0,0,0,0,0.5,0.5,0,0,0,0
0,0,0,0,0,0.5,0.5,0,0,0
0,0,0,0,0,0,0.5,0.5,0,0
0,0,0,0,0,0,0,0.5,0.5,0
0,0,0,0,0,0,0,0,0.5,0.5
0.5,0,0,0,0,0,0,0,0,0.5
`

// A copy looks like the original unless its name says otherwise.
func TestInjectKeepsTheLayout(t *testing.T) {
	dir := t.TempDir()
	csv := clitest.Write(t, dir, "in.csv", "label,u,v\na,1,0\nb,0.5,2\n")
	svm := clitest.Write(t, dir, "in.svm", "a 1:1 2:0\nb 1:0.5 2:2\n")
	for _, c := range []struct{ in, label, out, want string }{
		{csv, "first", "out.csv", "label,u,v\na,1,0\nb,0.5,2\n"},
		{csv, "label", "out.data", "label,u,v\na,1,0\nb,0.5,2\n"},
		{csv, "1", "out.tsv", "label\tu\tv\na\t1\t0\nb\t0.5\t2\n"},
		{csv, "first", "out.svm", "a 1:1\nb 1:0.5 2:2\n"},
		{svm, "last", "out.libsvm", "a 1:1\nb 1:0.5 2:2\n"},
		{svm, "last", "out.data", "a 1:1\nb 1:0.5 2:2\n"},
		{svm, "last", "out.CSV", "1,0,a\n0.5,2,b\n"},
	} {
		out := filepath.Join(dir, c.out)
		clitest.Succeed(t, "confusion", "inject", "--data", c.in, "--label-column", c.label,
			"--symmetric", "0",
			"--out", out)
		if got := string(clitest.Read(t, out)); got != c.want {
			t.Errorf("%s to %s: found %q, want %q", c.in, c.out, got, c.want)
		}
	}
	if _, stderr := clitest.Succeed(t, "confusion", "inject", "--data", csv, "--label-column", "first",
		"--pairwise", "1", "--out", filepath.Join(dir, "q"), "--quiet"); stderr != "" {
		t.Errorf("--quiet says %q", stderr)
	}
}

// Matrices are read with and without names, in either direction, as CSV and .npy, and a fault is
// told.
func TestReadsMatrix(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", "x,kind\n1,\"a,b\"\n2,c\n3,c\n")
	three := clitest.Write(t, dir, "three.csv", "x,kind\n1,0\n2,1\n3,2\n")
	inject := func(data, matrix string, more ...string) []string {
		return append([]string{"confusion", "inject", "--data", data, "--confusion", matrix, "--out",
			filepath.Join(dir, "out.csv"), "--write-confusion", filepath.Join(dir, "C.csv")}, more...)
	}
	for _, c := range []struct {
		data, name, text string
		more             []string
		want             string
	}{
		{data, "named.csv", "noisy\\true,c,\"a,b\"\nc,0.9,0.2\n\"a,b\",0.1,0.8\n", nil,
			"\"a,b\",0.8,0.1\nc,0.2,0.9\n"},
		{data, "bare.txt", "\n0.9,0.1\n0.2,0.8\n", []string{"--confusion-axes", "true-rows"},
			"\"a,b\",0.9,0.2\nc,0.1,0.8\n"},
	} {
		clitest.Succeed(t, inject(c.data, clitest.Write(t, dir, c.name, c.text), c.more...)...)
		if got := string(clitest.Read(t, filepath.Join(dir, "C.csv"))); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: found %q, want %q at its end", c.name, got, c.want)
		}
	}
	clitest.Succeed(t, inject(three, "../../../../host/confusion/testdata/c-order-f8.npy")...)
	clitest.Fail(t, app.ExitFailure, "none.csv", inject(data, filepath.Join(dir, "none.csv"))...)
	clitest.Fail(t, app.ExitFailure, "empty.csv numbers",
		inject(data, clitest.Write(t, dir, "empty.csv", ""))...)
}

// A matrix without an inverse is refused by what inverts it, with its condition.
func TestUnusableMatrix(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", "u,kind\n1,x\n2,y\n3,y\n")
	for name, c := range map[string]struct{ text, condition string }{
		"singular.csv": {"0.5,0.5\n0.5,0.5\n", "+Inf"},
		"nearly.csv":   {"0.5,0.4999999\n0.5,0.5000001\n", "1e+07"},
	} {
		path := clitest.Write(t, dir, name, c.text)
		clitest.Fail(t, app.ExitFailure, path+" "+c.condition+` "x" "y"`, "train", "--data", data,
			"--confusion", path, "--model", filepath.Join(dir, "m.npz"), "--quiet")
	}
}

func TestSynth(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.svm.gz")
	_, stderr := clitest.Succeed(t, "synth", "--examples", "50", "--features", "3", "--classes", "4",
		"--seed",
		"9", "--out", a)
	if !facts.Told(stderr, "50 examples × 3 features 4 "+a) {
		t.Errorf("stderr %s", stderr)
	}
	clitest.Succeed(t, "synth", "--examples", "50", "--features", "3", "--classes", "4", "--seed", "9",
		"--out", b, "--quiet")
	x, err := file.Read(t.Context(), a, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := file.Read(t.Context(), b, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if x.SHA256 != y.SHA256 || x.N != 50 || x.D != 3 || len(x.Classes) != 4 {
		t.Errorf("found %d×%d, hashes %s and %s", x.N, x.D, x.SHA256, y.SHA256)
	}
}
