package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// readTable makes examples of rows of a table of more than numbers, as the training data were: a
// row is a list of texts, numbers, truths and, for missing values, nulls.
func (s *Server) readTable(columns []string, rows []json.RawMessage,
) (dataset.Examples, []string, error) {
	encoding := s.m.Meta.Features.Encoding
	table := make([][]*string, len(rows))
	cells := 0
	for i, row := range rows {
		var err error
		if table[i], err = tableRow(row, i); err != nil {
			return dataset.Examples{}, nil, err
		}
		if cells += len(table[i]); cells > maxValues {
			return dataset.Examples{}, nil, faultf(http.StatusRequestEntityTooLarge,
				"found more than %[1]d values, wanted at most %[1]d; send the rows in several requests",
				maxValues)
		}
	}
	x, warnings, err := file.Encode(encoding, columns, table, "")
	if cell, ok := errors.AsType[*file.CellError](err); ok {
		err := at(cell.Row, cell.Column, "%s", cell.Fault)
		if f, ok := errors.AsType[*fault](err); ok && cell.Column >= 0 {
			f.Field = fieldName(columns, encoding.ColumnNames(), cell.Column)
		}
		return x, nil, err
	}
	if err != nil {
		return x, nil, faultf(http.StatusBadRequest, "%v", err)
	}
	if s.m.Meta.Preparation.Fills() {
		if x.N > maxValues/x.D {
			return x, nil, faultf(http.StatusRequestEntityTooLarge,
				"found %d rows of %d features, wanted at most %d numbers in all; send them in several "+
					"requests", x.N, x.D, maxValues)
		}
		x = x.Dense()
	}
	return x, warnings, nil
}

// tableRow reads a list of texts, numbers, truths and nulls.
func tableRow(row json.RawMessage, i int) ([]*string, error) {
	if row[0] != '[' {
		return nil, at(i, -1, "found %.40q, wanted a list of a value for each column", row)
	}
	var values []any
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, at(i, -1, "%v", err)
	}
	cells := make([]*string, len(values))
	for j, value := range values {
		text := ""
		switch v := value.(type) {
		case nil:
			continue
		case string:
			text = v
		case json.Number:
			text = v.String()
		case bool:
			if text = "false"; v {
				text = "true"
			}
		default:
			return nil, at(i, j, "found a list or an object, wanted a text, a number, true, false or null")
		}
		cells[j] = &text
	}
	return cells, nil
}
