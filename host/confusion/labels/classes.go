package labels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Right returns the true class of each example of d that a CSV names, -1 for others. The table
// (see file.Rows) names the example in a column whose header says how (row, example, index,
// id, item; see docs/data.md), and has the true class in the column label (or class, true, clean,
// right …). Noisy labels, in a column such as noisy or given, must agree with the data. Rows
// without a true class are passed over, so that a list of label issues is such a table, once
// checked.
//
// Errors begin with the path, and the line if one is wrong.
func Right(ctx context.Context, path string, d *dataset.Dataset) ([]int32, error) {
	t, err := openClasses(ctx, path, "row,label")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	keys := findKeys(t.header, d)
	noisyColumn, rightColumn, err := classColumns(t.header, keys)
	if err == nil && (keys == nil || rightColumn < 0) {
		err = fmt.Errorf("the header is %.80q, wanted columns row (or index, id; or the data's own "+
			"column, as %s says) and label", strings.Join(t.header, ","), quote.Option("id-column", "NAME"))
	}
	if err != nil {
		return nil, t.at(err)
	}
	classes := newNames(d.Classes)
	right, lines := slices.Repeat([]int32{-1}, d.N), map[int]int{}
	err = t.each(func(row []string) error {
		if strings.TrimSpace(row[rightColumn]) == "" {
			return nil // not checked
		}
		i, err := keys.find(row)
		if err != nil || i < 0 {
			return err
		}
		if before, ok := lines[i]; ok {
			return fmt.Errorf("%s %.40q is here and in line %d, wanted once", keys.name,
				row[keys.column], before)
		}
		if noisyColumn >= 0 && strings.TrimSpace(row[noisyColumn]) != "" {
			if noisy, err := classes.find(row[noisyColumn]); err != nil {
				return err
			} else if given := dataset.LabelOf(d, i); noisy != given {
				label := ""
				if given >= 0 {
					label = d.Classes[given]
				}
				return fmt.Errorf("found the noisy label %.60q of an example that has %.60q in the data, "+
					"wanted the same: is this the table of these data?", d.Classes[noisy], label)
			}
		}
		lines[i] = t.Line()
		right[i], err = classes.find(row[rightColumn])
		return err
	})
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s: found a header and no line, wanted a true class in each", path)
	}
	return right, err
}

// unsure is the answer of an expert who cannot tell the class.
const unsure = "?"

// Answers enters labels that an expert gives, in a CSV as of Right, and returns how many are new.
// labels[i] is the label of example i of d, below 0 if it has none; the answer ? is aside. Another
// label than an example has is an error.
func Answers(ctx context.Context, path string, d *dataset.Dataset, labels []int32, aside int32,
) (entered int, err error) {
	t, err := openClasses(ctx, path, "row,label")
	if err != nil {
		return 0, err
	}
	defer t.Close()
	keys := findKeys(t.header, d)
	column := slices.IndexFunc(t.header, func(name string) bool { return word(name) == "label" })
	if keys == nil || column < 0 {
		return 0, t.at(fmt.Errorf("found the columns %.80q, wanted a header with row or id, and label",
			t.header))
	}
	classes := newNames(d.Classes)
	return entered, t.each(func(row []string) error {
		k, text := aside, strings.TrimSpace(row[column])
		if text == "" {
			return nil // no answer yet
		}
		i, err := keys.find(row)
		if err == nil && i < 0 {
			return nil // of a row that was skipped
		}
		if err == nil && text != unsure {
			k, err = classes.find(text)
		}
		switch {
		case err != nil:
			return err
		case labels[i] == k:
		case labels[i] == dataset.Unlabelled:
			labels[i] = k
			entered++
		default:
			return fmt.Errorf("found the label %.60q of %s %.60q, which has another one before; keep one "+
				"of them", text, keys.name, row[keys.column])
		}
		return nil
	})
}

// Pairs returns the noisy label and the true class of each row of a CSV, plain or compressed by
// gzip, with a column for each (noisy, given, observed, predicted …; true, clean, right …), and the
// sorted names of the classes. Errors are as of Right.
func Pairs(ctx context.Context, path string) (classes []string, noisy, right []int32, err error) {
	t, err := openClasses(ctx, path, "noisy,true")
	if err != nil {
		return nil, nil, nil, err
	}
	defer t.Close()
	noisyColumn, rightColumn, err := classColumns(t.header, nil)
	if err == nil && (noisyColumn < 0 || rightColumn < 0) {
		err = fmt.Errorf("the header is %.80q, wanted columns of noisy and true classes, such as "+
			"noisy,true", strings.Join(t.header, ","))
	}
	if err != nil {
		return nil, nil, nil, t.at(err)
	}
	found := newNames(nil)
	err = t.each(func(row []string) error {
		p, err := found.find(row[noisyColumn])
		k, failed := found.find(row[rightColumn])
		noisy, right = append(noisy, p), append(right, k)
		return errors.Join(err, failed)
	})
	if err != nil {
		return nil, nil, nil, err
	}
	if err := confusion.CheckClasses(found.list); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: labels of a %w", path, err)
	}
	classes, place := found.sortClasses()
	for i, p := range noisy {
		noisy[i], right[i] = place[p], place[right[i]]
	}
	return classes, noisy, right, nil
}

func openClasses(ctx context.Context, path, columns string) (*table, error) {
	rows, err := file.OpenRows(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := tableOf(rows, columns)
	if err != nil {
		rows.Close()
	}
	return t, err
}

// classColumns returns the columns of noisy labels and of true classes, -1 for none. A column label
// has the classes that no other column has: beside keys the true ones, else the noisy ones.
func classColumns(header []string, keys *keys) (noisy, right int, err error) {
	noisy, right = -1, -1
	label := -1
	for k, field := range header {
		name := word(field)
		isTrue, isNoisy := confusion.Axis(name)
		switch {
		case keys != nil && (k == keys.column || name == "worker" && slices.Contains(header, "label")):
		case isTrue && right >= 0:
			return 0, 0, fmt.Errorf("the header has two columns of true classes, %q and %q",
				header[right], field)
		case isTrue:
			right = k
		case isNoisy && noisy < 0:
			noisy = k
		case name == "label" || name == "class" || name == "y":
			label = k
		}
	}
	if keys != nil && label < 0 && len(header) == 2 { // beside the key there is but one
		label = 1 - keys.column
	}
	if keys != nil && right < 0 {
		right = label
	} else if keys == nil && noisy < 0 {
		noisy = label
	}
	return noisy, right, nil
}
