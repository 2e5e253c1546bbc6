package estimate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// Clean are examples with a known true class.
type Clean struct {
	Classes []string
	Noisy   []int32
	Right   []int32
	Item    []int // the index of each example in the data, 0 for the first; nil of a table of pairs
}

// CleanOptions say what a table of true classes is to be read for.
type CleanOptions struct {
	// Classes are those of the data in the order of their indices; nil without data: then they
	// are the names of the table, in the order in which they come.
	Classes []string
	Y       []int32 // the noisy labels of the data; nil without data
	// IDs are the ids of the data's examples and IDColumn is the name of their column; nil for none
	IDs      []string
	IDColumn string
}

// ReadClean reads a CSV with an example to each line, plain or compressed by gzip. An example of
// the data is named by its id, in the column id or that of the data's ids, or by the number of its
// row, 1 for the first, in the column example (or item, task, row, id). Its true class is in the
// column label (or class, true, clean, right ...). Lines without a true class are passed over. A
// column of noisy labels (noisy, given, observed, predicted ...) must agree with the data. So
// issues.csv with a column of right labels is such a table.
//
// Without a column of examples it has pairs: noisy labels and true classes. Other columns do not
// count.
//
// Errors begin with the path, and where a line is wrong with its number. Reading tells its
// progress through ctx, and ends with it.
func ReadClean(ctx context.Context, path string, o CleanOptions) (*Clean, error) {
	t := cleanTable{o: o, names: labelfile.NewNames(o.Classes), seen: map[int]int{},
		items: labelfile.Items{N: len(o.Y), IDs: o.IDs, Column: o.IDColumn}}
	err := labelfile.Each(ctx, path, "the true classes", "example,label or noisy,true", t.place, t.add)
	if err != nil {
		return nil, err
	}
	if len(t.Right) == 0 {
		return nil, fmt.Errorf("%s: found a header and no line with a true class, wanted an example in "+
			"each", path)
	}
	t.Classes = t.names.List
	if err := labelfile.CheckClasses(t.Classes); err != nil {
		return nil, fmt.Errorf("%s: labels of a %w", path, err)
	}
	return &t.Clean, nil
}

// cleanTable is a table that is being read.
type cleanTable struct {
	Clean
	o      CleanOptions
	names  *labelfile.Names
	seen   map[int]int // the line of each example
	items  labelfile.Items
	item   int // the column of examples; -1 for pairs
	noisy  int // that of noisy labels; -1 for none
	second int // that of true classes
}

// place finds the columns by the header.
func (t *cleanTable) place(header []string) error {
	right, label := -1, -1
	t.item, t.noisy = -1, -1
	if t.o.Y != nil {
		t.item = t.items.Place(header)
	}
	for k, field := range header {
		name := labelfile.ColumnName(field)
		isTrue, isNoisy := labelfile.Axis(name)
		switch {
		case k == t.item:
		case isTrue:
			if right >= 0 {
				return fmt.Errorf("the header has two columns of true classes, %q and %q", header[right], field)
			}
			right = k
		case isNoisy:
			if t.noisy < 0 {
				t.noisy = k
			}
		case name == "label" || name == "class" || name == "y":
			label = k
		}
	}
	switch {
	case t.item >= 0:
		if right < 0 {
			right = label
		}
		if t.noisy >= 0 && strings.Contains(labelfile.ColumnName(header[t.noisy]), "pred") {
			t.noisy = -1 // of a model
		}
	case t.noisy < 0:
		t.noisy = label
	}
	t.second = right
	if right < 0 || t.item < 0 && t.noisy < 0 {
		what := "columns of noisy and true classes, such as noisy,true"
		if t.o.Y != nil {
			what = "columns example (rows from 1, or id) and label, or " + what
		}
		return fmt.Errorf("the header is %.80q, wanted %s", strings.Join(header, ","), what)
	}
	return nil
}

func (t *cleanTable) add(row []string, line int) error {
	if t.item >= 0 && strings.TrimSpace(row[t.second]) == "" {
		return nil // not checked
	}
	var given int32
	var err error
	if t.noisy >= 0 && (t.item < 0 || row[t.noisy] != "") {
		if given, err = t.names.Index(row[t.noisy]); err != nil {
			return err
		}
	}
	if t.item >= 0 {
		i, err := t.items.Find(row[t.item])
		if err != nil {
			return err
		}
		noisy := t.o.Y[i]
		if t.noisy >= 0 && row[t.noisy] != "" && given != noisy {
			return fmt.Errorf("item %s has label %.40q here and %.40q in the data, wanted one: is it "+
				"another table, or are rows counted from 0?", t.items.Name(i), row[t.noisy],
				t.names.List[noisy])
		}
		if before, ok := t.seen[i]; ok {
			return fmt.Errorf("item %s is here and in line %d, wanted once", t.items.Name(i), before)
		}
		t.seen[i] = line
		t.Item, given = append(t.Item, i), noisy
	}
	k, err := t.names.Index(row[t.second])
	t.Noisy, t.Right = append(t.Noisy, given), append(t.Right, k)
	return err
}

// Arrange brings the classes into another order, of the same names.
func (c *Clean) Arrange(classes []string) error {
	if err := labelfile.Arrange(c.Classes, classes, c.Noisy, c.Right); err != nil {
		return fmt.Errorf("the table of true classes %w", err)
	}
	c.Classes = slices.Clone(classes)
	return nil
}

// probabilityBlock is how many probabilities of a file are in memory at a time.
const probabilityBlock = 1 << 20

// ProbabilityFile returns the rows of a .npy file of n×q probabilities, float32 or float64 in C
// order, as numpy.save writes those of scikit-learn's cross_val_predict(method="predict_proba").
// The file is read in blocks, each time anew. Errors begin with the path; this one is about the
// header.
func ProbabilityFile(path string, n, q int) (blocks, error) {
	f, _, err := openProbabilities(path, n, q)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("%s: cannot read the probabilities: %w", path, fileerr.Cause(err))
	}
	return func(use func([]float32) error) error { return readProbabilities(path, n, q, use) }, nil
}

// openProbabilities opens the file and reads its header.
func openProbabilities(path string, n, q int) (*os.File, npyfile.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, npyfile.Array{}, fmt.Errorf("%s: cannot read the probabilities: %w", path,
			fileerr.Cause(err))
	}
	a, err := npyfile.ReadHeader(f)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: cannot read the probabilities, wanted a .npy file: %w", path, err)
	case len(a.Shape) != 2 || a.Shape[0] != n || a.Shape[1] != q:
		err = fmt.Errorf("%s: found an array of shape %v, wanted [%d %d], a row for each example and a "+
			"column for each class of the data, in their order", path, a.Shape, n, q)
	case a.Fortran || a.Type.Kind != 'f' || npyfile.Decoder(a.Type, toFloat32) == nil:
		err = fmt.Errorf("%s: found elements of type %.20q or in Fortran order, wanted float32 or "+
			"float64 in C order: convert with numpy.ascontiguousarray", path, a.Descr)
	}
	if err != nil {
		f.Close() // of what was only read: nothing to lose
		return nil, a, err
	}
	return f, a, nil
}

func toFloat32(v float64) float32 { return float32(v) }

func readProbabilities(path string, n, q int, use func([]float32) error) error {
	f, a, err := openProbabilities(path, n, q)
	if err != nil {
		return err
	}
	defer f.Close() // nothing to lose: it was only read
	if _, err := f.Seek(int64(a.Size), io.SeekStart); err != nil {
		return fmt.Errorf("%s: cannot read the probabilities: %w", path, fileerr.Cause(err))
	}
	decode := npyfile.Decoder(a.Type, toFloat32)
	r := bufio.NewReaderSize(f, 1<<20)
	rows := max(1, probabilityBlock/q)
	p, raw := make([]float32, min(rows, n)*q), make([]byte, min(rows, n)*q*a.Type.Size)
	for first := 0; first < n; first += rows {
		size := min(rows, n-first) * q
		if _, err := io.ReadFull(r, raw[:size*a.Type.Size]); err != nil {
			return fmt.Errorf("%s: found the end of the file after less than %d rows, wanted %d; is it "+
				"whole?", path, n, n)
		}
		decode(p[:size], raw[:size*a.Type.Size])
		if err := use(p[:size]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
