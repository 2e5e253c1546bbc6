package file

import (
	"encoding/json"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// enterJSONL reads lines "[number, …, label]"; the label is a number or a text.
func enterJSONL(b *builder) error {
	if err := refuseColumns(b.src, b.o); err != nil {
		return err
	}
	var values []json.RawMessage
	return b.lines(func(line []byte) (entered bool, err error) {
		if len(decimal.Trim(line)) == 0 {
			return false, nil
		}
		if err := json.Unmarshal(line, &values); err != nil {
			return true, b.src.errorf("found no JSON array, wanted one of numbers: %w", err)
		}
		return true, b.array(values)
	})
}

// array enters the values of one line.
func (b *builder) array(values []json.RawMessage) error {
	d := len(values)
	if d > 0 && b.inline() {
		d--
		var text string
		if values[d][0] == '"' {
			if err := json.Unmarshal(values[d], &text); err != nil {
				return b.src.errorf("label: %w", err)
			}
		} else if text = string(values[d]); !strings.Contains("-0123456789", text[:1]) {
			return b.src.errorf("found the label %s, wanted a number or a text", quote.Text(text))
		}
		if fault := b.labels.set([]byte(text)); fault != "" {
			return b.src.errorf("%s", fault)
		}
	}
	if b.x == nil {
		if err := b.shapeOf(1, d); err != nil {
			return err
		}
		b.width, b.x = d, []float32{}
	}
	if d != b.width {
		return b.src.errorf("found %d features, wanted %d as in the lines before", d, b.width)
	}
	for j, text := range values[:d] {
		v, ok := decimal.Parse(text)
		if !ok {
			return b.src.errorf("feature %d: %s", j+1, decimal.Fault(text))
		}
		if v < decimal.MinNormal && v > -decimal.MinNormal {
			v = decimal.Flush(v, &b.subnormals)
		}
		b.x = append(b.x, v)
	}
	return nil
}

func writeJSONL(w *lineWriter, d *dataset.Dataset, _ WriteOptions) error {
	if err := checkRow(d.D); err != nil {
		return err
	}
	buffer := make([]float32, d.D)
	for i := range d.N {
		for j, v := range d.DenseRow(buffer, i) {
			w.line = append(w.line, "[,"[min(j, 1)])
			w.number(v)
		}
		if d.Y != nil {
			name, err := json.Marshal(d.Classes[d.Y[i]])
			if err != nil {
				return err
			}
			w.line = append(append(w.line, ','), name...)
		}
		w.line = append(w.line, ']')
		if err := w.end(); err != nil {
			return err
		}
		w.row()
	}
	return nil
}
