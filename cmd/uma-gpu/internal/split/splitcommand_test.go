package split_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestSplit(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	a, b := path("train, all.csv"), path("test.svm.gz") // a comma is part of a name
	_, stderr := clitest.Succeed(t, "split", "--data", clitest.Digits, "--fractions", "0.7, 0.3",
		"--out", a, "--out",
		b)
	for _, want := range []string{"1258 1797 examples " + a,
		"539 1797 examples " + b} {
		if !facts.Told(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	whole, train, test := readSet(t, clitest.Digits), readSet(t, a), readSet(t, b)
	if train.N != 1258 || test.N != 539 || train.D != 64 || test.D != 64 {
		t.Fatalf("found %d×%d and %d×%d", train.N, train.D, test.N, test.D)
	}
	for q, c := range dataset.Describe(whole).Classes {
		n := dataset.Describe(train).Classes[q].Examples
		if exact := 0.7 * float64(c.Examples); float64(n) < exact-1 || float64(n) > exact+1 ||
			dataset.Describe(test).Classes[q].Examples != c.Examples-n {
			t.Errorf("class %s: %d of %d are in the first part", c.Class, n, c.Examples)
		}
	}
	again, other := path("again.csv"), path("other.csv")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--fractions", "0.7", "--out", again)
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--fractions", "0.7", "--out", other,
		"--seed", "2")
	if !bytes.Equal(clitest.Read(t, a), clitest.Read(t, again)) || bytes.Equal(clitest.Read(t, a),
		clitest.Read(t, other)) {
		t.Error("the seed does not decide the split")
	}
}

func readSet(t *testing.T, path string) *dataset.Dataset {
	t.Helper()
	d, err := file.Read(t.Context(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSplitErrors(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", "1,a\n2,b\n3,a\n")
	x, y := filepath.Join(dir, "x.csv"), filepath.Join(dir, "y.csv")
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitUsage, "--fractions --counts", []string{"--out", x}},
		{app.ExitUsage, "--fractions --counts", []string{"--fractions", "1", "--counts", "1", "--out",
			x}},
		{app.ExitUsage, "--out 1 times 2 times", []string{"--fractions", "0.5,0.5", "--out", x}},
		{app.ExitUsage, "--out 0 times", []string{"--fractions", "0.5,0.5"}},
		{app.ExitUsage, "--out --out", []string{"--counts", "1,1", "--out", x, "--out",
			dir + "/./x.csv"}},
		{app.ExitUsage, "--data", []string{"--counts", "1,1", "--out", x, "--out", data}},
		{app.ExitUsage, `--fractions "half"`, []string{"--fractions", "half", "--out", x}},
		{app.ExitUsage, `--fractions "-0.5"`, []string{"--fractions", "-0.5", "--out", x}},
		{app.ExitUsage, "--fractions sum 1.2", []string{"--fractions", "0.6,0.6", "--out", x, "--out",
			y}},
		{app.ExitUsage, `--counts "1.5"`, []string{"--counts", "1.5", "--out", x}},
		{app.ExitUsage, `--counts "0"`, []string{"--counts", "0", "--out", x}},
		{app.ExitUsage, `--counts "-1"`, []string{"--counts", "-1", "--out", x}},
		{app.ExitUsage, "twice", []string{"--counts", "rest,rest", "--out", x, "--out", y}},
		{app.ExitFailure, "2 2 2 examples 1 3", []string{"--counts", "2,2", "--out", x, "--out", y}},
		{app.ExitFailure, "2 2 0 3 examples", []string{"--fractions", "0.9,0.1", "--out", x, "--out", y}},
		{app.ExitFailure, "no-such-folder", []string{"--counts", "1", "--out",
			filepath.Join(dir, "no-such-folder", "x.csv")}},
	} {
		clitest.Fail(t, c.code, c.fragment, append([]string{"split", "--data", data}, c.args...)...)
	}
	if left := clitest.Names(t, dir); !slices.Equal(left, []string{"d.csv"}) {
		t.Errorf("found %q", left)
	}
}
