package confusion

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// parseNamed reads a CSV table (RFC 4180) whose header begins with one of the
// corners, and the table of standard errors, nil if none follows. text has no byte order mark.
func parseNamed(path, text string, o ReadOptions) (table, errs []float64, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1 // counted here, for a message that says what is wanted
	header, line, err := labelfile.Record(path, r)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCorner(header[0], o.TrueRows); err != nil {
		return nil, nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	table, header, line, err = namedRows(path, r, header, line, o.Classes)
	if err != nil || header == nil {
		return table, nil, err
	}
	errs, _, _, err = namedRows(path, r, header, line, o.Classes)
	return table, errs, err
}

// namedRows reads the rows below a header in the line given, and the header of a table of standard
// errors behind them, nil for none, with its line.
func namedRows(path string, r *csv.Reader, header []string, line int, classes []string,
) (table []float64, next []string, nextLine int, err error) {
	column, err := labelfile.Indices(header[1:], classes)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("%s:%d: the header %w", path, line, err)
	}
	if missing := absent(column, classes); missing != "" {
		return nil, nil, 0, fmt.Errorf("%s:%d: the header lacks classes of the data: %s", path, line,
			missing)
	}
	q := len(classes)
	table = make([]float64, q*q)
	rowOf := make(map[int]int, q) // class index -> its line
	row := make([]int, 0, q)      // class indices in the order of the rows
	for {
		fields, at, err := labelfile.Record(path, r)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, 0, err
		}
		if len(row) == q && fields[0] == cornerErrors && header[0] != cornerErrors {
			return table, fields, at, nil
		}
		line = at
		one, err := labelfile.Indices(fields[:1], classes)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s:%d: the row %w", path, line, err)
		}
		p := one[0]
		if before, ok := rowOf[p]; ok {
			return nil, nil, 0, fmt.Errorf("%s:%d: the row of class %.60q is here and in line %d, wanted "+
				"once", path, line, fields[0], before)
		}
		rowOf[p] = line
		row = append(row, p)
		if len(fields) != 1+q {
			return nil, nil, 0, fmt.Errorf("%s:%d: found %d fields, wanted %d: a class name and %d numbers",
				path, line, len(fields), 1+q, q)
		}
		for i, field := range fields[1:] {
			v, err := parseNumber(field, 1)
			if err != nil {
				return nil, nil, 0, fmt.Errorf("%s:%d: found %w in the column of class %.60q, wanted a number "+
					"from 0 to 1", path, line, err, header[1+i])
			}
			table[p*q+column[i]] = v
		}
	}
	if missing := absent(row, classes); missing != "" {
		return nil, nil, 0, fmt.Errorf("%s:%d: the file ends without the rows of these classes of the "+
			"data: %s", path, line, missing)
	}
	return table, nil, 0, nil
}

// checkCorner returns an error unless the corner of a header agrees with the
// axes that were asked for.
func checkCorner(corner string, trueRows bool) error {
	switch {
	case corner == corners(trueRows):
		return nil
	case corner == cornerTrueRows:
		return fmt.Errorf("the header begins with %s, so its rows are true classes: use %s", corner,
			axesFlag)
	case corner == cornerNoisyRows:
		return fmt.Errorf("the header begins with %s, so its rows are noisy classes: leave out %s",
			corner, axesFlag)
	}
	return fmt.Errorf("the header begins with %.40q, wanted %s and class names, separated by commas",
		corner, corners(trueRows))
}

// absent lists the classes whose index is not in of, or "".
func absent(of []int, classes []string) string {
	there := make([]bool, len(classes))
	for _, c := range of {
		there[c] = true
	}
	var missing []string
	for c, ok := range there {
		if !ok {
			missing = append(missing, classes[c])
		}
	}
	if missing == nil {
		return ""
	}
	return labelfile.Quoted(missing)
}

// parseBare reads a table of Q lines of Q numbers. The first line decides what
// separates them; blank lines do not count.
func parseBare(path, text string, classes []string) ([]float64, error) {
	q := len(classes)
	table := make([]float64, 0, q*q)
	_, first := firstLine(text)
	_, separator := splitFields(first)
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		if len(table) == q*q {
			return nil, fmt.Errorf("%s:%d: found another row after %d, wanted %d rows, one per class of "+
				"the data (%s)", path, n, q, q, labelfile.Quoted(classes))
		}
		fields := splitAt(l, separator)
		if len(fields) != q {
			return nil, fmt.Errorf("%s:%d: found %d fields, wanted %d, one per class of the data (%s)",
				path, n, len(fields), q, labelfile.Quoted(classes))
		}
		for i, field := range fields {
			v, err := parseNumber(field, 1)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: found %w in field %d, wanted a number from 0 to 1", path, n, err,
					i+1)
			}
			table = append(table, v)
		}
	}
	if len(table) < q*q {
		return nil, fmt.Errorf("%s:%d: the file ends after %d rows, wanted %d, one per class of the "+
			"data (%s)", path, n, len(table)/q, q, labelfile.Quoted(classes))
	}
	return table, nil
}

// splitFields cuts a trimmed line that is not empty and says at what: the first
// of semicolon and comma that it contains, else runs of white space (' ').
func splitFields(line string) ([]string, rune) {
	separator := ' '
	for _, s := range ";," {
		if strings.ContainsRune(line, s) {
			separator = s
			break
		}
	}
	return splitAt(line, separator), separator
}

func splitAt(line string, separator rune) []string {
	if separator == ' ' {
		return strings.FieldsFunc(line, unicode.IsSpace)
	}
	fields := strings.Split(line, string(separator))
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}
