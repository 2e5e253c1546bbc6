package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// What predict writes of each example and class, by the names of the flags that ask for it.
const (
	probabilities = "proba"
	scores        = "scores"
)

// tableFlags ask for numbers of each example and class in place of class names.
func tableFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: probabilities, Usage: "write the probability of each class"},
		&cli.BoolFlag{Name: scores, Usage: "write the score of each class; the largest decides"},
		&cli.StringFlag{Name: "to", Value: "auto",
			Usage: "`FORMAT` of these: auto (the name of --out says), csv, jsonl or npy"},
	}
}

const tableHelp = "--proba and --scores write a row for each example instead: a CSV table whose columns are the\n" +
	"example's id (--id-column) or number, from 1 in the order read, and the classes; in a file named\n" +
	".jsonl a JSON object on each line; in an .npy float32, examples × classes in eval's order.\n" +
	"Probabilities want a model with a temperature, which train and calibrate fit."

// table says what numbers are to be written, and how.
type table struct {
	what   string // probabilities, scores, or "" for class names alone
	format string // csv, jsonl or npy
}

// tableOf checks the flags of tableFlags.
func tableOf(c *cli.Context) (t table, err error) {
	for _, what := range []string{probabilities, scores} {
		if !c.Bool(what) {
			continue
		}
		if t.what != "" {
			return t, app.Usagef(c, "--%s and --%s exclude each other", t.what, what)
		}
		t.what = what
	}
	if t.format, err = app.OneOf(c, "to", "auto", "csv", "jsonl", "npy"); err != nil {
		return t, err
	}
	if t.what == "" {
		if c.IsSet("to") {
			return t, app.Usagef(c, "--to is given without --%s or --%s", probabilities, scores)
		}
		return t, nil
	}
	out := c.String("out")
	if app.PackedText(out) != "" {
		return t, app.Usagef(c, "--out is %s, wanted a name without .gz or .zst: tables are not packed", out)
	}
	if t.format == "auto" {
		switch strings.ToLower(filepath.Ext(out)) {
		case ".npy":
			t.format = "npy"
		case ".jsonl", ".ndjson":
			t.format = "jsonl"
		default:
			t.format = "csv"
		}
	}
	if t.format == "npy" && c.IsSet("id-column") {
		return t, app.Usagef(c, "--id-column is given with an .npy, which has no place for ids; write .csv or .jsonl")
	}
	return t, nil
}

// write writes the numbers of r.scores.
func (t table) write(w io.Writer, r classified) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch t.format {
	case "npy":
		if _, err = b.Write(npyfile.Header("<f4", len(r.predicted), len(r.classes))); err == nil {
			err = npyfile.Write(b, r.scores)
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
func writeCSV(b *bufio.Writer, r classified) error {
	w := csv.NewWriter(b)
	fields := append([]string{"example"}, r.classes...)
	if r.data.IDs != nil {
		fields[0] = "id"
	}
	if err := w.Write(fields); err != nil {
		return err
	}
	for i := range r.predicted {
		if fields[0] = strconv.Itoa(i + 1); r.data.IDs != nil {
			fields[0] = r.data.IDs[i]
		}
		for k, v := range r.row(i) {
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
func (t table) writeLines(b *bufio.Writer, r classified) error {
	what := "scores"
	if t.what == probabilities {
		what = "probabilities"
	}
	names := make([][]byte, len(r.classes))
	for k, name := range r.classes {
		names[k] = jsonText(name)
	}
	var line []byte
	for i, class := range r.predicted {
		line = strconv.AppendInt(append(line[:0], `{"example":`...), int64(i+1), 10)
		if r.data.IDs != nil {
			line = append(append(line, `,"id":`...), jsonText(r.data.IDs[i])...)
		}
		line = append(append(line, `,"class":`...), names[class]...)
		line = append(append(append(line, `,"`...), what...), '"', ':')
		for k, v := range r.row(i) {
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
func (r classified) row(i int) []float32 {
	q := len(r.classes)
	return r.scores[i*q : (i+1)*q]
}
