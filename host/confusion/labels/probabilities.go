package labels

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Probabilities returns the probabilities that a file has of the classes of each example of d, n×Q
// row-major. The file is one of these:
//
//   - a .npy array n×Q of any numbers, as numpy.save writes it of
//     scikit-learn's cross_val_predict(method="predict_proba"), with columns in the order of the
//     classes;
//   - a table (see file.Rows) with a column for each class, named by the class, or all
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
	rows, err := file.OpenRows(ctx, path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	p := make([]float32, n*q)
	array, err := rows.Array()
	if err != nil {
		return nil, err
	}
	if array == nil {
		return p, readProbabilityTable(rows, d, p)
	}
	defer array.Close() // only read
	return p, readProbabilityArray(path, array, d, p)
}

func readProbabilityArray(path string, array, d *dataset.Dataset, p []float32) error {
	examples, q := dataset.ExamplesByRow(d), len(d.Classes)
	if array.N != len(examples) || array.D != q {
		return fmt.Errorf("%s: probabilities: got an array of shape [%d %d], want [%d %d], a row for "+
			"each row of the data and a column for each class of the data, in their order", path, array.N,
			array.D, len(examples), q)
	}
	for row, i := range examples {
		if i < 0 {
			continue
		}
		if err := putProbabilities(p[i*q:(i+1)*q], array.Row(row), d.Classes); err != nil {
			return fmt.Errorf("%s: row %d (counted from 1): %w", path, row+1, err)
		}
	}
	return nil
}

func readProbabilityTable(from *file.Rows, d *dataset.Dataset, p []float32) error {
	n, q := d.N, len(d.Classes)
	t, err := tableOf(from, strings.Join(d.Classes, ","))
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
	rows, count, lines, values := 0, 0, make([]int, n), make([]float32, q)
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
		count, lines[i] = count+1, t.Line()
		for k, at := range columns {
			text := strings.TrimSpace(row[at])
			v, err := strconv.ParseFloat(text, 32)
			if values[k] = float32(v); err != nil {
				return fmt.Errorf("probability of class %.60q: got %.40q, want a number from 0 to 1",
					d.Classes[k], text)
			}
		}
		return putProbabilities(p[i*q:(i+1)*q], values, d.Classes)
	})
	if err == nil && (count < n || keys == nil && rows < len(examples)) {
		err = fmt.Errorf("%s: probabilities: got %d lines, want one for each of the %d rows of the data",
			t.Path, rows, len(examples))
	}
	return err
}

// probabilityColumns returns the column of each class.
func probabilityColumns(header, classes []string) ([]int, error) {
	words := make([]string, len(header))
	for at, field := range header {
		words[at] = strings.TrimSpace(field)
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
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return false
		}
		fraction = fraction || v != math.Trunc(v)
	}
	return fraction && len(header) == q
}

// putProbabilities writes the probabilities of an example to row.
func putProbabilities(row, values []float32, classes []string) error {
	const rounding = 1e-6
	sum := 0.0
	for k, v := range values {
		if !(v >= 0 && v <= 1+rounding) {
			return fmt.Errorf("probability of class %.60q: got %v, want 0 to 1", classes[k], v)
		}
		sum += float64(v)
	}
	const slack = 1e-3 // what printing with few digits leaves
	if math.Abs(sum-1) > slack*math.Sqrt(float64(len(values))) {
		return fmt.Errorf("probabilities of an example: got the sum %.6g, want 1", sum)
	}
	if sum <= 1+rounding {
		sum = 1
	}
	for k, v := range values {
		row[k] = float32(min(float64(v)/sum, 1))
	}
	return nil
}
