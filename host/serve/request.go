package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// fault is what is wrong with a request, and where.
type fault struct {
	status  int
	Message string `json:"error"`
	Row     *int   `json:"row,omitempty"`    // from 0, as in rows
	Column  *int   `json:"column,omitempty"` // from 0, as in a row
	Field   string `json:"field,omitempty"`  // the name of that column, if it has one
	Line    int    `json:"line,omitempty"`   // of a CSV, from 1
}

func (f *fault) Error() string { return f.Message }

func faultf(status int, format string, args ...any) *fault {
	return &fault{status: status, Message: fmt.Sprintf(format, args...)}
}

// read returns the examples of a request, raw, with the model's features in their order, and what
// is strange about them.
func (s *Server) read(ctx context.Context, r *http.Request, body io.Reader) (x dataset.Examples,
	warnings []string, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form, ok := map[string]string{"application/json": "json", "text/csv": "csv", npyType: "npy"}[kind]
	if err != nil || !ok {
		return x, nil, faultf(http.StatusUnsupportedMediaType,
			"found the Content-Type %.100q, wanted application/json, text/csv or "+
				""+npyType, r.Header.Get("Content-Type"))
	}
	text := new(bytes.Buffer)
	text.Grow(int(min(max(0, r.ContentLength), s.o.MaxBody)) + bytes.MinRead)
	if _, err := text.ReadFrom(body); err != nil {
		if limit, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return x, nil, faultf(http.StatusRequestEntityTooLarge,
				"found more than %[1]d bytes, wanted at most %[1]d; send the rows in several "+
					"requests", limit.Limit)
		}
		return x, nil, faultf(http.StatusBadRequest, "cannot read the request: %v", err)
	}
	if form == "json" {
		return s.readJSON(text.Bytes())
	}
	return s.readFile(ctx, bytes.NewReader(text.Bytes()), form)
}

// npyType is the unregistered Content-Type of a NumPy array.
const npyType = "application/x-npy"

// readFile reads a data file as uma-gpu predict --no-labels does.
func (s *Server) readFile(ctx context.Context, body *bytes.Reader, format string) (dataset.Examples,
	[]string, error) {
	o := s.m.ReadOptions()
	o.Format, o.NoLabels = format, true
	d, err := file.ReadFrom(ctx, body, "request", o)
	switch {
	case err != nil && ctx.Err() != nil:
		return dataset.Examples{}, nil, ctx.Err()
	case err != nil:
		f := faultf(http.StatusBadRequest, "%v", err)
		if _, err := fmt.Sscanf(f.Message, "request:%d:", &f.Line); err != nil {
			f.Line = 0 // the message belongs to no line
		}
		return dataset.Examples{}, nil, f
	case d.N > s.o.MaxRows:
		return dataset.Examples{}, nil, s.tooManyRows(d.N)
	}
	return d.Examples, d.Warnings, nil
}

func (s *Server) tooManyRows(n int) error {
	return faultf(http.StatusRequestEntityTooLarge,
		"found %d rows, wanted at most %d; send them in several requests", n, s.o.MaxRows)
}

// readJSON reads {"rows": [[1, 2], …]}, with the names of the "columns" or without. A row may be
// sparse: {"columns": [0, 7], "values": [1, 2]}. Where the model was trained on a table of more
// than numbers, rows are of that.
func (s *Server) readJSON(text []byte) (none dataset.Examples, warnings []string, err error) {
	var in struct {
		Columns []string          `json:"columns"`
		Rows    []json.RawMessage `json:"rows"`
	}
	if err := strictly(text, &in); err != nil {
		return none, nil, faultf(http.StatusBadRequest, "%v", err)
	}
	e := s.m.Meta.Features.Encoding
	if e != nil && len(in.Rows) > 0 && len(in.Rows) <= s.o.MaxRows && file.Made(e, in.Columns) {
		return s.readTable(in.Columns, in.Rows)
	}
	width := s.m.Meta.Features.Count
	if in.Columns != nil {
		if width = len(in.Columns); s.m.Meta.Features.Names == nil && width != s.m.Meta.Features.Count {
			return none, nil, faultf(http.StatusBadRequest,
				"columns: found %d, wanted %d, the features of the model", width, s.m.Meta.Features.Count)
		}
	}
	switch n := len(in.Rows); {
	case n == 0:
		return none, nil, faultf(http.StatusBadRequest, "rows: found none, wanted at least one")
	case n > s.o.MaxRows:
		return none, nil, s.tooManyRows(n)
	case width == 0:
		return none, nil, faultf(http.StatusBadRequest,
			"columns: found none, wanted names, or no columns at all")
	}
	x, err := s.readRows(in.Rows, width)
	if err != nil {
		if f, ok := errors.AsType[*fault](err); ok && f.Column != nil {
			f.Field = fieldName(in.Columns, s.m.Meta.Features.Names, *f.Column)
		}
		return none, nil, err
	}
	if in.Columns == nil {
		return x, nil, nil
	}
	d := &dataset.Dataset{Found: dataset.Found{Path: "columns"}, Examples: x, Features: in.Columns}
	if err := d.MatchFeatures(s.m.Meta.Features.Names); err != nil {
		return none, nil, faultf(http.StatusBadRequest, "%v", err)
	}
	return d.Examples, nil, nil
}

// fieldName is the name of column j: as the request says, else as the model does.
func fieldName(columns, names []string, j int) string {
	if columns == nil {
		columns = names
	}
	if j < len(columns) {
		return columns[j]
	}
	return ""
}

// readRows makes examples of width columns: sparse if the first row is and the model can be, else
// dense.
func (s *Server) readRows(rows []json.RawMessage, width int) (x dataset.Examples, err error) {
	x = dataset.Examples{N: len(rows), D: width}
	if isSparse(rows[0]) && !s.m.Meta.Preparation.Fills() {
		x.Starts = []int64{0}
		for i, row := range rows {
			if !isSparse(row) {
				return x, at(i, -1, "found a row of another form than the first, wanted all of one form")
			}
			columns, values, err := sparseRow(row, i, width)
			if err != nil {
				return x, err
			}
			x.Columns, x.Values = append(x.Columns, columns...), append(x.Values, values...)
			x.Starts = append(x.Starts, int64(len(x.Values)))
		}
		return x, nil
	}
	if len(rows) > maxValues/width {
		return x, faultf(http.StatusRequestEntityTooLarge,
			"found %d rows of %d features, wanted at most %d numbers in all; send them in several "+
				"requests", len(rows), width, maxValues)
	}
	x.X = make([]float32, len(rows)*width)
	for i, row := range rows {
		dst := x.X[i*width : (i+1)*width]
		if !isSparse(row) {
			if err := denseRow(dst, row, i); err != nil {
				return x, err
			}
			continue
		}
		columns, values, err := sparseRow(row, i, width)
		if err != nil {
			return x, err
		}
		for k, j := range columns {
			dst[j] = values[k]
		}
	}
	return x, nil
}

func isSparse(row json.RawMessage) bool { return row[0] == '{' }

// at is a fault of row i and, if it is not below 0, column j.
func at(i, j int, format string, args ...any) error {
	f := faultf(http.StatusBadRequest, format, args...)
	f.Row = &i
	if j >= 0 {
		f.Column = &j
	}
	return f
}

// denseRow reads a list of numbers, which is known to be JSON, into dst.
func denseRow(dst []float32, row []byte, i int) error {
	if row[0] != '[' {
		return at(i, -1, "found %.40q, wanted a list of %d numbers, or columns and values", row, len(dst))
	}
	rest := bytes.TrimSpace(row[1 : len(row)-1])
	j := 0
	for more := len(rest) > 0; more; j++ {
		var token []byte
		token, rest, more = bytes.Cut(rest, []byte(","))
		v, err := number(bytes.TrimSpace(token), i, j)
		if err != nil {
			return err
		}
		if j < len(dst) {
			dst[j] = v
		}
	}
	if j != len(dst) {
		return at(i, -1, "found %d numbers, wanted %d, one for each feature", j, len(dst))
	}
	return nil
}

// number reads a number as files are read: rounded once, and 0 if float32 holds it only in part.
func number(token []byte, i, j int) (float32, error) {
	if len(token) == 0 || token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return 0, at(i, j, "found %.40q, wanted a number", token)
	}
	v, err := strconv.ParseFloat(string(token), 32)
	if err != nil {
		return 0, at(i, j, "found %.40q, wanted a number that float32 can hold", token)
	}
	if v < 0x1p-126 && v > -0x1p-126 {
		return 0, nil
	}
	return float32(v), nil
}

// sparseRow reads columns from 0, increasing, and as many values.
func sparseRow(row []byte, i, width int) ([]int32, []float32, error) {
	var in struct {
		Columns []int32       `json:"columns"`
		Values  []json.Number `json:"values"`
	}
	if err := strictly(row, &in); err != nil {
		return nil, nil, at(i, -1, "%v", err)
	}
	if len(in.Columns) != len(in.Values) {
		return nil, nil, at(i, -1, "found %d columns and %d values, wanted as many", len(in.Columns),
			len(in.Values))
	}
	values := make([]float32, len(in.Values))
	for k, j := range in.Columns {
		if j < 0 || int(j) >= width || k > 0 && j <= in.Columns[k-1] {
			return nil, nil, at(i, -1,
				"found column %d at place %d, wanted columns from 0 to %d, increasing", j, k, width-1)
		}
		v, err := number([]byte(in.Values[k]), i, int(j))
		if err != nil {
			return nil, nil, err
		}
		values[k] = v
	}
	return in.Columns, values, nil
}

// strictly decodes one JSON value that has no fields but those of v.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if err == io.EOF {
			return errors.New("found nothing, wanted JSON")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("found more behind the JSON value, wanted nothing")
	}
	return nil
}
