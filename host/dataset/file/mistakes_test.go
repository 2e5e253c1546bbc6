package file

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// manyBad returns, for every text format, a file whose lines 3, 5 and 6 (of
// examples) are bad in different ways.
func manyBad() map[string]struct {
	text   string
	o      Options
	errs   []string // at the beginning of each error
	places []int
} {
	type file = struct {
		text   string
		o      Options
		errs   []string
		places []int
	}
	return map[string]file{
		"csv": {"x,y,class\n1,2,a\n3,q,b\n5,6,b\n\n7,8\n1,\"2\"x,a\n9,1e99,zz\n9,1,a\n", Options{},
			[]string{"f:3:3: column 2 (y): found \"q\"", "f:6:4: found 2 fields",
				"f:7:6: column 2: found \"x,a\"",
				"f:8:3: column 2 (y): found \"1e99\""}, []int{3, 6, 7, 8}},
		"libsvm": {"a 1:1 2:2\nb 2:1 1:1\n# c\nb 1:5 2:6\nc 1:nan\na 2:7 900000:x\nb 1:1\n", Options{},
			[]string{"f:2:7: found feature index 1 after 2", "f:5:5: feature 1: found \"nan\"",
				"f:6:14: feature 900000: found \"x\""}, []int{2, 5, 6}},
	}
}

func TestSkipBad(t *testing.T) {
	for name, c := range manyBad() {
		t.Run(name, func(t *testing.T) {
			c.o.Format = name
			_, err := readText("f", c.text, c.o)
			if err == nil || !strings.HasPrefix(err.Error(), c.errs[0]) || strings.Contains(err.Error(),
				"\n") {
				t.Errorf("the first alone: %v", err)
			}
			o := c.o
			o.SkipBad = math.MaxInt
			d, err := readText("f", c.text, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(d.SkippedAt, c.places) || len(d.SkippedErrs) != len(c.errs) {
				t.Errorf("skipped %v, wanted %v", d.SkippedAt, c.places)
			}
			if err := d.CheckAll(t.Context()); err != nil {
				t.Error(err)
			}
			// What is left is what a file without the bad lines says.
			lines := strings.SplitAfter(c.text, "\n")
			for _, at := range c.places {
				lines[at-1] = ""
			}
			want, err := readText("f", strings.Join(lines, ""), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if d.SHA256 != want.SHA256 || d.D != want.D || !reflect.DeepEqual(d.Classes, want.Classes) {
				t.Errorf("read %d×%d of %q, wanted %d×%d of %q", d.N, d.D, d.Classes, want.N, want.D,
					want.Classes)
			}
		})
	}
}

// A fault of the file, not of an example, ends reading also if bad ones are skipped.
func TestSkipBadKeepsFileErrors(t *testing.T) {
	cut := pack(t, strings.Repeat("1,2,a\n3,4,b\n5,x,a\n", 5000))
	cut = cut[:len(cut)-30]
	if _, err := readText("f", cut, Options{SkipBad: math.MaxInt}); !facts.Told(err, "cut short") {
		t.Errorf("SkipBad: %v", err)
	}
	_, err := readText("f", "1,\"2\"3,a\n", Options{SkipBad: math.MaxInt})
	if !facts.Told(err, "f:1:6 column 2") {
		t.Errorf("a broken first record: %v", err)
	}
	_, err = readText("f", "a 1:x\nb 1:y\n", Options{SkipBad: math.MaxInt, Format: "libsvm"})
	const want = "f 2 examples f:1:5 feature 1"
	if !facts.Told(err, want) {
		t.Errorf("all bad: %v", err)
	}
	_, err = readText("f", "1,a\n2,a\nx,b\n", Options{SkipBad: math.MaxInt})
	if !facts.Told(err, "only one class") {
		t.Errorf("one class left: %v", err)
	}
}

func TestSkippedKeepsFewErrors(t *testing.T) {
	text := "1,a\n2,b\n" + strings.Repeat("x,a\n", 500)
	d, err := readText("f", text, Options{SkipBad: math.MaxInt})
	if err != nil || len(d.SkippedAt) != 500 || len(d.SkippedErrs) != 10 {
		t.Errorf("%d skipped, %d errors, %v", len(d.SkippedAt), len(d.SkippedErrs), err)
	}
}

// Labels of a second file stay with their examples when either is bad.
func TestSkipBadWithLabelsFile(t *testing.T) {
	labels := filepath.Join(t.TempDir(), "labels")
	write := func(text string) {
		if err := os.WriteFile(labels, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("human,clean\na,1\nb,2\n,3\nc,4\nb,5\n")
	o := Options{Labels: labels, Table: Table{LabelColumn: "human"}, SkipBad: math.MaxInt}
	d, err := readText("f", "1\nx\n3\n4\n5\n", o)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(d.X) != "[1 3 4 5]" || fmt.Sprint(dataset.WithoutLabel(d)) != "[1]" ||
		dataset.LabelOf(d, 2) != 2 || dataset.LabelOf(d, 3) != 1 || fmt.Sprint(d.Classes) != "[a b c]" ||
		fmt.Sprint(d.SkippedAt) != "[2]" {
		t.Errorf("read %v, labels %v of %q, skipped %v", d.X, d.Y, d.Classes, d.SkippedAt)
	}
	write("human,clean\na,1\nb,2\n\xff,3\nc,4\nb,5\n")
	o.SkipBad = 0
	if _, err := readText("f", "1\n2\n3\n4\n5\n", o); !facts.Told(err, labels+":4 skip-bad=1") {
		t.Errorf("not skipped: %v", err)
	}
	o.SkipBad = 1
	if d, err := readText("f", "1\n2\n3\n4\n5\n", o); err != nil || d.SourceRow(2) != 3 {
		t.Errorf("one is skipped: %v", err)
	}
	if _, err := readText("f", "1\nx\n3\n4\n5\n", o); !facts.Told(err, labels+":4 2 rows skip-bad=1") {
		t.Errorf("one of two is skipped: %v", err)
	}
	write("a\nb\n")
	if _, err := readText("f", "1\n2\n3\n", Options{Labels: labels}); !facts.Told(err, "2 labels") {
		t.Errorf("too few: %v", err)
	}
}

func TestLabelsFromText(t *testing.T) {
	labels := filepath.Join(t.TempDir(), "labels")
	for _, c := range []struct {
		what, text string
		o          Options
		want       string // classes of three examples, or an error
	}{
		{"one per line", "b\na\nb\n", Options{}, "b a b"},
		{"CRLF, BOM, blank lines", "\ufeffb\r\n\r\na\r\nb", Options{}, "b a b"},
		{"integers", "10\n9\n-1\n", Options{}, "10 9 -1"},
		{"a word over integers", "label\n10\n9\n10\n", Options{}, "10 9 10"},
		{"a word over integers, known classes", "label\n10\n9\n10\n",
			Options{Classes: []string{"10", "9"}}, "10 9 10"},
		{"a word among integers is no header", "1\nx\n2\n", Options{}, "1 x 2"},
		{"Header is about the data", "b\na\nb\n", Options{Table: Table{Header: "no"}}, "b a b"},
		{"header named", "label\nb\na\nb\n", Options{Table: Table{LabelColumn: "label"}}, "b a b"},
		{"header not said", "label\nb\na\nb\n", Options{}, "4 labels 3 f"},
		{"column named", "p,q\n1,b\n2,a\n3,b\n", Options{Table: Table{LabelColumn: "q"}}, "b a b"},
		{"column by position", "1,b\n2,a\n3,b\n", Options{Table: Table{LabelColumn: "2"}}, "b a b"},
		{"last", "1,b\n2,a\n3,b\n", Options{Table: Table{LabelColumn: "last"}}, "b a b"},
		{"no such column", "p,q\n1,b\n", Options{Table: Table{LabelColumn: "r"}}, `labels:1 "r"`},
		{"which column", "p,q\n1,b\n", Options{}, `labels:1 2 columns "p" "q"`},
		{"ragged", "1,b\n2\n3,b\n", Options{Table: Table{LabelColumn: "2"}},
			"labels:2:2 1 fields 2 line 1"},
		{"empty", "", Options{}, "labels label"},
		{"quote", "b\n\"a\nb\n", Options{}, "labels:2:1 column 1"},
		{"one class", "a\na\na\n", Options{}, `f "a" 3 examples`},
	} {
		if err := os.WriteFile(labels, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.o.Labels = labels
		d, err := readText("f", "1\n2\n3\n", c.o)
		if err != nil {
			if !facts.Told(err, c.want) {
				t.Errorf("%s: %v\nwant %s", c.what, err, c.want)
			}
			continue
		}
		var got []string
		for _, y := range d.Y {
			got = append(got, d.Classes[y])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, wanted %q", c.what, got, c.want)
		}
	}
	if _, err := readText("f", "1\n", Options{Labels: labels + "x"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// The limits of 32-bit counts, made small.
func TestRowAndColumnLimits(t *testing.T) {
	l := defaultLimits
	l.rows, l.columns = 3, 4
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"f.csv", "1,a\n2,b\n3,a\n", Options{}, ""},
		{"f.csv", "1,a\n2,b\n3,a\n4,b\n", Options{}, "f.csv:4 3 examples"},
		{"f.csv", "1,2,3,4,a\n", Options{}, "f.csv:1 5 columns 4"},
		{"f.svm", "a 4:1\nb 1:1\na\n", Options{}, ""},
		{"f.svm", "a 4:1\nb 1:1\na\nb\n", Options{}, "f.svm:4 3 examples"},
		{"f.svm", "a 4:1\nb 5:1\n", Options{}, `f.svm:2:3 "5:1" index:value 1 4`},
		{"f.svm", "a 3:1\nb 4:1\n", Options{ZeroBased: true}, `f.svm:2:3 "4:1" index:value 0 3`},
		{"f.npy", "\x93NUMPY\x01\x00\x3d\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4, 1), " +
			"}  \nabcd", Options{NoLabels: true}, "f.npy 4×1 3 examples 4 features"},
		{"f", "\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x05abcde", Options{NoLabels: true},
			"f 1×5 3 examples 4 features"},
	} {
		_, err := readLimited(c.name, c.text, c.o, l)
		if c.want == "" && err != nil || c.want != "" && !facts.Told(err, c.want) {
			t.Errorf("%s: %v, wanted %q", c.name, err, c.want)
		}
	}
}

func TestWholeIsBounded(t *testing.T) {
	l := defaultLimits
	l.whole = 100
	raw, err := os.ReadFile(golden("arrays.npz"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = readLimited("f.npz", string(raw), Options{}, l)
	want := "f.npz 100 bytes"
	if !facts.Told(err, want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
