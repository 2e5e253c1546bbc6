package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"table.csv":  "1,0,0,b\n2,0,0,a\n3,0,0,b\n",
		"bare.csv":   "1,0,0\n2,0,0\n3,0,0\n",
		"labels.csv": "true,noisy\nb,a\na,a\nb,a\n",
		"short.csv":  "true,noisy\nb,a\n",
		"plain.csv":  "1,a\n",
		"words.csv":  "7,3\n1,a\nmaybe,b\n",
	} {
		data := []byte(text)
		if name != "plain.csv" {
			data = pack(t, text)
		}
		if name == "table.csv" {
			write(t, filepath.Join(dir, "cut.csv"), data[:len(data)-9])
		}
		write(t, filepath.Join(dir, name), data)
	}
	like := &dataset.Dataset{Examples: dataset.Examples{D: 3}, Classes: []string{"b", "a"}}
	table := func(heading bool, rows int) part {
		return part{path: "table.csv", heading: heading, rows: rows,
			options: file.Options{Storage: "dense"}}
	}
	bare := func(labels string, rows int) part {
		o := file.Options{Labels: labels, Table: file.Table{LabelColumn: "true"}, Storage: "dense"}
		return part{path: "bare.csv", rows: rows, options: o}
	}
	for _, c := range []struct {
		name    string
		part    part
		like    *dataset.Dataset
		x       []float32
		y       []int32
		problem string
	}{
		{name: "whole", part: table(false, 0), x: []float32{1, 0, 0, 2, 0, 0, 3, 0, 0}, y: []int32{1, 0,
			1}},
		{name: "elsewhere", part: part{path: filepath.Join(dir, "table.csv"),
			options: file.Options{Storage: "dense"}},
			x: []float32{1, 0, 0, 2, 0, 0, 3, 0, 0}, y: []int32{1, 0, 1}},
		{name: "first rows", part: table(false, 2), x: []float32{1, 0, 0, 2, 0, 0}, y: []int32{1, 0}},
		{name: "first rows, labels elsewhere", part: bare("labels.csv", 2),
			x: []float32{1, 0, 0, 2, 0, 0}, y: []int32{1, 0}},
		{name: "classes of another", part: table(false, 1), like: like, x: []float32{1, 0, 0},
			y: []int32{0}},
		{name: "line dropped", part: table(true, 0), x: []float32{2, 0, 0, 3, 0, 0}, y: []int32{0,
			1}},
		{name: "more rows wanted", part: table(false, 4), problem: "table.csv 3 examples 4"},
		{name: "too few labels", part: bare("short.csv", 0), problem: "short.csv 1 labels"},
		{name: "features of another", part: table(false, 0),
			like: &dataset.Dataset{Examples: dataset.Examples{D: 2}}, problem: "2"},
		{name: "heading of plain text", part: part{path: "plain.csv", heading: true}, problem: "gzip"},
		{name: "heading of a cut file", part: part{path: "cut.csv", heading: true},
			problem: "cut.csv damaged"},
		{name: "words behind a heading", part: part{path: "words.csv", heading: true},
			problem: "words.csv:2:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.part.read(t.Context(), dir, c.like)
			if c.problem != "" {
				if !facts.Told(err, c.problem) {
					t.Fatalf("error %v, want one with %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Check(); err != nil || d.N != len(c.y) || !slices.Equal(d.X, c.x) ||
				!slices.Equal(d.Y, c.y) {
				t.Errorf("found %+v, check %v; want X %v, Y %v", d, err, c.x, c.y)
			}
		})
	}
}

func TestDivide(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 10, D: 1}, Classes: []string{"a", "b"}}
	for i := range d.N {
		d.X, d.Y = append(d.X, float32(i)), append(d.Y, int32(i%2))
	}
	for _, c := range []struct{ first, train int }{{0, 7}, {4, 4}} {
		train, test, err := set{first: c.first}.divide(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[float32]bool{}
		for _, part := range []*dataset.Dataset{train, test} {
			if part.SHA256 != "" && part.SHA256 != part.Hash() {
				t.Errorf("first %d: a part has the hash of another", c.first)
			}
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
			t.Errorf("first %d: %d train, %d distinct in all; want %d and %d", c.first, train.N, len(seen),
				c.train, d.N)
		}
	}
	if _, _, err := (set{first: 10}).divide(d, 1); !facts.Told(err, "10 examples") {
		t.Errorf("10 of 10 to train: error %v", err)
	}
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
