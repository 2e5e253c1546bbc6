package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// jsonFormat is the version of the JSON form. It grows when a reader of the old would go wrong.
const jsonFormat = 1

// writeJSON writes m as one JSON object, a row of a matrix to a line, each float32 as the shortest
// number that reads back as it. docs/export.md describes the fields. Errors: those of w.
func writeJSON(w io.Writer, m *model.Model) error {
	t := &m.Meta
	object := fields{
		{"format", "uma-gpu model"}, {"version", jsonFormat},
		{"classes", t.Classes}, {"features", t.Features}, {"preparation", preparationOf(&t.Preparation)},
	}
	if k := t.Kernel; k != nil {
		object = append(object, field{"kernel", kernelOf(k, m.Projection)})
	}
	object = append(object, field{"weights", denseRows(m.W, m.D)})
	if t.Temperature != 0 {
		object = append(object, field{"temperature", t.Temperature})
	}
	object = append(object, field{"provenance", m.Meta.Provenance()})
	b := bufio.NewWriterSize(w, 1<<16)
	if err := object.write(b, "\n"); err != nil {
		return err
	}
	if err := b.WriteByte('\n'); err != nil {
		return err
	}
	return b.Flush()
}

func preparationOf(p *dataset.Preparation) fields {
	object := fields{{"steps", p.Steps}}
	if p.A != nil {
		object = append(object, field{"factors", p.A}, field{"offsets", p.B})
	}
	return object
}

func kernelOf(k *model.Kernel, p *model.Projection) fields {
	landmarks := denseRows(p.Landmarks.X, p.Landmarks.D)
	if p.Landmarks.Sparse() {
		landmarks = matrix{p.Landmarks.N, func(l int) any {
			columns, values := p.Landmarks.SparseRow(l)
			return sparseRow{columns, values}
		}}
	}
	return fields{
		{"function", k.Function}, {"cosine", k.Cosine}, {"landmarks", landmarks},
		{"axes", denseRows(p.Axes, k.Landmarks)}, {"offsets", p.Offset}, {"preparation",
			preparationOf(&k.Preparation)},
	}
}

// fields are an object whose order counts.
type fields []field

type field struct {
	name  string
	value any // what package json writes, fields or a matrix
}

// matrix is a list of rows, which stand on a line each.
type matrix struct {
	rows int
	row  func(i int) any
}

// sparseRow is a landmark that stores its nonzero values alone.
type sparseRow struct {
	Columns []int32   `json:"columns"` // from 0, increasing
	Values  []float32 `json:"values"`
}

func denseRows(x []float32, width int) matrix {
	return matrix{len(x) / width, func(i int) any { return x[i*width : (i+1)*width] }}
}

// write writes an object with a field to a line, each behind the indent, which begins with a line
// break.
func (f fields) write(b *bufio.Writer, indent string) error {
	inner := indent + "  "
	for k, field := range f {
		separator := byte(',')
		if k == 0 {
			separator = '{'
		}
		b.WriteByte(separator) // a bufio.Writer keeps its first error
		b.WriteString(inner)
		if err := writeValue(b, field.name, ""); err != nil {
			return err
		}
		b.WriteString(": ")
		if err := writeValue(b, field.value, inner); err != nil {
			return err
		}
	}
	b.WriteString(indent)
	return b.WriteByte('}')
}

func writeValue(b *bufio.Writer, v any, indent string) error {
	switch v := v.(type) {
	case fields:
		return v.write(b, indent)
	case matrix:
		for i := range v.rows {
			separator := byte(',')
			if i == 0 {
				separator = '['
			}
			b.WriteByte(separator)
			b.WriteString(indent + "  ")
			if err := writeValue(b, v.row(i), ""); err != nil {
				return err
			}
		}
		b.WriteString(indent)
		return b.WriteByte(']')
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := b.Write(bytes.TrimSpace(text.Bytes()))
	return err
}
