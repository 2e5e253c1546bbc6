package file

import (
	"archive/zip"
	"bufio"
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
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

func writeNPY(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
	if d.Y != nil {
		return errors.New("dataset: an .npy file has no place for the labels; write .npz, or read the " +
			"data without labels")
	}
	if _, err := w.w.Write(npyfile.Header("<f4", d.N, d.D)); err != nil {
		return err
	}
	return writeRows(w.ctx, w.w, d, nil)
}

// writeNPZ writes stored members of zip's oldest date: the same data, the same bytes. Prepared
// examples, columns with origins, and labels of which some lack have a Description.
func writeNPZ(w *lineWriter, d *dataset.Dataset, o WriteOptions) error {
	to := &counted{w: w.w}
	a := &archive{zip.NewWriter(to), to}
	var err error
	if d.Sparse() {
		err = a.sparse(d.Examples)
	} else {
		err = a.array("X", "<f4", []int{d.N, d.D}, func(to io.Writer) error {
			return writeRows(w.ctx, to, d, o.Rows)
		})
	}
	switch {
	case err != nil:
	case d.Prepared != nil || d.Encoding.Origins() != nil || dataset.WithoutLabel(d) != nil:
		err = a.described(d)
	case d.Y != nil:
		err = a.labels(d)
	}
	if err != nil {
		return err
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

// array writes an array, whose elements write writes.
func (a *archive) array(name, dtype string, shape []int, write func(w io.Writer) error) error {
	m, err := a.member(name + ".npy")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(m, 1<<16)
	w.Write(npyfile.Header(dtype, shape...)) // Flush returns the error
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// sparse writes the arrays of scipy.sparse.save_npz.
func (a *archive) sparse(e dataset.Examples) error {
	for _, x := range []struct {
		name, dtype string
		shape       []int
		write       func(w io.Writer) error
	}{
		{"indices", "<i4", []int{len(e.Columns)}, func(w io.Writer) error {
			return npyfile.Write(w, e.Columns)
		}},
		{"indptr", startType(e.Starts), []int{len(e.Starts)}, func(w io.Writer) error {
			if startType(e.Starts) == "<i4" {
				return npyfile.Write(w, lists.As[int32](e.Starts))
			}
			return npyfile.Write(w, e.Starts)
		}},
		{"format", "|S3", nil, func(w io.Writer) error {
			_, err := io.WriteString(w, "csr")
			return err
		}},
		{"shape", "<i8", []int{2}, func(w io.Writer) error {
			return npyfile.Write(w, []int64{int64(e.N), int64(e.D)})
		}},
		{"data", "<f4", []int{len(e.Values)}, func(w io.Writer) error {
			return npyfile.Write(w, e.Values)
		}},
	} {
		if err := a.array(x.name, x.dtype, x.shape, x.write); err != nil {
			return err
		}
	}
	return nil
}

// startType is the type of row starts: 32 bits, as SciPy wants, if they fit.
func startType(starts []int64) string {
	if starts[len(starts)-1] <= math.MaxInt32 {
		return "<i4"
	}
	return "<i8"
}

// described writes the classes of the examples, and what arrays cannot say.
func (a *archive) described(d *dataset.Dataset) error {
	if d.Y != nil {
		y := slices.Clone(d.Y)
		for _, i := range dataset.WithoutLabel(d) {
			y[i] = dataset.Unlabelled
		}
		if err := a.array("y", "<i4", []int{d.N}, func(w io.Writer) error {
			return npyfile.Write(w, y)
		}); err != nil {
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

// labels writes the class name of each example: as an integer if all are, else in UTF-32, filled up
// with zeros.
func (a *archive) labels(d *dataset.Dataset) error {
	const most = 1 << 16 // characters that the reader takes
	integers, width := true, 0
	for _, name := range d.Classes {
		v, err := strconv.ParseInt(name, 10, 64)
		// 01, +1 and -0 are names that a number would not keep
		integers = integers && err == nil && strconv.FormatInt(v, 10) == name
		width = max(width, utf8.RuneCountInString(name))
		if width > most {
			return fmt.Errorf("dataset: class name %s has %d characters, wanted at most %d in an .npz "+
				"file; rename the class", quote.Text(name), width, most)
		}
	}
	dtype, each := "<i8", 8
	if !integers {
		dtype, each = "<U"+strconv.Itoa(width), 4*width
	}
	what := fmt.Sprintf("the names of %d classes in %d characters each", len(d.Classes), width)
	if err := memory.Check(memory.Product(len(d.Classes), each), what); err != nil {
		return err
	}
	names := make([][]byte, len(d.Classes))
	for q, name := range d.Classes {
		names[q] = make([]byte, 0, each)
		if integers {
			v, _ := strconv.ParseInt(name, 10, 64) // as above
			names[q] = binary.LittleEndian.AppendUint64(names[q], uint64(v))
			continue
		}
		for _, r := range name {
			names[q] = binary.LittleEndian.AppendUint32(names[q], uint32(r))
		}
		names[q] = names[q][:each]
	}
	return a.array("y", dtype, []int{d.N}, func(w io.Writer) error {
		for _, y := range d.Y {
			if _, err := w.Write(names[y]); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeRows writes the dense rows of d, some at a time, which rows makes unless it is nil.
func writeRows(ctx context.Context, w io.Writer, d *dataset.Dataset,
	rows func(dst []float32, first int) error) error {
	if rows == nil && !d.Sparse() {
		return npyfile.Write(w, d.X)
	}
	if rows == nil {
		rows = func(dst []float32, first int) error {
			for i := range len(dst) / d.D {
				d.DenseRow(dst[i*d.D:(i+1)*d.D], first+i)
			}
			return nil
		}
	}
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
