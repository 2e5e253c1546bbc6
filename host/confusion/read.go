package confusion

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/square"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/setting"
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
	// Classes are the data's in the order of their indices; if nil, those of the table
	Classes []string
	Axes    string // AxesAuto, TrueRows or TrueColumns; "" is AxesAuto
}

// Read returns the confusion matrix in the file, checked: a table in any layout of ReadTable. If it
// has names, they are those of o.Classes, character by character, in any order. What a Table goes
// by tells which axis is the noisy one. A table without names is in the order of o.Classes, and has
// noisy classes in rows unless o.Axes says otherwise. Counts and percentages become shares, where
// names or o.Axes tell the axes. The table of standard errors that Write appends is read too.
//
// Errors begin with the path, and where a line is wrong with its number.
func Read(path string, o ReadOptions) (*Matrix, error) {
	if o.Classes != nil {
		if err := errors.Join(labelfile.CheckClasses(o.Classes),
			square.CheckMemory(len(o.Classes))); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := checkAxes(o.Axes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := readFile(path, "the confusion matrix", maxBytes(o.Classes))
	if err != nil {
		return nil, err
	}
	return parse(path, data, o)
}

// maxBytes is the size of file that is accepted, before and after unpacking: far more than any
// sensible table of these classes takes, or a thousand of them if they are nil.
func maxBytes(classes []string) int64 {
	if classes == nil {
		return 64 << 20
	}
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

// parse is Read for the bytes of a file; path is used in messages only, and o.Classes are valid.
func parse(path string, data []byte, o ReadOptions) (*Matrix, error) {
	g, errs, err := gridsOf(path, data, maxBytes(o.Classes), o.Classes)
	if err != nil {
		return nil, err
	}
	m := &Matrix{known: &known{}}
	if o.Axes, err = g.matrixAxes(o); err == nil {
		m.P, err = g.matrix(o)
	}
	if o.Classes = g.classes; err == nil && errs != nil {
		if err = errs.name(o.Classes); err == nil {
			m.Error, err = errs.matrix(o)
		}
	}
	m.Classes = g.classes
	if err == nil {
		err = m.check(o.Axes == TrueRows)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// matrixAxes names the classes, and returns TrueRows or TrueColumns.
func (g *grid) matrixAxes(o ReadOptions) (string, error) {
	bare := g.rowNames == nil && g.columnNames == nil
	if err := g.name(o.Classes); err != nil {
		return "", err
	}
	asked := o.Axes
	if asked == AxesAuto {
		asked = ""
	}
	axes, why, err := g.axes()
	switch {
	case err != nil:
		return "", err
	case asked != "" && axes != "" && axes != asked:
		return "", fmt.Errorf("%s, and %s is given: leave it out, or mend the table", why,
			setting.Spell("confusion-axes", asked))
	case asked != "" || axes != "":
		return cmp.Or(asked, axes), nil
	case bare:
		return TrueColumns, nil
	}
	t, err := g.table(AxesAuto)
	if err != nil {
		return "", err
	}
	return t.Axes, nil
}

// matrix returns the numbers with noisy classes in rows, those of o.Classes in their order, for
// o.Axes that matrixAxes returned. Numbers above 1 become shares.
func (g *grid) matrix(o ReadOptions) ([]float64, error) {
	var missing []string
	for c, name := range g.classes {
		if !slices.Contains(g.rowOf, c) || !slices.Contains(g.columnOf, c) {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("found no row or no column of classes of the data: %s",
			labelfile.Quoted(missing))
	}
	v := g.values(o.Axes == TrueRows)
	axes, _, err := g.axes()
	if err != nil || axes == "" || slices.Max(v) <= 1 {
		return v, err
	}
	t, err := g.table(o.Axes)
	if err != nil {
		return nil, err
	}
	m, err := t.Share()
	if err != nil {
		return nil, err
	}
	return m.P, nil
}

// gridsOf returns the table in the data of a file, plain or compressed by gzip to at most limit
// bytes, and the table of standard errors behind it, nil if there is none.
func gridsOf(path string, data []byte, limit int64, classes []string) (g, errs *grid, err error) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = readAll(z, limit)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it is cut short; copy or make the file again")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: cannot unpack the gzip data: %w", path, err)
		}
	}
	if bytes.HasPrefix(data, []byte(npyfile.Magic)) {
		g, err := npyGrid(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		return g, nil, nil
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return nil, nil, fmt.Errorf("%s: found a zip archive (.npz or .xlsx?), wanted text or one .npy "+
			"array; save the table by itself", path)
	}
	if err := memory.Check(memory.Product(len(data), 10), "the fields of "+path); err != nil {
		return nil, nil, err
	}
	c, err := cellsOf(path, string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err != nil {
		return nil, nil, err
	}
	rest := c.cutErrors()
	if g, err = c.grid(path, classes); err == nil && rest != nil {
		errs, err = rest.grid(path, classes)
	}
	return g, errs, err
}

// npyGrid reads a square array in numpy's format.
func npyGrid(data []byte) (*grid, error) {
	rest := bytes.NewReader(data)
	a, err := npyfile.ReadHeader(rest)
	if err != nil {
		return nil, fmt.Errorf("cannot read the .npy header: %w", err)
	}
	if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] || a.Shape[0] < 2 || a.Shape[0] > rest.Len() {
		return nil, fmt.Errorf("found an array of shape %v in %d bytes, wanted one row and column per "+
			"class", a.Shape, rest.Len())
	}
	q := a.Shape[0]
	decode := npyfile.Decoder(a.Type, func(v float64) float64 { return v })
	if decode == nil || a.Type.Kind == 'b' {
		return nil, fmt.Errorf("found elements of type %.20q, wanted float32, float64 or integers; "+
			"convert with astype", a.Descr)
	}
	if want := q * q * a.Type.Size; rest.Len() != want {
		return nil, fmt.Errorf("found %d bytes after the .npy header, wanted %d for %d×%d elements of "+
			"type %s", rest.Len(), want, q, q, a.Descr)
	}
	table := make([]float64, q*q)
	decode(table, data[a.Size:])
	g := &grid{decimals: 17, rows: make([][]float64, q)}
	for i := range q {
		for j := range i {
			if a.Fortran {
				table[i*q+j], table[j*q+i] = table[j*q+i], table[i*q+j]
			}
		}
		g.rows[i] = table[i*q : (i+1)*q]
	}
	for i, v := range table {
		if !(v >= 0 && v <= math.MaxInt64) {
			return nil, fmt.Errorf("found %v in row %d, column %d (counted from 0), wanted a count, a "+
				"percentage or a share", v, i/q, i%q)
		}
	}
	return g, nil
}

// axesOption spells the option that takes rows for true classes.
func axesOption() string { return setting.Spell("confusion-axes", TrueRows) }
