package main

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{nil, 2, "wanted one file"},
		{[]string{"a", "b"}, 2, "wanted one file"},
		{[]string{"-n", "0", "a"}, 2, "at least 1"},
		{[]string{"-m", "a"}, 2, "not defined"},
		{[]string{"none.svm"}, 1, "reading: none.svm: no such data file"},
		{[]string{"-n", "2", "../../testdata/digits.csv.gz"}, 0, ""},
	} {
		before := runtime.GOMAXPROCS(0)
		var out, said bytes.Buffer
		if code := run(c.args, &out, &said); code != c.code || !strings.Contains(said.String(), c.said) {
			t.Errorf("%q: code %d, %q, want %d, %q", c.args, code, said.String(), c.code, c.said)
		}
		lines := strings.Count(out.String(), "\n")
		if lines != map[int]int{0: 2}[c.code] || c.code == 0 && !strings.HasPrefix(out.String(), "1 0.") {
			t.Errorf("%q: stdout %q", c.args, out.String())
		}
		if runtime.GOMAXPROCS(0) != before {
			t.Errorf("%q: the number of processors was left changed", c.args)
		}
	}
}
