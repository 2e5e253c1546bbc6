package train_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
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
		{"empty file", "d.csv", "", "", "d.csv example"},
		{"blank lines", "d.csv", "\n\n", "", "d.csv example"},
		{"only a header", "d.csv", "x,y,label\n", "", "d.csv line 1"},
		{"one class", "d.csv", "1,2,a\n3,4,a\n", "", `d.csv "a" 2 examples`},
		{"label outside C", "d.csv", good, "noisy\\true,a,b\na,1,0\nb,0,1\n", `"c"`},
		{"class of C unknown", "d.csv", good, "noisy\\true,a,b,d\na,1,0,0\nb,0,1,0\nd,0,0,1\n",
			`C.csv "d"`},
		{"wrong Q", "d.csv", good, "1,0\n0,1\n", "C.csv 2×2 numbers"},
		{"rows missing in C", "d.csv", good, "1,0,0\n0,1,0\n", "C.csv 2×3 numbers"},
		{"C not square", "d.csv", good, "1,0,0\n0,1,0\n0,0\n", "C.csv:3 2 numbers 3"},
		{"C out of range", "d.csv", good, "1,0,0\n0,2,0\n0,0,1\n", "C.csv counts confusion-axes=true-rows"},
		{"C sums wrong", "d.csv", good, "1,0,0\n0,0.5,0\n0,0,1\n", `C.csv "b" 0.5`},
		{"C transposed", "d.csv", good, "1,0,0\n0.5,0.5,0\n0,0,1\n", "confusion-axes=true-rows"},
		{"C singular", "d.csv", good, "1,0,0\n0,0.5,0.5\n0,0.5,0.5\n", `C.csv +Inf 1e+06 "b" "c"`},
		{"C empty", "d.csv", good, "\n", "C.csv numbers table"},
		{"ragged rows", "d.csv", "1,2,a\n3,b\n", "", "d.csv:2:4 2 fields 3"},
		{"NaN", "d.csv", "1,2,a\n3,nan,b\n", "", `d.csv:2:3 column 2 "nan" finite`},
		{"Inf", "d.csv", "1,2,a\n3,-Inf,b\n", "", `d.csv:2:3 column 2 "-Inf" finite`},
		{"beyond float32", "d.csv", "1,2,a\n3,1e39,b\n", "", `d.csv:2:3 column 2 "1e39" float32`},
		{"trailing junk", "d.csv", "1,2,a\n3,4x,b\n", "", `d.csv:2:3 column 2 "4x" decimal`},
		{"missing number", "d.csv", "1,2,a\n3,,b\n", "", "d.csv:2:3 column 2 empty"},
		{"missing label", "d.csv", "1,2,a\n3,4,\n", "", `d.csv "a" 2 examples`},
		{"LIBSVM NaN", "d.svm", "a 1:1\nb 1:nan\n", "", `d.svm:2:5 feature 1 "nan"`},
		{"LIBSVM trailing junk", "d.svm", "a 1:1\nb 1:2,5\n", "", `d.svm:2:5 feature 1 "2,5"`},
		{"LIBSVM index 0", "d.svm", "a 1:1\nb 0:1\n", "", "d.svm:2:3 index 0 1"},
		{"LIBSVM index decreasing", "d.svm", "a 1:1 2:1\nb 2:1 1:1\n", "",
			"d.svm:2:7 index 1 2 increasing"},
		{"LIBSVM no features", "d.svm", "a\nb\n", "", "d.svm index:value 2 examples"},
		{"gzip cut short", "d.csv.gz", cutGzip(t), "", "cut"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data := clitest.Write(t, dir, c.file, c.data)
			args := []string{"train", "--data", data, "--model", filepath.Join(dir, "m.npz"), "--missing",
				"error"}
			if c.confusion != "" {
				args = append(args, "--confusion", clitest.Write(t, dir, "C.csv", c.confusion))
			}
			before := clitest.Names(t, dir)
			clitest.Fail(t, app.ExitFailure, c.fragment, args...)
			if after := clitest.Names(t, dir); !slices.Equal(after, before) {
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
	data, m := clitest.Synthetic(t, dir), filepath.Join(dir, "m.npz")
	missing := filepath.Join(dir, "none.csv")
	before := clitest.Names(t, dir)
	clitest.Fail(t, app.ExitFailure, missing+" data", "train", "--data", missing, "--model", m)
	clitest.Fail(t, app.ExitFailure, missing+" read", "train", "--data", data, "--confusion", missing,
		"--model", m)
	clitest.Fail(t, app.ExitFailure, "directory", "train", "--data", dir, "--model", m)
	if after := clitest.Names(t, dir); !slices.Equal(after, before) {
		t.Errorf("found %q, want %q", after, before)
	}
}

// A model that cannot be written is told before the data are read.
func TestTrainUnwritableModel(t *testing.T) {
	dir := t.TempDir()
	file := clitest.Write(t, dir, "file", "")
	for path, fragment := range map[string]string{
		filepath.Join(dir, "none", "m.npz"): "folder",
		filepath.Join(file, "m.npz"):        "written",
		dir:                                 "folder",
		dir + "/":                           "file",
	} {
		clitest.Fail(t, app.ExitFailure, fragment, "train", "--data", filepath.Join(dir, "unread.csv"),
			"--model",
			path)
	}
	if left := clitest.Names(t, dir); !slices.Equal(left, []string{"file"}) {
		t.Errorf("found %q", left)
	}
}

// The same holds for the other commands that write.
func TestUnwritableCopies(t *testing.T) {
	dir := t.TempDir()
	nowhere := filepath.Join(dir, "none", "out.csv")
	const fragment = "written"
	clitest.Fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv",
		"--pairwise",
		"0.1", "--out", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv",
		"--pairwise",
		"0.1", "--out", filepath.Join(dir, "o.csv"), "--write-confusion", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "predict", "--data", "unread.csv", "--model",
		"unread.npz",
		"--out", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "synth", "--examples", "3", "--out", nowhere)
	clitest.Fail(t, app.ExitFailure, "folder", "synth", "--examples", "3", "--out", dir)
	if left := clitest.Names(t, dir); left != nil {
		t.Errorf("found %q", left)
	}
}
