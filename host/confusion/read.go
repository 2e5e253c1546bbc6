package confusion

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// The corners of the two headers: what rows are, then what columns are.
const (
	cornerNoisyRows = `noisy\true`
	cornerTrueRows  = `true\noisy`
)

// cornerErrors begins the header of a table of standard errors, which has the axes of the table
// before it.
const cornerErrors = "standard error"

// What the rows of a table are.
const (
	AxesAuto    = "auto"         // found from names or sums
	TrueRows    = "true-rows"    // true classes, as in confusion_matrix(y_true, y_noisy)
	TrueColumns = "true-columns" // noisy classes, as in a Matrix
)

// ReadOptions say how to read a table.
type ReadOptions struct {
	Classes []string // the data's, in the order of their indices; nil takes the table's
	Axes    string   // AxesAuto, TrueRows or TrueColumns; "" is AxesAuto
}

// Table is a table of true against noisy labels.
type Table struct {
	Classes []string  // Q distinct names
	V       []float64 // Q×Q, row-major: V[p*Q+q] is of noisy label p and true class q; at least 0
	Error   []float64 // Q×Q: standard errors of V; nil for none
	Counts  bool      // V counts examples; else it is P(noisy = p | true = q)
	Axes    string    // of the file: TrueRows or TrueColumns
	Notes   []string  // what is odd about it, a sentence each

	path string // of its file, "" for none
}

// ReadBytes returns the bytes of a file for Parse.
func ReadBytes(path string) ([]byte, error) {
	data, err := osfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the table: %w", path, err)
	}
	return data, nil
}

// Matrix returns the matrix of a table, checked; counts become shares.
func (t *Table) Matrix() (*Matrix, error) {
	m, err := &Matrix{Classes: t.Classes, P: t.V, Error: t.Error, known: &known{}}, error(nil)
	if t.Counts {
		m, err = t.Share()
	}
	if err == nil {
		m.Error = t.Error
		err = m.check(t.Axes == TrueRows)
	}
	switch {
	case err == nil:
		return m, nil
	case t.path == "":
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", t.path, err)
}

// ReadTable reads a square table of counts or shares:
//
//   - CSV with a name before each row and above each column, as Matrix.Write and pandas'
//     crosstab(…).to_csv write it. A class that has no row, or no column, was counted 0 times.
//   - CSV of numbers alone, or numpy's .npy: rows and columns are in the order of the classes.
//
// If a number is above 1, all are counts of examples, else shares of each true class. The
// rows are noisy or true classes by the name in the first field (noisy, given, observed; true,
// actual, clean …), by o.Axes, or by what sums to 1. A table without names has noisy classes in
// rows, unless o.Axes says otherwise. It is an error if nothing decides the axes, or if a name
// contradicts o.Axes. Without o.Classes the classes are named by the table, or 0, 1, ….
//
// Errors begin with the path, and for CSV with the line.
func ReadTable(path string, o ReadOptions) (*Table, error) {
	data, err := ReadBytes(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, o)
}

// check refuses classes that no table can have.
func (o ReadOptions) check(path string) error {
	if o.Classes == nil {
		return nil
	}
	if err := errors.Join(CheckClasses(o.Classes), checkMemory(len(o.Classes))); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// grid is a table as the file has it.
type grid struct {
	corner      string
	rows        [][]float64 // all of one length, at least one
	errors      [][]float64 // standard errors, of the same shape; nil for none
	named       bool
	rowNames    []string // the classes if there are no names
	columnNames []string
}

// Parse is ReadTable for the bytes of a file: they may be parsed again with other classes, where a
// pipe cannot be read again.
func Parse(path string, data []byte, o ReadOptions) (t *Table, err error) {
	if err := o.check(path); err != nil {
		return nil, err
	}
	if a := o.Axes; a != "" && a != AxesAuto && a != TrueRows && a != TrueColumns {
		return nil, fmt.Errorf("%s: found axes %q, wanted %s, %s or %s", path, a, AxesAuto, TrueRows,
			TrueColumns)
	}
	var g *grid
	if bytes.HasPrefix(data, []byte(npyfile.Magic)) {
		if g, err = parseNPY(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else if g, err = parseCSV(path, data); err != nil {
		return nil, err
	}
	if t, err = g.table(o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.path = path
	return t, nil
}

// parseCSV reads names and numbers. A first field that is a number says that there are no names.
func parseCSV(path string, data []byte) (*grid, error) {
	if err := memory.Check(memory.Product(len(data), 10), "the fields of "+path); err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.FieldsPerRecord = -1 // checked here, for a better message
	g := &grid{}
	rows := &g.rows
	for first := true; ; first = false {
		fields, err := r.Read()
		line, broken := 0, new(csv.ParseError)
		if err == nil {
			line, _ = r.FieldPos(0)
		}
		switch {
		case err == io.EOF && len(g.rows) > 0:
			return g, nil
		case err == io.EOF:
			return nil, fmt.Errorf("%s: found no numbers, wanted a table of true against noisy labels", path)
		case errors.As(err, &broken):
			return nil, fmt.Errorf("%s:%d: found broken CSV in column %d: %w", path, broken.Line,
				broken.Column, broken.Err)
		case len(fields) == 1:
			return nil, fmt.Errorf("%s:%d: found one field, wanted a table of numbers with commas between",
				path, line)
		case first && !isNumber(fields[0]):
			g.named, g.corner, g.columnNames = true, strings.TrimSpace(fields[0]), fields[1:]
			continue
		case g.named && fields[0] == cornerErrors && slices.Equal(fields[1:], g.columnNames):
			g.errors = [][]float64{}
			rows = &g.errors
			continue
		case g.errors != nil && (len(g.errors) == len(g.rows) || fields[0] != g.rowNames[len(g.errors)]):
			return nil, fmt.Errorf("%s:%d: found the standard errors of %.60q, wanted the same rows in the "+
				"same order", path, line, fields[0])
		}
		if g.named && rows == &g.rows {
			g.rowNames = append(g.rowNames, fields[0])
		}
		if g.named {
			fields = fields[1:]
		}
		if want := max(len(g.columnNames), width(g.rows)); len(fields) != want && want > 0 {
			return nil, fmt.Errorf("%s:%d: found %d numbers, wanted %d as in the first line", path, line,
				len(fields), want)
		}
		numbers := make([]float64, len(fields))
		for k, field := range fields {
			if numbers[k], err = parseNumber(field); err != nil {
				return nil, fmt.Errorf("%s:%d: found %w in column %d of the numbers, wanted a count, or a "+
					"share from 0 to 1", path, line, err, k+1)
			}
		}
		*rows = append(*rows, numbers)
	}
}

func width(rows [][]float64) int {
	if len(rows) == 0 {
		return 0
	}
	return len(rows[0])
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// parseNumber returns the number of a field, at least 0. Go also reads 0x1p-2 and 1_000, which no
// other program writes on purpose.
func parseNumber(field string) (float64, error) {
	s := strings.TrimSpace(field)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(s, "xX_") {
		return 0, fmt.Errorf("%.40q", field)
	}
	if !(v >= 0 && v <= math.MaxInt64) {
		return 0, fmt.Errorf("%.40s", field)
	}
	return math.Abs(v), nil // -0 is 0
}

// parseNPY reads a square array in numpy's format.
func parseNPY(data []byte) (*grid, error) {
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
	decode := npyfile.Decoder(a.Type)
	if decode == nil || a.Type.Kind == 'b' {
		return nil, fmt.Errorf("found elements of type %.20q, wanted float32, float64 or integers; "+
			"convert with astype", a.Descr)
	}
	if want := q * q * a.Type.Size; rest.Len() != want {
		return nil, fmt.Errorf("found %d bytes after the .npy header, wanted %d for %d×%d elements of "+
			"type %s", rest.Len(), want, q, q, a.Descr)
	}
	v := make([]float64, q*q)
	decode(v, data[a.Size:])
	g := &grid{rows: make([][]float64, q)}
	for i := range q {
		g.rows[i] = make([]float64, q)
		for j := range q {
			at := i*q + j
			if a.Fortran {
				at = j*q + i
			}
			if !(v[at] >= 0 && v[at] <= math.MaxInt64) {
				return nil, fmt.Errorf("found %v in row %d, column %d (counted from 0), wanted a count, or a "+
					"share from 0 to 1", v[at], i, j)
			}
			g.rows[i][j] = math.Abs(v[at])
		}
	}
	return g, nil
}

// table names the classes, decides the axes, and brings the numbers into order.
func (g *grid) table(o ReadOptions) (*Table, error) {
	t := &Table{Classes: slices.Clone(o.Classes)}
	rows, columns, err := g.places(t)
	if err != nil {
		return nil, err
	}
	q := len(t.Classes)
	t.V = place(g.rows, rows, columns, q)
	largest := slices.Max(t.V)
	if t.Counts = largest > 1; largest == 0 {
		return nil, errors.New("found a table of zeros, wanted counts or shares")
	}
	for _, v := range t.V {
		if t.Counts && v != math.Trunc(v) {
			return nil, fmt.Errorf("found %v beside %v, wanted counts (whole numbers) or shares (0 to 1): "+
				"divide percentages by 100", v, largest)
		}
	}
	if err := g.findAxes(t, o.Axes); err != nil {
		return nil, err
	}
	if g.errors != nil {
		if len(g.errors) != len(g.rows) {
			return nil, fmt.Errorf("found %d rows of standard errors, wanted %d", len(g.errors), len(g.rows))
		}
		t.Error = place(g.errors, rows, columns, q)
	}
	if t.Axes == TrueRows {
		t.V, t.Error = transpose(t.V, q), transpose(t.Error, q)
	}
	t.remark()
	return t, nil
}

// places sets the classes of t, if they are nil, and returns the class of each row and column.
func (g *grid) places(t *Table) (rows, columns []int, err error) {
	if !g.named {
		n := len(g.rows)
		if t.Classes == nil {
			for k := range n {
				t.Classes = append(t.Classes, strconv.Itoa(k))
			}
		}
		if len(t.Classes) != n || width(g.rows) != n {
			return nil, nil, fmt.Errorf("found a table of %d×%d numbers without names, wanted a row and a "+
				"column for each class (%s)", n, width(g.rows), quote.List(t.Classes))
		}
		g.rowNames, g.columnNames = t.Classes, t.Classes
	}
	if t.Classes == nil {
		t.Classes = slices.Clone(g.rowNames)
		for _, name := range g.columnNames {
			if !slices.Contains(t.Classes, name) {
				t.Classes = append(t.Classes, name)
			}
		}
		if slices.Contains(t.Classes, "") {
			return nil, nil, errors.New("found a class without a name, wanted one for each row and column")
		}
		if last := t.Classes[len(t.Classes)-1]; last == "All" {
			return nil, nil, errors.New("found a class All, wanted a table without margins: leave out " +
				"margins=True, or name the class otherwise")
		}
	}
	if err := checkMemory(len(t.Classes)); err != nil {
		return nil, nil, err
	}
	if rows, err = indicesOf(g.rowNames, t.Classes); err != nil {
		return nil, nil, fmt.Errorf("the first column %w", err)
	}
	if columns, err = indicesOf(g.columnNames, t.Classes); err != nil {
		return nil, nil, fmt.Errorf("the header %w", err)
	}
	return rows, columns, CheckClasses(t.Classes)
}

// indicesOf returns the index in classes of each name. The error, which continues "the header" or
// "the row", lists unknown names, or a repeated one.
func indicesOf(names, classes []string) ([]int, error) {
	index := make(map[string]int, len(classes))
	for i, c := range classes {
		index[c] = i
	}
	seen := make(map[string]bool, len(names))
	indices := make([]int, len(names))
	var extra []string
	for i, n := range names {
		c, ok := index[n]
		if !ok {
			extra = append(extra, n)
		} else if seen[n] {
			return nil, fmt.Errorf("lists class %.60q twice, wanted once", n)
		}
		seen[n] = true
		indices[i] = c
	}
	if extra == nil {
		return indices, nil
	}
	return nil, fmt.Errorf("has names that are no class of the data: %s; the data have %s: leave the "+
		"others out, or give data that have them", quote.List(extra), quote.List(classes))
}

// place returns numbers, Q×Q, by the classes of their rows and columns; 0 where there is none.
func place(numbers [][]float64, rows, columns []int, q int) []float64 {
	v := make([]float64, q*q)
	for i, row := range numbers {
		for k, x := range row {
			v[rows[i]*q+columns[k]] = x
		}
	}
	return v
}

func transpose(v []float64, q int) []float64 {
	if v == nil {
		return nil
	}
	t := make([]float64, len(v))
	for i := range v {
		t[i%q*q+i/q] = v[i]
	}
	return t
}

// findAxes decides what the rows of t are: by the corner, the option, or the sums of shares.
func (g *grid) findAxes(t *Table, asked string) error {
	row, column, _ := strings.Cut(strings.NewReplacer("/", `\`).Replace(g.corner), `\`)
	rowAxis, columnAxis := axisOf(row), axisOf(column)
	named := rowAxis
	switch {
	case rowAxis != "" && rowAxis == columnAxis:
		return fmt.Errorf("the axes are called %q and %q, wanted one of true and one of noisy classes",
			row, column)
	case rowAxis == "" && columnAxis == TrueRows:
		named = TrueColumns
	case rowAxis == "" && columnAxis == TrueColumns:
		named = TrueRows
	}
	if asked == AxesAuto {
		asked = ""
	}
	q := len(t.Classes)
	switch {
	case asked != "" && named != "" && asked != named:
		return fmt.Errorf("the corner is %q, and %s is given: leave it out, or correct the table",
			g.corner, quote.Option("confusion-axes", asked))
	case named != "" || asked != "":
		t.Axes = cmp.Or(named, asked)
	case t.Counts:
		return fmt.Errorf("found counts, and nothing says whether rows or columns are the true classes: "+
			"say %s (as in scikit-learn's confusion_matrix(y_true, y_noisy)) or %s", axesOption(),
			TrueColumns)
	case !g.named:
		t.Axes = TrueColumns
	default:
		turned := &Table{Classes: t.Classes, V: transpose(t.V, q)}
		columns, rows := t.isShares(SumTolerance), turned.isShares(SumTolerance)
		switch {
		case columns && rows && !slices.Equal(t.V, turned.V):
			return fmt.Errorf("found rows and columns that all sum to 1, so nothing says which are the "+
				"true classes: say %s or %s", axesOption(), TrueColumns)
		case rows && !columns:
			t.Axes = TrueRows
		default:
			t.Axes = TrueColumns
		}
	}
	return nil
}

// axisOf returns TrueRows for the name of true classes, TrueColumns for noisy ones, and ""
// for any other.
func axisOf(name string) string {
	switch isTrue, isNoisy := Axis(name); {
	case isTrue:
		return TrueRows
	case isNoisy:
		return TrueColumns
	}
	return ""
}

// Axis reports whether a name says that an axis or a column has true classes, or noisy ones.
func Axis(name string) (isTrue, isNoisy bool) {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune(" _-.", r) })
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	isTrue = has("true", "truth", "actual", "clean", "right", "gold", "golden", "reference", "real",
		"correct")
	isNoisy = has("noisy", "noise", "given", "observed", "predicted", "pred", "prediction",
		"annotated", "annotation", "annotator", "worker", "wrong")
	return isTrue && !isNoisy, isNoisy && !isTrue
}

// sums returns the sum of each column.
func (t *Table) sums() []float64 {
	q := len(t.Classes)
	sums := make([]float64, q)
	for k, v := range t.V {
		sums[k%q] += v
	}
	return sums
}

// isShares reports whether each column sums to 1 within the tolerance.
func (t *Table) isShares(tolerance float64) bool {
	return !slices.ContainsFunc(t.sums(), func(sum float64) bool {
		return math.Abs(sum-1) > tolerance
	})
}

// remark notes that most classes have another label more often than the right one.
func (t *Table) remark() {
	q := len(t.Classes)
	var odd []string
	for c := range q {
		for p := range q {
			if t.V[p*q+c] > t.V[c*q+c] {
				odd = append(odd, t.Classes[c])
				break
			}
		}
	}
	if 2*len(odd) > q {
		t.Notes = append(t.Notes, fmt.Sprintf("most classes (%s) have another label more often than the "+
			"right one: are rows and columns in the same order?", quote.List(odd)))
	}
}

// mostRounding is how far from 1 the shares of a true class in a table of rounded numbers may sum.
const mostRounding = 0.02

// Share returns V with each column divided by its sum: P(noisy = p | true = q). The error names a
// class without an example, or one whose shares do not sum to 1 within rounding.
func (t *Table) Share() (*Matrix, error) {
	m, err := New(t.Classes)
	if err != nil {
		return nil, err
	}
	sums := t.sums()
	for c, sum := range sums {
		if sum == 0 {
			return nil, fmt.Errorf("table: no example has the true class %.60q: add some, or smooth the "+
				"estimate", t.Classes[c])
		}
		if !t.Counts && math.Abs(sum-1) > mostRounding {
			return nil, fmt.Errorf("table: the shares of true class %.60q sum to %v, wanted 1, or counts",
				t.Classes[c], sum)
		}
	}
	for k, v := range t.V {
		m.P[k] = v / sums[k%m.Q()]
	}
	return m, m.Check()
}

// axesOption spells the option that takes rows for true classes.
func axesOption() string { return quote.Option("confusion-axes", TrueRows) }
