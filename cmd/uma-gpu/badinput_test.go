package main

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// Bad input is told with its place, and nothing is written.
func TestTrainBadInput(t *testing.T) {
	const good = "1,2,a\n3,4,b\n5,7,c\n"
	for _, c := range []struct {
		name      string
		file      string // name of the data file
		data      string
		confusion string // content of the confusion matrix, none if empty
		fragment  string
	}{
		{"empty file", "d.csv", "", "", "d.csv: found no example, wanted at least one"},
		{"blank lines", "d.csv", "\n\n", "", "d.csv: found no example"},
		{"only a header", "d.csv", "x,y,label\n", "",
			"d.csv: found no example after the header in line 1"},
		{"one class", "d.csv", "1,2,a\n3,4,a\n", "", `d.csv: found only one class, "a", in 2 examples`},
		{"label outside C", "d.csv", good, "noisy\\true,a,b\na,1,0\nb,0,1\n", `of classes of the data: "c"`},
		{"class of C unknown", "d.csv", good, "noisy\\true,a,b,d\na,1,0,0\nb,0,1,0\nd,0,0,1\n", `C.csv: the border of the rows has names that are no class of the data: "d"`},
		{"wrong Q", "d.csv", good, "1,0\n0,1\n",
			"C.csv: found a table of 2×2 numbers without names"},
		{"rows missing in C", "d.csv", good, "1,0,0\n0,1,0\n",
			"C.csv: found a table of 2×3 numbers, wanted as many rows as columns"},
		{"C not square", "d.csv", good, "1,0,0\n0,1,0\n0,0\n", "C.csv:3: found 2 numbers, wanted 3"},
		{"C out of range", "d.csv", good, "1,0,0\n0,2,0\n0,0,1\n",
			"is 2, wanted a number from 0 to 1"},
		{"C sums wrong", "d.csv", good, "1,0,0\n0,0.5,0\n0,0,1\n", `C.csv: confusion matrix: the column of true class "b" sums to 0.5`},
		{"C transposed", "d.csv", good, "1,0,0\n0.5,0.5,0\n0,0,1\n", "use --confusion-axes true-rows"},
		{"C singular", "d.csv", good, "1,0,0\n0,0.5,0.5\n0,0.5,0.5\n", `C.csv: confusion matrix cannot be inverted: its condition number is +Inf, wanted at most 1e+06; its noisy labels cannot tell these classes apart: "b", "c"`},
		{"C empty", "d.csv", good, "\n", "C.csv:1: found no text"},
		{"ragged rows", "d.csv", "1,2,a\n3,b\n", "", "d.csv:2:4: found 2 fields, wanted 3"},
		{"NaN", "d.csv", "1,2,a\n3,nan,b\n", "", `d.csv:2:3: column 2: found "nan", wanted a finite number`},
		{"Inf", "d.csv", "1,2,a\n3,-Inf,b\n", "", `d.csv:2:3: column 2: found "-Inf", wanted a finite number`},
		{"beyond float32", "d.csv", "1,2,a\n3,1e39,b\n", "", `d.csv:2:3: column 2: found "1e39", wanted a number within the range of float32`},
		{"trailing junk", "d.csv", "1,2,a\n3,4x,b\n", "", `d.csv:2:3: column 2: found "4x", wanted a decimal number`},
		{"missing number", "d.csv", "1,2,a\n3,,b\n", "", "d.csv:2:3: column 2: found an empty field"},
		{"missing label", "d.csv", "1,2,a\n3,4,\n", "", `d.csv:2:5: column 3: found an empty label`},
		{"LIBSVM NaN", "d.svm", "a 1:1\nb 1:nan\n", "", `d.svm:2:5: feature 1: found "nan"`},
		{"LIBSVM trailing junk", "d.svm", "a 1:1\nb 1:2,5\n", "", `d.svm:2:5: feature 1: found "2,5"`},
		{"LIBSVM index 0", "d.svm", "a 1:1\nb 0:1\n", "",
			"d.svm:2:3: found feature index 0, wanted indices from 1"},
		{"LIBSVM index decreasing", "d.svm", "a 1:1 2:1\nb 2:1 1:1\n", "",
			"d.svm:2:7: found feature index 1 after 2, wanted increasing indices"},
		{"LIBSVM no features", "d.svm", "a\nb\n", "", "d.svm: found no index:value in 2 examples"},
		{"gzip cut short", "d.csv.gz", cutGzip(t), "", "the gzip data are cut short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data := write(t, dir, c.file, c.data)
			args := []string{"train", "--data", data, "--model", filepath.Join(dir, "m.npz")}
			if c.confusion != "" {
				args = append(args, "--confusion", write(t, dir, "C.csv", c.confusion))
			}
			before := names(t, dir)
			fail(t, app.ExitFailure, c.fragment, args...)
			if after := names(t, dir); !slices.Equal(after, before) {
				t.Errorf("found %q, want %q", after, before)
			}
		})
	}
}

// cutGzip returns the first half of a packed data file.
func cutGzip(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	text := []byte("1,2,a\n3,4,b\n")
	for range 12 { // long enough that something comes before the cut
		text = append(text, text...)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()[:b.Len()/2]
}

func TestTrainMissingFiles(t *testing.T) {
	dir := t.TempDir()
	data, m := synthetic(t, dir), filepath.Join(dir, "m.npz")
	missing := filepath.Join(dir, "none.csv")
	before := names(t, dir)
	fail(t, app.ExitFailure, missing+": no such data file; check the path", "train", "--data", missing,
		"--model", m)
	fail(t, app.ExitFailure, missing+": cannot read the confusion matrix: no such file", "train",
		"--data", data, "--confusion", missing, "--model", m)
	fail(t, app.ExitFailure, "is a directory, wanted a data file", "train", "--data", dir, "--model",
		m)
	if after := names(t, dir); !slices.Equal(after, before) {
		t.Errorf("found %q, want %q", after, before)
	}
}

// A model that cannot be written is told before the data are read.
func TestTrainUnwritableModel(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "file", "")
	for path, fragment := range map[string]string{
		filepath.Join(dir, "none",
			"m.npz"): "cannot be written (nothing was changed): creating a file in folder",
		filepath.Join(file, "m.npz"): "cannot be written",
		dir:                          "found a folder",
		dir + "/":                    "found no file name",
	} {
		fail(t, app.ExitFailure, fragment, "train", "--data", filepath.Join(dir, "unread.csv"), "--model",
			path)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"file"}) {
		t.Errorf("found %q", left)
	}
}

// The same holds for the other commands that write.
func TestUnwritableCopies(t *testing.T) {
	dir := t.TempDir()
	nowhere := filepath.Join(dir, "none", "out.csv")
	const fragment = "cannot be written"
	fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv", "--pairwise",
		"0.1", "--out", nowhere)
	fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv", "--pairwise",
		"0.1", "--out", filepath.Join(dir, "o.csv"), "--write-confusion", nowhere)
	fail(t, app.ExitFailure, fragment, "predict", "--data", "unread.csv", "--model", "unread.npz",
		"--out", nowhere)
	fail(t, app.ExitFailure, fragment, "synth", "--examples", "3", "--out", nowhere)
	fail(t, app.ExitFailure, "found a folder", "synth", "--examples", "3", "--out", dir)
	if left := names(t, dir); left != nil {
		t.Errorf("found %q", left)
	}
}
