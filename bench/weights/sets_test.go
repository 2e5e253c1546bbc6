package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"table.csv":  "1,0,0,b\n2,0,0,a\n3,0,0,b\n",
		"bare.csv":   "1,0,0\n2,0,0\n3,0,0\n",
		"labels.csv": "true,noisy\nb,a\na,a\nb,a\n",
		"short.csv":  "true,noisy\nb,a\n",
		"plain.csv":  "1,a\n",
	} {
		data := []byte(text)
		if name != "plain.csv" {
			data = pack(t, data)
		}
		if name == "table.csv" {
			write(t, filepath.Join(dir, "cut.csv"), data[:len(data)-9])
		}
		write(t, filepath.Join(dir, name), data)
	}
	like := &dataset.Dataset{Examples: dataset.Examples{D: 3}, Classes: []string{"b", "a"}}
	labels := func(path string) dataset.Options {
		return dataset.Options{Labels: path, Table: dataset.Table{LabelColumn: "true"}}
	}
	for _, c := range []struct {
		name    string
		part    part
		like    *dataset.Dataset
		x       []float32
		y       []int32
		problem string
	}{
		{name: "whole, dense", part: part{path: "table.csv"}, x: []float32{1, 0, 0, 2, 0, 0, 3, 0, 0}, y: []int32{1, 0, 1}},
		{name: "first rows", part: part{path: "table.csv", rows: 2}, x: []float32{1, 0, 0, 2, 0, 0}, y: []int32{1, 0}},
		{name: "first rows, labels elsewhere", part: part{path: "bare.csv", rows: 2, options: labels("labels.csv")}, x: []float32{1, 0, 0, 2, 0, 0}, y: []int32{1, 0}},
		{name: "classes of another", part: part{path: "table.csv", rows: 1}, like: like, x: []float32{1, 0, 0}, y: []int32{0}},
		{name: "line dropped", part: part{path: "table.csv", edit: afterLine}, x: []float32{2, 0, 0, 3, 0, 0}, y: []int32{0, 1}},
		{name: "more rows wanted", part: part{path: "table.csv", rows: 4}, problem: "table.csv: found 3 examples, wanted at least 4"},
		{name: "too few labels", part: part{path: "bare.csv", options: labels("short.csv")}, problem: "short.csv: found 1 labels"},
		{name: "features of another", part: part{path: "table.csv"}, like: &dataset.Dataset{Examples: dataset.Examples{D: 2}}, problem: "wanted 2"},
		{name: "edit of plain text", part: part{path: "plain.csv", edit: afterLine}, problem: "plain.csv: wanted a gzip file"},
		{name: "edit of a cut file", part: part{path: "cut.csv", edit: afterLine}, problem: "cut.csv: the gzip file is damaged"},
		{name: "edit leaves words", part: part{path: "table.csv", edit: func(string) string { return "1,a\nmaybe,b\n" }}, problem: "table.csv:2:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.part.read(dir, c.like)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("error %v, want one with %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Check(); err != nil || d.N != len(c.y) || !slices.Equal(d.X, c.x) || !slices.Equal(d.Y, c.y) {
				t.Errorf("found %+v, check %v; want X %v, Y %v", d, err, c.x, c.y)
			}
		})
	}
}

func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
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
