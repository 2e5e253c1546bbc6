package file

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// array is what an .npy file holds, or a member of an .npz.
type array struct {
	name  string // of the member
	dtype string // in the words of NumPy
	shape []int
	parts int                          // how often to call put
	put   func(b []byte, k int) []byte // appends the bytes of part k, from 0
}

// write writes the array, some parts at a time.
func (a array) write(w io.Writer) error {
	const enough = 1 << 16
	block := npyfile.Header(a.dtype, a.shape...)
	for k := range a.parts {
		if block = a.put(block, k); len(block) >= enough {
			if _, err := w.Write(block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	_, err := w.Write(block)
	return err
}

func writeNPY(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
	if d.Y != nil {
		return errors.New("dataset: an .npy file has no place for the labels; write .npz, or read the " +
			"data without labels")
	}
	if err := checkRow(d.D); err != nil {
		return err
	}
	return matrixArray(d.Examples).write(w.w)
}

// writeNPZ writes stored members of zip's oldest date: the same data, the same bytes. Prepared
// examples have a Description.
func writeNPZ(w *lineWriter, d *dataset.Dataset, o WriteOptions) error {
	a := newArchive(w.w)
	if err := a.matrix(w.ctx, d, o.Rows); err != nil {
		return err
	}
	switch {
	case d.Prepared != nil:
		if err := a.described(d); err != nil {
			return err
		}
	case d.Y != nil:
		y, err := labelArray(d)
		if err == nil {
			err = a.array(y)
		}
		if err != nil {
			return err
		}
	}
	return a.zip.Close()
}

// archive writes an .npz whose first array begins at a multiple of 64 bytes, to be mapped.
type archive struct {
	zip *zip.Writer
	to  *counted
}

// counted counts the bytes that it writes.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func newArchive(w io.Writer) *archive {
	to := &counted{w: w}
	return &archive{zip.NewWriter(to), to}
}

// member begins a member, behind padding.
func (a *archive) member(name string) (io.Writer, error) {
	if err := a.zip.Flush(); err != nil {
		return nil, err
	}
	const (
		head, date = 30, 9 // bytes of a local header, and of the date that the library adds to it
		align      = 64
	)
	padding := []byte{0x35, 0xd9, 0, 0} // the kind of field that zipalign takes
	before := a.to.n + int64(head+len(name)+len(padding)+date)
	padding[2] = byte(-before & (align - 1))
	padding = append(padding, make([]byte, padding[2])...)
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Extra: padding,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
}

func (a *archive) array(x array) error {
	w, err := a.member(x.name + ".npy")
	if err != nil {
		return err
	}
	return x.write(w)
}

// matrix writes the features, which rows makes unless it is nil.
func (a *archive) matrix(ctx context.Context, d *dataset.Dataset, rows func(dst []float32,
	first int) error) error {
	switch {
	case rows != nil:
		w, err := a.member("X.npy")
		if err == nil {
			_, err = w.Write(npyfile.Header("<f4", d.N, d.D))
		}
		if err != nil {
			return err
		}
		return writeRows(ctx, w, d, rows)
	case !d.Sparse():
		return a.array(matrixArray(d.Examples))
	}
	for _, x := range sparseArrays(d.Examples) {
		if err := a.array(x); err != nil {
			return err
		}
	}
	return nil
}

// described writes the classes of the examples, and what arrays cannot say.
func (a *archive) described(d *dataset.Dataset) error {
	e, q := d.Evidence, len(d.Classes)
	if e != nil {
		several, unknown, distributions := e.Sets(q)
		if e.Weight != nil || several > unknown || distributions > 0 {
			return fmt.Errorf("dataset: found weights or candidate classes, which an .npz does not keep, " +
				"wanted a class or none for each example")
		}
	}
	if d.Y != nil {
		y := array{"y", "<i4", []int{d.N}, d.N, func(b []byte, i int) []byte {
			class := d.Y[i]
			if e != nil && e.Unknown(i, q) {
				class = dataset.Unlabelled
			}
			return binary.LittleEndian.AppendUint32(b, uint32(class))
		}}
		if err := a.array(y); err != nil {
			return err
		}
	}
	text, err := json.Marshal(Description{Classes: d.Classes, Features: d.Features, Label: d.Label,
		LabelColumn: d.LabelColumn, Encoding: d.Encoding, Preparation: d.Prepared, SHA256: d.SHA256,
		Subnormals: d.Subnormals, Notes: slices.Concat(d.Notes, d.Warnings)})
	if err != nil {
		return fmt.Errorf("dataset: %s: %w", DescriptionName, err)
	}
	w, err := a.member(DescriptionName)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// matrixArray is the dense matrix of the features. It holds a whole row.
func matrixArray(e dataset.Examples) array {
	buffer := make([]float32, e.D)
	return array{"X", "<f4", []int{e.N, e.D}, e.N, func(b []byte, i int) []byte {
		return appendFloats(b, e.DenseRow(buffer, i))
	}}
}

// sparseArrays are the arrays of scipy.sparse.save_npz.
func sparseArrays(e dataset.Examples) []array {
	return []array{
		{"indices", "<i4", []int{len(e.Columns)}, e.N, func(b []byte, i int) []byte {
			columns, _ := e.SparseRow(i)
			for _, j := range columns {
				b = binary.LittleEndian.AppendUint32(b, uint32(j))
			}
			return b
		}},
		startArray(e.Starts),
		{"format", "|S3", nil, 1, func(b []byte, _ int) []byte { return append(b, "csr"...) }},
		integerArray("shape", 2, func(k int) int64 { return int64([2]int{e.N, e.D}[k]) }),
		{"data", "<f4", []int{len(e.Values)}, e.N, func(b []byte, i int) []byte {
			_, values := e.SparseRow(i)
			return appendFloats(b, values)
		}},
	}
}

// startArray is the rows' beginnings, of 32 bits if they fit, as SciPy wants.
func startArray(starts []int64) array {
	if starts[len(starts)-1] > math.MaxInt32 {
		return integerArray("indptr", len(starts), func(i int) int64 { return starts[i] })
	}
	return array{"indptr", "<i4", []int{len(starts)}, len(starts), func(b []byte, i int) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(starts[i]))
	}}
}

// labelArray is the class name of each example.
func labelArray(d *dataset.Dataset) (array, error) {
	numbers := make([]int64, len(d.Classes))
	for q, name := range d.Classes {
		var err error
		if numbers[q], err = strconv.ParseInt(name, 10, 64); err != nil || strconv.FormatInt(numbers[q],
			10) != name {
			return textArray(d) // 01, +1 and -0 are names that a number would not keep
		}
	}
	return integerArray("y", d.N, func(i int) int64 { return numbers[d.Y[i]] }), nil
}

// textArray is the class name of each example in UTF-32, filled up with zeros.
func textArray(d *dataset.Dataset) (array, error) {
	const most = 1 << 16 // that the reader takes
	width := 0
	for _, name := range d.Classes {
		n := utf8.RuneCountInString(name)
		if n > most {
			return array{}, fmt.Errorf("dataset: class name %s has %d characters, wanted at most %d in an "+
				".npz file; rename the class", quote.Text(name), n, most)
		}
		width = max(width, n)
	}
	what := fmt.Sprintf("the names of %d classes in %d characters each", len(d.Classes), width)
	if err := memory.Check(memory.Product(len(d.Classes), width, 4), what); err != nil {
		return array{}, err
	}
	texts := make([][]byte, len(d.Classes))
	for q, name := range d.Classes {
		texts[q] = make([]byte, 0, 4*width)
		for _, r := range name {
			texts[q] = binary.LittleEndian.AppendUint32(texts[q], uint32(r))
		}
		texts[q] = texts[q][:4*width]
	}
	return array{"y", "<U" + strconv.Itoa(width), []int{d.N}, d.N, func(b []byte, i int) []byte {
		return append(b, texts[d.Y[i]]...)
	}}, nil
}

func integerArray(name string, n int, element func(i int) int64) array {
	return array{name, "<i8", []int{n}, n, func(b []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(b, uint64(element(i)))
	}}
}

func appendFloats(b []byte, values []float32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// writeRows writes the rows of d that rows makes, some at a time.
func writeRows(ctx context.Context, w io.Writer, d *dataset.Dataset,
	rows func(dst []float32, first int) error) error {
	const values = 1 << 20 // at a time
	most := min(d.N, max(1, values/d.D))
	if err := memory.Check(memory.Product(most, d.D, 4), "some rows to write"); err != nil {
		return err
	}
	block := make([]float32, most*d.D)
	for first := 0; first < d.N; first += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := block[:min(most, d.N-first)*d.D]
		if err := rows(part, first); err != nil {
			return err
		}
		if err := npyfile.Write(w, part); err != nil {
			return err
		}
	}
	return nil
}
