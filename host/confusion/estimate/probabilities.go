package estimate

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// ReadProbabilities returns the probabilities that a file has of the classes of each example of the
// data, n×Q row-major. The options are as for ReadClean. The file is one of these:
//
//   - a .npy array n×Q, float32 or float64 in C order, as numpy.save writes it of scikit-learn's
//     cross_val_predict(method="predict_proba"), with columns in the order of the classes;
//   - a CSV, plain or compressed by gzip, with a column for each class, named by the class, or all
//     by 0 to Q-1. Examples are in the order of the data, unless a column names them as for
//     ReadClean. Other columns are passed over.
//
// Probabilities are 0 to 1 and sum to 1 for each example. Errors begin with the path, and
// where a line is wrong with its number.
func ReadProbabilities(ctx context.Context, path string, o CleanOptions) ([]float32, error) {
	n, q := len(o.Y), len(o.Classes)
	if err := memory.Check(memory.Product(n, q, 4), "probabilities"); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, done, err := labelfile.Open(ctx, path, "the probabilities")
	if err != nil {
		return nil, err
	}
	defer done()
	t := &probabilityTable{o: o, q: q, p: make([]float32, n*q), lines: make([]int, n)}
	if magic, _ := text.Peek(len(npyfile.Magic)); string(magic) == npyfile.Magic {
		return t.p, t.readArray(path, text)
	}
	err = labelfile.Each(path, "the probabilities", strings.Join(o.Classes, ","), text, t.place, t.add)
	switch {
	case err != nil:
		return nil, err
	case t.count < n:
		return nil, fmt.Errorf("%s: probabilities: got %d lines, want one for each of the %d examples of"+
			" the data", path, t.count, n)
	}
	return t.p, nil
}

// probabilityTable are probabilities that are being read.
type probabilityTable struct {
	o       CleanOptions
	q       int
	keys    *labelfile.Keys // nil if lines are examples in order
	columns []int           // of each class
	p       []float32
	count   int   // of lines
	lines   []int // of each example; 0 as long as it has none
	buffer  []float64
}

// readArray reads a .npy array.
func (t *probabilityTable) readArray(path string, r io.Reader) error {
	a, err := npyfile.ReadHeader(r)
	if err != nil {
		return fmt.Errorf("%s: cannot read the probabilities: %w", path, err)
	}
	n, decode := len(t.o.Y), npyfile.Decoder(a.Type, func(v float64) float64 { return v })
	switch {
	case len(a.Shape) != 2 || a.Shape[0] != n || a.Shape[1] != t.q:
		return fmt.Errorf("%s: probabilities: got an array of shape %v, want [%d %d], a row for each "+
			"example and a column for each class of the data, in their order", path, a.Shape, n, t.q)
	case a.Fortran || a.Type.Kind != 'f' || decode == nil:
		return fmt.Errorf("%s: probabilities: got elements of type %.20q or in Fortran order, want "+
			"float32 or float64 in C order (convert with numpy.ascontiguousarray)", path, a.Descr)
	}
	raw := make([]byte, t.q*a.Type.Size)
	t.buffer = make([]float64, t.q)
	for i := range n {
		if _, err := io.ReadFull(r, raw); err != nil {
			return fmt.Errorf("%s: probabilities: got the end of the file after %d rows, want %d (is it "+
				"whole?)", path, i, n)
		}
		decode(t.buffer, raw)
		if err := t.put(i); err != nil {
			return fmt.Errorf("%s: row %d (counted from 1): %w", path, i+1, err)
		}
	}
	return nil
}

// place finds the columns of the classes by the header.
func (t *probabilityTable) place(header []string) error {
	t.buffer = make([]float64, t.q)
	if t.numbers(header) { // no header
		t.columns = lists.UpTo[int](t.q)
		return t.add(header, 1)
	}
	words := make([]string, len(header))
	for at, field := range header {
		words[at] = strings.TrimSpace(strings.TrimPrefix(field, "\ufeff"))
	}
	t.keys = t.o.keys(header)
	var missing []string
	for _, class := range t.o.Classes {
		at := slices.Index(words, class)
		if t.columns = append(t.columns, at); at < 0 {
			missing = append(missing, class)
		}
	}
	if len(missing) == t.q { // numbers in the order of the classes
		missing = nil
		for k := range t.q {
			if t.columns[k] = slices.Index(words, strconv.Itoa(k)); t.columns[k] < 0 {
				missing = t.o.Classes
			}
		}
	}
	if missing != nil {
		return fmt.Errorf("probabilities: got the header %.80q, want a column for each class of the "+
			"data, without %s", strings.Join(header, ","), labelfile.Quoted(missing))
	}
	return nil
}

// numbers says whether a header is a row of probabilities.
func (t *probabilityTable) numbers(header []string) bool {
	fraction := false
	for _, field := range header {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return false
		}
		fraction = fraction || v != math.Trunc(v)
	}
	return fraction && len(header) == t.q
}

func (t *probabilityTable) add(row []string, line int) (err error) {
	if t.count == len(t.lines) {
		return fmt.Errorf("probabilities: got more than %d lines, want one for each example of the data",
			len(t.lines))
	}
	i := t.count
	if t.keys != nil {
		if i, err = t.keys.Find(row[t.keys.Column]); err != nil {
			return err
		}
		if t.lines[i] > 0 {
			return fmt.Errorf("probabilities: got an example twice, also in line %d, want each once",
				t.lines[i])
		}
	}
	t.count, t.lines[i] = t.count+1, line
	for k, at := range t.columns {
		text := strings.TrimSpace(row[at])
		if t.buffer[k], err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("probability of class %.60q: got %.40q, want a number from 0 to 1",
				t.o.Classes[k], text)
		}
	}
	return t.put(i)
}

// put takes the probabilities of an example.
func (t *probabilityTable) put(i int) error {
	sum := 0.0
	for k, v := range t.buffer {
		if !(v >= 0 && v <= 1+confidentSlack) {
			return fmt.Errorf("probability of class %.60q: got %v, want 0 to 1", t.o.Classes[k], v)
		}
		sum += v
	}
	const slack = 1e-3 // what printing with few digits leaves
	if math.Abs(sum-1) > slack*math.Sqrt(float64(t.q)) {
		return fmt.Errorf("probabilities of an example: got the sum %.6g, want 1", sum)
	}
	for k, v := range t.buffer {
		t.p[i*t.q+k] = float32(min(v/max(sum, 1), 1))
	}
	return nil
}
