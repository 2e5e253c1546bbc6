package predict

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// What predict writes of each example and class, by the names of the flags that ask for it.
const (
	probabilities = "proba"
	scores        = "scores"
)

const tableHelp = "--proba and --scores write a row for each example instead: a CSV table whose " +
	"columns are the\nexample's id (--id-column) or number, from 1 in the order read, and the " +
	"classes; in a file " +
	"named\n.jsonl a JSON object on each line; in an .npy float32, examples × classes in eval's " +
	"order.\nProbabilities want a model with a temperature, which train and calibrate fit."

// table says what numbers are to be written, and how.
type table struct {
	what   string // probabilities, scores, or "" for class names alone
	format string // csv, jsonl or npy
}

// table checks what numbers are to be written, and how.
func (o *Options) table() (t table, err error) {
	switch {
	case o.Probabilities && o.Scores:
		return t, app.Usage("--%s and --%s exclude each other", probabilities, scores)
	case o.Probabilities:
		t.what = probabilities
	case o.Scores:
		t.what = scores
	case o.Given("to"):
		return t, app.Usage("--to is given without --%s or --%s", probabilities, scores)
	default:
		return t, nil
	}
	if app.PackedText(o.Out) != "" {
		return t, app.Usage("--out is %s, wanted a name without .gz or .zst: tables are not packed",
			o.Out)
	}
	if t.format = o.To; t.format == "auto" {
		switch strings.ToLower(filepath.Ext(o.Out)) {
		case ".npy":
			t.format = "npy"
		case ".jsonl", ".ndjson":
			t.format = "jsonl"
		default:
			t.format = "csv"
		}
	}
	if t.format == "npy" && o.Given("id-column") {
		return t, app.Usage("--id-column is given with an .npy, which has no place for ids; write .csv " +
			"or .jsonl")
	}
	return t, nil
}

// write writes the numbers of r.scores.
func (t table) write(w io.Writer, r classify.Classified) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch t.format {
	case "npy":
		if _, err = b.Write(npyfile.Header("<f4", len(r.Predicted), len(r.Classes))); err == nil {
			err = npyfile.Write(b, r.Scores)
		}
	case "jsonl":
		err = t.writeLines(b, r)
	default:
		err = writeCSV(b, r)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// writeCSV writes a table whose numbers read back as they are.
func writeCSV(b *bufio.Writer, r classify.Classified) error {
	w := csv.NewWriter(b)
	fields := append([]string{"example"}, r.Classes...)
	if r.Data.IDs != nil {
		fields[0] = "id"
	}
	if err := w.Write(fields); err != nil {
		return err
	}
	for i := range r.Predicted {
		if fields[0] = strconv.Itoa(i + 1); r.Data.IDs != nil {
			fields[0] = r.Data.IDs[i]
		}
		for k, v := range row(r, i) {
			fields[k+1] = strconv.FormatFloat(float64(v), 'g', -1, 32)
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeLines writes objects such as {"example":1,"class":"a","probabilities":{"a":0.75,"b":0.25}}.
func (t table) writeLines(b *bufio.Writer, r classify.Classified) error {
	what := "scores"
	if t.what == probabilities {
		what = "probabilities"
	}
	names := make([][]byte, len(r.Classes))
	for k, name := range r.Classes {
		names[k] = jsonText(name)
	}
	var line []byte
	for i, class := range r.Predicted {
		line = strconv.AppendInt(append(line[:0], `{"example":`...), int64(i+1), 10)
		if r.Data.IDs != nil {
			line = append(append(line, `,"id":`...), jsonText(r.Data.IDs[i])...)
		}
		line = append(append(line, `,"class":`...), names[class]...)
		line = append(append(append(line, `,"`...), what...), '"', ':')
		for k, v := range row(r, i) {
			separator := byte(',')
			if k == 0 {
				separator = '{'
			}
			line = append(append(append(line, separator), names[k]...), ':')
			if v-v != 0 { // an infinite score, which JSON has no number for
				line = append(line, "null"...)
				continue
			}
			line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
		}
		if _, err := b.Write(append(line, "}}\n"...)); err != nil {
			return err
		}
	}
	return nil
}

// jsonText is a text as JSON.
func jsonText(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	e.Encode(text)         // of a string, to memory: nothing can fail
	return bytes.TrimSpace(b.Bytes())
}

// row returns the numbers of example i.
func row(r classify.Classified, i int) []float32 {
	q := len(r.Classes)
	return r.Scores[i*q : (i+1)*q]
}
