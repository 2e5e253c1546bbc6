package labels

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Probabilities returns the probabilities that a file has of the classes of each example of d, n×Q
// row-major. The file is one of these:
//
//   - a .npy array n×Q, float32 or float64 in C or Fortran order, as numpy.save writes it of
//     scikit-learn's cross_val_predict(method="predict_proba"), with columns in the order of the
//     classes;
//   - a CSV, plain or compressed by gzip, with a column for each class, named by the class, or all
//     by 0 to Q-1. Examples are in the order of the data, unless a column names them as for Right.
//     Other columns are passed over.
//
// Probabilities are 0 to 1 and sum to 1 for each example. Errors begin with the path, and the line
// if one is wrong.
func Probabilities(ctx context.Context, path string, d *dataset.Dataset) ([]float32, error) {
	n, q := d.N, len(d.Classes)
	if err := memory.Check(memory.Product(n, q, 4+8), "probabilities"); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := open(ctx, path, "the probabilities")
	if err != nil {
		return nil, err
	}
	defer s.close()
	p := make([]float32, n*q)
	if s.isArray() {
		return p, readProbabilityArray(s, d, p)
	}
	return p, readProbabilityTable(s, d, p)
}

func readProbabilityArray(s *source, d *dataset.Dataset, p []float32) error {
	a, err := npyfile.ReadHeader(s.text)
	if err != nil {
		return fmt.Errorf("%s: cannot read the probabilities: %w", s.path, err)
	}
	examples, q := dataset.ExamplesByRow(d), len(d.Classes)
	n := len(examples)
	decode := npyfile.Decoder(a.Type, func(v float64) float64 { return v })
	switch {
	case !slices.Equal(a.Shape, []int{n, q}):
		return fmt.Errorf("%s: probabilities: got an array of shape %v, want [%d %d], a row for each "+
			"row of the data and a column for each class of the data, in their order", s.path, a.Shape, n, q)
	case a.Type.Kind != 'f' || decode == nil:
		return fmt.Errorf("%s: probabilities: got elements of type %.20q, want float32 or float64",
			s.path, a.Descr)
	}
	lines, size, what := n, q, "rows"
	if a.Fortran {
		lines, size, what = q, n, "columns"
	}
	raw, all := make([]byte, size*a.Type.Size), make([]float64, n*q)
	for k := range lines {
		if _, err := io.ReadFull(s.text, raw); err != nil {
			return fmt.Errorf("%s: probabilities: got the end of the file after %d %s, want %d (is it "+
				"whole?)", s.path, k, what, lines)
		}
		decode(all[k*size:(k+1)*size], raw)
	}
	values := make([]float64, q)
	for row, i := range examples {
		if i < 0 {
			continue
		}
		for k := range values {
			if values[k] = all[row*q+k]; a.Fortran {
				values[k] = all[k*n+row]
			}
		}
		if err := putProbabilities(p[i*q:(i+1)*q], values, d.Classes); err != nil {
			return fmt.Errorf("%s: row %d (counted from 1): %w", s.path, row+1, err)
		}
	}
	return s.end()
}

func readProbabilityTable(s *source, d *dataset.Dataset, p []float32) error {
	n, q := d.N, len(d.Classes)
	t, err := s.table(strings.Join(d.Classes, ","))
	if err != nil {
		return err
	}
	var keys *keys
	columns := lists.UpTo[int](q)
	if t.plain = isProbabilities(t.header, q); !t.plain {
		keys = findKeys(t.header, d)
		if columns, err = probabilityColumns(t.header, d.Classes); err != nil {
			return t.at(err)
		}
	}
	examples := dataset.ExamplesByRow(d)
	rows, count, lines, values := 0, 0, make([]int, n), make([]float64, q)
	err = t.each(func(row []string) (err error) {
		i := -1
		switch {
		case keys != nil:
			i, err = keys.find(row)
		case rows == len(examples):
			err = fmt.Errorf("probabilities: got more than %d lines, want one for each row of the data",
				rows)
		default:
			i = examples[rows]
		}
		if rows++; err != nil || i < 0 {
			return err
		}
		if lines[i] > 0 {
			return fmt.Errorf("probabilities: got an example twice, also in line %d, want each once",
				lines[i])
		}
		count, lines[i] = count+1, t.line
		for k, at := range columns {
			text := strings.TrimSpace(row[at])
			if values[k], err = strconv.ParseFloat(text, 64); err != nil {
				return fmt.Errorf("probability of class %.60q: got %.40q, want a number from 0 to 1",
					d.Classes[k], text)
			}
		}
		return putProbabilities(p[i*q:(i+1)*q], values, d.Classes)
	})
	if err == nil && (count < n || keys == nil && rows < len(examples)) {
		err = fmt.Errorf("%s: probabilities: got %d lines, want one for each of the %d rows of the data",
			s.path, rows, len(examples))
	}
	return err
}

// probabilityColumns returns the column of each class.
func probabilityColumns(header, classes []string) ([]int, error) {
	words := make([]string, len(header))
	for at, field := range header {
		words[at] = trim(field)
	}
	find := func(names []string) (columns []int, missing []string) {
		for _, name := range names {
			at := slices.Index(words, name)
			if columns = append(columns, at); at < 0 {
				missing = append(missing, name)
			}
		}
		return columns, missing
	}
	columns, missing := find(classes)
	if len(missing) == len(classes) { // numbers in the order of the classes
		numbers := make([]string, len(classes))
		for k := range numbers {
			numbers[k] = strconv.Itoa(k)
		}
		if found, none := find(numbers); none == nil {
			return found, nil
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("probabilities: got the header %.80q, want a column for each class of "+
			"the data, without %s", strings.Join(header, ","), quote.List(missing))
	}
	return columns, nil
}

// isProbabilities says whether a header is a row of q probabilities.
func isProbabilities(header []string, q int) bool {
	fraction := false
	for _, field := range header {
		v, err := strconv.ParseFloat(trim(field), 64)
		if err != nil {
			return false
		}
		fraction = fraction || v != math.Trunc(v)
	}
	return fraction && len(header) == q
}

// putProbabilities writes the probabilities of an example to row.
func putProbabilities(row []float32, values []float64, classes []string) error {
	sum := 0.0
	for k, v := range values {
		if !(v >= 0 && v <= 1+1e-6) {
			return fmt.Errorf("probability of class %.60q: got %v, want 0 to 1", classes[k], v)
		}
		sum += v
	}
	const slack = 1e-3 // what printing with few digits leaves
	if math.Abs(sum-1) > slack*math.Sqrt(float64(len(values))) {
		return fmt.Errorf("probabilities of an example: got the sum %.6g, want 1", sum)
	}
	for k, v := range values {
		row[k] = float32(min(v/max(sum, 1), 1))
	}
	return nil
}
