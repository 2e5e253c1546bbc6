package file

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// WriteOptions say how Write lays out a file. The zero value goes by the name.
type WriteOptions struct {
	// Format is one of Formats, or "auto" (same as ""): by the name, else CSV.
	Format string
	// LabelColumn is where a CSV gets the label: "last" (same as ""), "first" or a position.
	LabelColumn string
	// Rows, if not nil, fills dst with rows from example first on, of dense d that has its shape
	// alone, to write an .npz.
	Rows func(dst []float32, first int) error
	// Put puts what write writes at path; nil means package osfile, whole or not at all.
	Put func(path string, write func(io.Writer) error) error
}

// Write writes d to a file, packed if path ends in .gz or .zst: whole or not at all, the same bytes
// for the same d. Numbers in text have the fewest digits that read back alike. LIBSVM marks an
// unused last column by D:0 and gives 0 as the label of none; an .npy has no labels; a sparse .npz
// is SciPy's CSR, with integers or texts as y; it alone keeps prepared examples. Read
// gives an equal Hash if the classes are in its order and each has an example.
func Write(ctx context.Context, path string, d *dataset.Dataset, o WriteOptions) error {
	name := o.Format
	if name == "" || name == "auto" {
		name = formatOfName(path)
	}
	f, err := formatNamed(name, true)
	if err != nil {
		return err
	}
	if o.Rows != nil {
		err = checkMade(d, path, f)
	} else {
		err = d.CheckAll(ctx)
	}
	if err != nil {
		return err
	}
	for _, c := range d.Classes {
		fault := dataset.ClassFault(c)
		if features.IsMissing([]byte(strings.Trim(c, " \t"))) {
			fault = "means that there is none"
		}
		if fault != "" {
			return fmt.Errorf("%s: class name %s %s, which readers would change", path, quote.Text(c), fault)
		}
	}
	if origins := d.Encoding.Origins(); origins != nil && (f.name == "libsvm" || f.name == "npy") {
		k := slices.IndexFunc(origins, func(v float64) bool { return v != 0 })
		return fmt.Errorf("%s: %s is kept relative to %.15g, as float32 does not hold its values, and "+
			"%s cannot say so; write CSV or .npz", path, dataset.ColumnText(k+1,
			d.Encoding.Columns[k].Name), origins[k], f.name)
	}
	if err := checkEvidence(d, path, f); err != nil {
		return err
	}
	if d.Prepared != nil && f.name != "npz" {
		return fmt.Errorf("%s: found examples prepared by %s, wanted raw ones: %s could not say that "+
			"they are; write the original data, or an .npz", path, d.Prepared.Steps, f.name)
	}
	return o.put(ctx, path, f, d)
}

// checkEvidence refuses what is known of labels besides a class or none of each example.
func checkEvidence(d *dataset.Dataset, path string, f format) error {
	if d.Evidence == nil {
		return nil
	}
	several, unknown, distributions := d.Evidence.Sets(len(d.Classes))
	if d.Evidence.Weight != nil || several > unknown || distributions > 0 {
		return fmt.Errorf("%s: found weights or candidate classes, which a data file does not keep, "+
			"wanted a class or none for each example", path)
	}
	if none := dataset.WithoutLabel(d); none != nil && f.name == "libsvm" {
		return fmt.Errorf("%s: row %d has no label, which a LIBSVM file has no place for; write CSV or "+
			".npz", path, d.SourceRow(none[0])+1)
	}
	return nil
}

// put writes d to path in format f.
func (o WriteOptions) put(ctx context.Context, path string, f format, d *dataset.Dataset) error {
	put := o.Put
	if put == nil {
		put = osfile.Write
	}
	return put(path, func(file io.Writer) error { return writeTo(ctx, file, path, f, d, o) })
}

// writeTo writes d to file in format f; path is only for its name.
func writeTo(ctx context.Context, file io.Writer, path string, f format, d *dataset.Dataset,
	o WriteOptions) error {
	work := progress.Work{Name: "writing " + path, Unit: progress.Bytes}
	switch {
	case f.lines: // whose bytes are not known before
		work.Unit, work.Total = "example", int64(d.N)
	case d.Sparse():
		work.Total = memory.Product(d.Size(), 8) // each with its column
	default:
		work.Total = memory.Product(d.N, d.D, 4)
	}
	_, task := progress.Begin(ctx, work)
	defer task.End()
	packed, err := packer(path, file)
	if err != nil {
		return err
	}
	w := &lineWriter{ctx: ctx, path: path}
	if f.lines {
		w.task, task = task, nil
	}
	if packed == nil {
		w.w = writing{ctx, file, task}
		return f.write(w, d, o)
	}
	w.w = writing{ctx, packed, task}
	if err := f.write(w, d, o); err != nil {
		return err
	}
	return packed.Close()
}

// writing writes to w until ctx ends, looks at ctx every mebibyte, and reports what it wrote.
type writing struct {
	ctx  context.Context
	w    io.Writer
	task *progress.Task
}

func (w writing) Write(p []byte) (n int, err error) {
	const most = 1 << 20
	for {
		if err := w.ctx.Err(); err != nil {
			return n, fmt.Errorf("writing was cancelled: %w", err)
		}
		part := p[n:min(n+most, len(p))]
		k, err := w.w.Write(part)
		w.task.Add(int64(k))
		if n += k; err != nil || n == len(p) {
			return n, err
		}
	}
}

// lineWriter builds one line after the other. What is not made of lines goes to w.
type lineWriter struct {
	ctx  context.Context // of writing, which ends with it
	path string
	w    io.Writer
	task *progress.Task // of examples in lines; nil for arrays
	line []byte
}

// end writes the line.
func (w *lineWriter) end() error {
	w.line = append(w.line, '\n')
	return w.flush()
}

// flush writes what there is of the line.
func (w *lineWriter) flush() error {
	_, err := w.w.Write(w.line)
	w.line = w.line[:0]
	return err
}

// number appends the shortest text that reads back to v.
func (w *lineWriter) number(v float32) {
	w.line = strconv.AppendFloat(w.line, float64(v), 'g', -1, 32)
}

func writeCSV(w *lineWriter, d *dataset.Dataset, o WriteOptions) error {
	delim := byte(',')
	if extension(w.path) == ".tsv" {
		delim = '\t'
	}
	labelAt, idAt, err := positions(d, o)
	if err != nil {
		return err
	}
	// row writes the features with the label and the id among them.
	row := func(feature func(j int), label, id string) error {
		j := 0
		for k := range TableWidth(d) {
			if k > 0 {
				w.line = append(w.line, delim)
			}
			switch k {
			case labelAt:
				w.line = appendField(w.line, label)
			case idAt:
				w.line = appendField(w.line, id)
			default:
				feature(j)
				j++
			}
		}
		return w.end()
	}
	if d.Features != nil {
		names := func(j int) { w.line = appendField(w.line, d.Features[j]) }
		if err := row(names, cmp.Or(d.Label, "label"), cmp.Or(d.ID, "id")); err != nil {
			return err
		}
	}
	if err := checkRow(d.D); err != nil {
		return err
	}
	buffer := make([]float32, d.D)
	number := func(j int, v float32) { w.number(v) }
	if origins := d.Encoding.Origins(); origins != nil && d.Encoding.Plain() {
		number = func(j int, v float32) {
			if origins[j] == 0 {
				w.number(v)
			} else {
				w.line = strconv.AppendFloat(w.line, float64(v)+origins[j], 'f', -1, 64)
			}
		}
	}
	for i := range d.N {
		name, id := "", ""
		if y := dataset.LabelOf(d, i); y >= 0 {
			name = d.Classes[y]
		}
		if d.IDs != nil {
			id = d.IDs[i]
		}
		x := d.DenseRow(buffer, i)
		if err := row(func(j int) { number(j, x[j]) }, name, id); err != nil {
			return err
		}
		w.task.Add(1)
	}
	return nil
}

// positions returns the columns of label and id in a table, -1 if there are none.
func positions(d *dataset.Dataset, o WriteOptions) (label, id int, err error) {
	label, id = -1, -1
	width := TableWidth(d)
	if d.Y != nil {
		if label = columnPosition(cmp.Or(o.LabelColumn, "last"), width); label < 0 {
			return 0, 0, fmt.Errorf("dataset: label column %s, wanted first, last or a position from 1 to "+
				"%d", quote.Text(o.LabelColumn), width)
		}
	}
	if d.IDs != nil {
		// whose columns have become several
		if id = min(max(d.IDColumn, 1), width) - 1; d.Encoding != nil {
			id = 0
		}
		if id == label && id > 0 {
			id--
		} else if id == label {
			id++
		}
	}
	return label, id, nil
}

// TableWidth is how many columns a table of d has: features, label and id.
func TableWidth(d *dataset.Dataset) int {
	width := d.D
	if d.Y != nil {
		width++
	}
	if d.IDs != nil {
		width++
	}
	return width
}

// appendField appends a CSV field, in quotes if a reader could take it apart.
func appendField(line []byte, text string) []byte {
	mark := strings.HasPrefix(text, "\ufeff") || strings.HasPrefix(text, "#")
	return appendCell(line, text, mark || text == "" || strings.ContainsAny(text, "\",;\t\r\n "))
}

// appendCell appends the text of a cell, in quotes if they are needed.
func appendCell(line []byte, text string, quoted bool) []byte {
	if !quoted {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

func writeLIBSVM(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
	alike := map[string]string{}
	for _, name := range d.Classes {
		if other, twice := alike[sameClass(name)]; twice {
			return fmt.Errorf("dataset: class names %s and %s are one number in a LIBSVM file; write CSV "+
				"or rename a class", quote.Text(other), quote.Text(name))
		}
		alike[sameClass(name)] = name
		if strings.ContainsAny(name, " ,:#") {
			return fmt.Errorf("dataset: class name %s does not fit in a LIBSVM file (space, comma, "+
				"colon or #); write CSV or rename the class", quote.Text(name))
		}
	}
	lastUsed := lastColumnUsed(d.Examples)
	var columns []int32
	var values []float32
	for i := range d.N {
		// -0 is not left out: what is read back must have the same bits.
		columns, values = dataset.AppendStored(columns[:0], values[:0], d.Examples, i)
		if d.Y != nil {
			w.line = append(w.line, d.Classes[d.Y[i]]...)
		} else {
			w.line = append(w.line, '0')
		}
		for k, j := range columns {
			w.indexed(int(j)+1, values[k])
		}
		if i == 0 && !lastUsed {
			w.indexed(d.D, 0)
		}
		if err := w.end(); err != nil {
			return err
		}
		w.task.Add(1)
	}
	return nil
}

// indexed appends a LIBSVM field.
func (w *lineWriter) indexed(index int, v float32) {
	w.line = append(w.line, ' ')
	w.line = strconv.AppendInt(w.line, int64(index), 10)
	w.line = append(w.line, ':')
	w.number(v)
}

// lastColumnUsed reports whether some example has a value other than +0 in the last column.
func lastColumnUsed(e dataset.Examples) bool {
	for i := range e.N {
		v := float32(0)
		if !e.Sparse() {
			v = e.X[(i+1)*e.D-1]
		} else if columns, values := e.SparseRow(i); len(columns) > 0 &&
			int(columns[len(columns)-1]) == e.D-1 {
			v = values[len(values)-1]
		}
		if math.Float32bits(v) != 0 {
			return true
		}
	}
	return false
}

// checkMade refuses to write made rows of d at path.
func checkMade(d *dataset.Dataset, path string, f format) error {
	if d.X != nil || d.Sparse() || d.N < 1 || d.D < 1 || f.name != "npz" {
		return fmt.Errorf("%s: asked to write made rows of %d×%d examples with %d values in memory as "+
			"%s, wanted an .npz of dense examples that are made alone", path, d.N, d.D, d.Size(), f.name)
	}
	if memory.Product(d.N, d.D, 4) > math.MaxInt64/2 {
		return fmt.Errorf("%s: %d examples × %d columns are beyond the address space", path, d.N, d.D)
	}
	return d.Validate()
}
