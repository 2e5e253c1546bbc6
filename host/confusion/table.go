package confusion

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// Axes says which classes the rows of a table are.
type Axes string

// The axes.
const (
	AxesAuto    Axes = "auto"         // what the table itself says, by names or by sums
	TrueRows    Axes = "true-rows"    // as scikit-learn's confusion_matrix(y_true, y_noisy) has them
	TrueColumns Axes = "true-columns" // as a Matrix has them
)

// Kind is what the numbers of a table are.
type Kind string

// The kinds.
const (
	Counts Kind = "counts" // of examples
	Joint  Kind = "joint"  // shares of all examples, as pandas.crosstab(normalize="all") has them
	Shares Kind = "shares" // of the examples of each true class
)

// Table is a table of true against noisy labels as people keep it.
type Table struct {
	Classes []string // Q distinct names
	// Q×Q, row-major: V[p*Q+q] is of the examples with noisy label p and true class q; at least 0
	V     []float64
	Kind  Kind     // of V; shares and joint shares are of 1, even if the file has percentages
	Axes  Axes     // of the file, never AxesAuto
	Why   string   // what told the axes: a part of a sentence
	Notes []string // what is odd about it, a sentence each
}

// TableOptions say what a table is to be read for.
type TableOptions struct {
	// Classes are those of the data in the order of their indices; if nil, they are the names
	// at the table's borders, the rows' first, or 0, 1, ... if it has none.
	Classes []string
	Axes    Axes // "" is AxesAuto
}

// ReadTable reads a table as other programs and people write it, plain or compressed by gzip:
//
//   - text with commas, semicolons (also with decimal commas), tabs or spaces between the
//     numbers: what pandas' crosstab and DataFrame write and print, spreadsheets save, R's
//     write.table writes, and Matrix.Write;
//   - what numpy prints, or Python: scikit-learn's confusion_matrix, a list of lists (JSON);
//   - numpy's .npy of integers or floats.
//
// Names of classes may stand above the columns, before the rows, at both or nowhere; where the
// two differ, what is missing has been counted 0 times. A row and a column called All, Total or
// Sum are margins. The numbers are counts, percentages, or shares rounded to any digits, of all
// examples or of those of each true class.
//
// Which axis has the true classes is said by o.Axes, by the name of the rows or the corner
// (true, actual, gold ...; noisy, given, observed, predicted ...), or by what sums to 1: that of
// each true class does. It is an error if nothing tells, or if what tells contradicts.
//
// Errors begin with the path, and for text with the line.
func ReadTable(path string, o TableOptions) (*Table, error) {
	if o.Classes != nil {
		if err := CheckClasses(o.Classes); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	data, err := readFile(path, "the table", maxTableBytes)
	if err != nil {
		return nil, err
	}
	return parseAnyTable(path, data, o)
}

// maxTableBytes is the size of file that is accepted: what a thousand classes take.
const maxTableBytes = 64 << 20

// parseAnyTable is ReadTable for the bytes of a file.
func parseAnyTable(path string, data []byte, o TableOptions) (*Table, error) {
	data, err := gunzip(path, data, maxTableBytes)
	if err != nil {
		return nil, err
	}
	g, err := gridOf(path, data)
	if err != nil {
		return nil, err
	}
	if err := g.name(o.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := g.table(o.Axes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.remark()
	return t, nil
}

// gridOf finds the kind of file by its first bytes.
func gridOf(path string, data []byte) (*grid, error) {
	if bytes.HasPrefix(data, []byte(npyMagic)) {
		values, q, err := arrayNPY(path, data, 0)
		if err != nil {
			return nil, err
		}
		g := &grid{decimals: 17}
		for i, v := range values {
			if !(v >= 0 && v <= math.MaxInt64) {
				return nil, fmt.Errorf("%s: found %v in row %d, column %d (counted from 0), wanted a count, a "+
					"percentage or a share", path, v, i/q, i%q)
			}
		}
		for i := range q {
			g.rows = append(g.rows, values[i*q:(i+1)*q])
		}
		return g, nil
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return nil, fmt.Errorf("%s: found a zip archive (.npz or .xlsx?), wanted text or one .npy "+
			"array; save the table by itself", path)
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	// as Matrix.Write writes it: standard errors are no counts
	if strings.HasPrefix(text, cornerNoisyRows) {
		header, _, _ := strings.Cut(text, "\n")
		text, _, _ = strings.Cut(text, "\n"+cornerErrors+header[len(cornerNoisyRows):]+"\n")
	}
	cells, err := cellsOf(path, text)
	if err != nil {
		return nil, err
	}
	return cells.grid(path)
}

// remark adds notes on what the numbers themselves make doubtful.
func (t *Table) remark() {
	q := len(t.Classes)
	var odd, empty []string
	for c := range q {
		sum, most := 0.0, 0
		for p := range q {
			sum += t.V[p*q+c]
			if t.V[p*q+c] > t.V[most*q+c] {
				most = p
			}
		}
		if sum == 0 {
			empty = append(empty, t.Classes[c])
		} else if t.V[most*q+c] > t.V[c*q+c] {
			odd = append(odd, t.Classes[c])
		}
	}
	if empty != nil {
		t.Notes = append(t.Notes,
			fmt.Sprintf("no example has the true class %s: nothing is known of its noise",
				strings.Join(empty, ", ")))
	}
	if 2*len(odd) > q-len(empty) {
		t.Notes = append(t.Notes,
			fmt.Sprintf("of most classes (%s) another label is more frequent than the right one: are rows "+
				"and columns in the same order?", labelfile.Quoted(odd)))
	}
}

// Share returns V with each column divided by its sum: P(noisy = p | true = q). The error names
// a class of which there is no example.
func (t *Table) Share() (*Matrix, error) {
	m, err := New(t.Classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	for c := range q {
		sum := 0.0
		for p := range q {
			sum += t.V[p*q+c]
		}
		if !(sum > 0) {
			return nil, fmt.Errorf("table: no example has the true class %.60q: add some, or smooth the "+
				"estimate", t.Classes[c])
		}
		for p := range q {
			m.P[p*q+c] = t.V[p*q+c] / sum
		}
	}
	return m, m.Check()
}
