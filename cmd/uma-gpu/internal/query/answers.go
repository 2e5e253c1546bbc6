package query

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// cannotTell is the answer of an expert who cannot tell the class.
const cannotTell = "?"

// unanswered are the examples of d without a label, by what answers call them.
type unanswered struct {
	classes []string
	labels  []int32 // of all examples: a class, active.Unknown or active.Aside
	row     map[string]int
	id      map[string]int // nil without ids
}

// newUnanswered returns the examples without a label. An id that two of them have is an error.
func newUnanswered(d *dataset.Dataset, labels []int32) (*unanswered, error) {
	u := &unanswered{classes: d.Classes, labels: labels, row: map[string]int{}}
	if d.IDs != nil {
		u.id = map[string]int{}
	}
	for i, y := range labels {
		if y != active.Unknown {
			continue
		}
		u.row[strconv.Itoa(d.SourceRow(i)+1)] = i
		if d.IDs == nil {
			continue
		}
		if k, twice := u.id[d.IDs[i]]; twice {
			return nil, fmt.Errorf("%s: found the id %q in rows %d and %d, wanted a different one in each "+
				"row", d.Path, d.IDs[i], d.SourceRow(k)+1, d.SourceRow(i)+1)
		}
		u.id[d.IDs[i]] = i
	}
	return u, nil
}

// answerError is a fault in a line of answers.
type answerError struct {
	line int
	err  error
}

func (e *answerError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// take takes the answers of a CSV with a header, and returns how many there are.
func (u *unanswered) take(text string) (answered int, err error) {
	text = strings.TrimPrefix(text, "\ufeff") // spreadsheets begin so
	r := csv.NewReader(strings.NewReader(text))
	if header, _, _ := strings.Cut(text, "\n"); !strings.Contains(header, ",") {
		r.Comma = ';' // of spreadsheets where a comma is the decimal point
	}
	header, err := r.Read()
	if err == io.EOF {
		return 0, errors.New("found an empty file, wanted a CSV with the columns row or id, and label")
	}
	label, key, named := slices.Index(header, "label"), slices.Index(header, "row"), u.row
	if k := slices.Index(header, "id"); k >= 0 && u.id != nil {
		key, named = k, u.id
	}
	if err == nil && min(key, label) < 0 {
		return 0, &answerError{1, fmt.Errorf("found the columns %.80q, wanted a header with row or id, "+
			"and label", header)}
	}
	for err == nil {
		var fields []string
		if fields, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		is, err := u.answer(named, header[key], strings.TrimSpace(fields[key]),
			strings.TrimSpace(fields[label]))
		if err != nil {
			return 0, &answerError{line, err}
		}
		if is {
			answered++
		}
	}
	if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
		return 0, &answerError{bad.Line, fmt.Errorf("column %d: %w; wanted a CSV with the columns row "+
			"or id, and label", bad.Column, bad.Err)}
	}
	if err != io.EOF {
		return 0, err
	}
	return answered, nil
}

// answer takes the label of one example, and says whether it is a new one.
func (u *unanswered) answer(named map[string]int, key, name, class string) (is bool, err error) {
	if class == "" {
		return false, nil // no answer yet
	}
	y := int32(slices.Index(u.classes, class))
	if class == cannotTell {
		y = active.Aside
	} else if y < 0 {
		return false, fmt.Errorf("found the label %.60q, wanted one of %.200q, or %s where the expert "+
			"cannot tell", class, u.classes, cannotTell)
	}
	i, known := named[name]
	if !known {
		return false, fmt.Errorf("found %s %.60q, wanted a row without a label in the data", key, name)
	}
	if at := u.labels[i]; at != active.Unknown {
		if at != y {
			return false, fmt.Errorf("found the label %.60q of %s %.60q, which has another one before; "+
				"keep one of them", class, key, name)
		}
		return false, nil
	}
	u.labels[i] = y
	return true, nil
}
