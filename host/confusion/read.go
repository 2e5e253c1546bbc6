package confusion

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// The corners of the two headers: what rows are, then what columns are.
const (
	cornerNoisyRows = `noisy\true`
	cornerTrueRows  = `true\noisy`
)

// cornerErrors begins the header of the table of standard errors, whose axes are those of the
// first.
const cornerErrors = "standard error"

// ReadOptions says what a file is to be read for.
type ReadOptions struct {
	Classes  []string // the data's classes in the order of their indices; Read copies them
	TrueRows bool     // the file has true classes in rows, columns are noisy labels
}

// Read reads the confusion matrix in the file, plain or compressed by gzip
// whatever its name, and checks it. It takes
//
//   - a CSV table whose first line is `noisy\true,<class>,...` and whose other
//     lines are a noisy class and its probabilities. Rows and columns may come in
//     any order, but the names must be those of o.Classes, character by character.
//     A second table may follow, whose header begins with `standard error`;
//   - a bare Q×Q table of numbers in the order of o.Classes, separated by commas,
//     semicolons, tabs or spaces;
//   - the same in numpy's .npy: float32, float64 or integers, C or Fortran order.
//
// With o.TrueRows rows are true classes, columns noisy ones, and the corner of
// the CSV header is `true\noisy`. The other corner is an error, as it
// contradicts the option.
//
// Errors begin with the path, and for a text table with the line.
func Read(path string, o ReadOptions) (*Matrix, error) {
	if err := CheckClasses(o.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := CheckMemory(len(o.Classes)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := readFile(path, "the confusion matrix", maxBytes(o.Classes))
	if err != nil {
		return nil, err
	}
	return parse(path, data, o)
}

// maxBytes is the size of file that is accepted, before and after gunzipping:
// far more than any sensible table of these classes takes, so that a wrong file
// is refused before it fills the memory.
func maxBytes(classes []string) int64 {
	q := int64(len(classes))
	size := 1<<20 + 128*q*q
	for _, c := range classes {
		size += 16 * int64(len(c))
	}
	return size
}

// readFile returns the data of a file; what names them in errors.
func readFile(path, what string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	var data []byte
	if err == nil {
		defer f.Close() // nothing to lose: it was only read
		data, err = readAll(f, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read %s: %w", path, what, fileerr.Cause(err))
	}
	return data, nil
}

// readAll reads r to its end, which may not come after more than limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it holds more than %d bytes, far too many for this number of classes; is it "+
			"another file?", limit)
	}
	return data, err
}

// parse is Read for the bytes of a file; path is used in messages only, and
// o.Classes are valid.
func parse(path string, data []byte, o ReadOptions) (*Matrix, error) {
	data, err := gunzip(path, data, maxBytes(o.Classes))
	if err != nil {
		return nil, err
	}
	table, errs, err := parseTable(path, data, o)
	if err != nil {
		return nil, err
	}
	q := len(o.Classes)
	for _, values := range [][]float64{table, errs} {
		for i, v := range values {
			values[i] = math.Abs(v) // -0 is 0; nothing else is negative by now
		}
		for i := range values {
			if j := i%q*q + i/q; o.TrueRows && j < i {
				values[i], values[j] = values[j], values[i]
			}
		}
	}
	m := &Matrix{Classes: slices.Clone(o.Classes), P: table, Error: errs, known: &known{}}
	if err := m.check(o.TrueRows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// gunzip unpacks the data of a file, which may become limit bytes at most. It returns other data
// as they are.
func gunzip(path string, data []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = readAll(z, limit)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut short; copy or make the file again")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot unpack the gzip data: %w", path, err)
	}
	return data, nil
}

// parseTable finds the kind of table by its first bytes and returns its Q·Q
// entries, row-major as in the file, rows and columns in the order of o.Classes, and
// their standard errors, nil if it has none.
func parseTable(path string, data []byte, o ReadOptions) (table, errs []float64, err error) {
	if bytes.HasPrefix(data, []byte(npyMagic)) {
		table, err = parseNPY(path, data, len(o.Classes))
		return table, nil, err
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return nil, nil, fmt.Errorf("%s: found a zip archive (.npz or .xlsx?), wanted CSV or one .npy "+
			"array; save the matrix by itself", path)
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	line, first := firstLine(text)
	if first == "" {
		return nil, nil, fmt.Errorf("%s:1: found no text, wanted a %d×%d confusion matrix",
			path, len(o.Classes), len(o.Classes))
	}
	corner := strings.TrimPrefix(first, `"`)
	if strings.HasPrefix(corner, cornerNoisyRows) || strings.HasPrefix(corner, cornerTrueRows) {
		return parseNamed(path, text, o)
	}
	if f, _ := splitFields(first); !isNumber(f[0]) {
		return nil, nil, fmt.Errorf("%s:%d: the first field is %.40q, wanted %s and a header of class "+
			"names, or a number", path, line, f[0], corners(o.TrueRows))
	}
	table, err = parseBare(path, text, o.Classes)
	return table, nil, err
}

// corners returns the corner that a header must have.
func corners(trueRows bool) string {
	if trueRows {
		return cornerTrueRows
	}
	return cornerNoisyRows
}

// firstLine returns the first line of text that is not blank, trimmed, and its
// number counted from 1.
func firstLine(text string) (int, string) {
	n := 0
	for l := range strings.Lines(text) {
		n++
		if l = strings.TrimSpace(l); l != "" {
			return n, l
		}
	}
	return n, ""
}

// isNumber reports whether s is a decimal number, be it one that a matrix may
// not hold: then a table is meant, and its entry is what is wrong.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// parseNumber returns the number of a field, which is from 0 to most. The error has no place and
// no wish, which the caller knows.
func parseNumber(field string, most float64) (float64, error) {
	s := strings.TrimSpace(field)
	if s == "" {
		return 0, errors.New("nothing")
	}
	v, err := strconv.ParseFloat(s, 64)
	// Go also reads 0x1p-2 and 1_000, which no other program writes on purpose.
	if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(s, "xX_") {
		return 0, fmt.Errorf("%.40q", s)
	}
	if !(v >= 0 && v <= most) {
		return 0, fmt.Errorf("%.40s", s)
	}
	return v, nil
}
