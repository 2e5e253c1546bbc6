package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{nil, 2, "wanted -data"},
		{[]string{"-data", "d", "-device", "tpu"}, 2, "-device opencl or cpu"},
		{[]string{"-data", "d", "-steps", "0"}, 2, "at least 1"},
		{[]string{"-data", "d", "more"}, 2, "nothing else"},
		{[]string{"-data", "d", "-sets", "iris,iris"}, 2, `found "iris"`},
		{[]string{"-data", "d", "-sets", "lettre"}, 2, `found "lettre"`},
		{[]string{"-data", t.TempDir(), "-device", "cpu", "-sets", "wine"}, 1, "sklearn_wine_data.csv.gz: no such file"},
		{[]string{"-data", t.TempDir(), "-device", "cpu", "-sets", "mnist"}, 1, "train-images-idx3-ubyte.gz: no such data file"},
		{[]string{"-data", t.TempDir(), "-device", "cpu"}, 1, "optdigits.tra.gz: no such data file"},
	} {
		var out, said bytes.Buffer
		code := run(t.Context(), c.args, &out, &said)
		if code != c.code || out.Len() != 0 || !strings.Contains(said.String(), c.said) {
			t.Errorf("%q: code %d, %q, stdout %q; want %d, %q and no output", c.args, code, said.String(), out.String(),
				c.code, c.said)
		}
	}
}

func TestSplit(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 10, D: 1}, Classes: []string{"a", "b"}}
	for i := range d.N {
		d.X, d.Y = append(d.X, float32(i)), append(d.Y, int32(i%2))
	}
	for _, c := range []struct{ first, train int }{{0, 7}, {4, 4}} {
		train, test, err := set{first: c.first}.split(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[float32]bool{}
		for _, part := range []*dataset.Dataset{train, test} {
			for i, v := range part.X {
				seen[v] = true
				if part.Y[i] != int32(v)%2 {
					t.Errorf("first %d: example %v has lost its label", c.first, v)
				}
				if c.first > 0 && (int(v) < c.first) != (part == train) {
					t.Errorf("first %d: example %v is on the wrong side", c.first, v)
				}
			}
		}
		if train.N != c.train || len(seen) != d.N {
			t.Errorf("first %d: %d train, %d distinct in all; want %d and %d", c.first, train.N, len(seen), c.train, d.N)
		}
	}
	if _, _, err := (set{first: 10}).split(d, 1); err == nil || !strings.Contains(err.Error(), "found 10 examples") {
		t.Errorf("10 of 10 to train: error %v", err)
	}
}
