// Package predict is the command that prints the class of each example.
package predict

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

type Options struct {
	classify.Options
	Out           string
	Probabilities bool
	Scores        bool
	To            string // format of these
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "predict",
		Usage: "print the class of each example of a file",
		Description: `Prints one class name per line, in the order of the examples, with no header. Labels
of the file are not used, but must be classes of the model; eval says how right the predictions are.
With --id-column it is a CSV with the columns id and class.

--proba and --scores write a row for each example instead. A CSV table has the example's id
(--id-column) or its number, from 1 in the order read, and a column for each class. A file named
.jsonl has a JSON object on each line. An .npy has float32, examples × classes in eval's order.
Probabilities need a model with a temperature, which train and calibrate fit.

Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt
Example: uma-gpu predict --model m.npz --data new.csv --no-labels --proba --out probabilities.jsonl`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples to classify"),
			o.Data.NoLabelsFlag(), o.Model.MatchFlag(),
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Value: "-", Destination: &o.Out,
				Required: true, Usage: "`FILE` for the predictions; - is standard output"}},
			&cli.BoolFlag{Name: "proba", Destination: &o.Probabilities,
				Usage: "write the probability of each class"},
			&cli.BoolFlag{Name: "scores", Destination: &o.Scores,
				Usage: "write the score of each class; the largest decides"},
			app.Choice(&o.To, "to", "auto",
				"`FORMAT` of these: auto (the name of --out says), csv, jsonl or npy",
				"auto", "csv", "jsonl", "npy"),
			o.Device.Flags(&o.Common), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// format returns the format of the table to write, "" for the names of classes alone.
func (o *Options) format() (format string, err error) {
	switch ending := strings.ToLower(filepath.Ext(o.Out)); {
	case o.Probabilities && o.Scores:
		return "", app.Usage("--proba and --scores exclude each other")
	case !o.Probabilities && !o.Scores && o.Given("to"):
		return "", app.Usage("--to is given without --proba or --scores")
	case !o.Probabilities && !o.Scores:
		return "", nil
	case app.PackedText(o.Out) != "":
		return "", app.Usage("--out is %s, wanted a name without .gz or .zst: tables are not packed",
			o.Out)
	case o.To != "auto":
		format = o.To
	case ending == ".npy":
		format = "npy"
	case ending == ".jsonl", ending == ".ndjson":
		format = "jsonl"
	default:
		format = "csv"
	}
	if format == "npy" && o.Given("id-column") {
		return "", app.Usage("--id-column is given with an .npy, which has no place for ids; write " +
			".csv or .jsonl")
	}
	return format, nil
}

// Run writes the classes, or a table of scores or probabilities.
func Run(ctx context.Context, o *Options) error {
	format, err := o.format()
	if err != nil {
		return err
	}
	r, err := o.Options.Run(ctx, func(m *model.Model) (bool, error) {
		if o.Probabilities && m.Meta.Temperature == 0 {
			return false, fmt.Errorf("model file %s: %w", o.Model.Path, classify.ErrNoTemperature)
		}
		return format != "", nil
	})
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
	if o.Probabilities {
		if err := r.Model.ToProbabilities(r.Scores); err != nil {
			return err
		}
	}
	write := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		switch format {
		case "npy":
			b.Write(npyfile.Header("<f4", len(r.Predicted), len(r.Classes)))
			err = npyfile.Write(b, r.Scores)
		case "jsonl":
			o.writeLines(b, r)
		default:
			err = writeCSV(b, r)
		}
		if err != nil {
			return err
		}
		return b.Flush() // which has the first error of all
	}
	if o.Out == "-" {
		return write(o.Common.Out)
	}
	return atomicfile.Write(o.Out, write)
}

// writeCSV writes one class name per line, or a table if examples have ids or scores, whose numbers
// read back as they are. A class name has no line break: the reader of the training data refuses
// control characters.
func writeCSV(b *bufio.Writer, r classify.Classified) error {
	ids := r.Data.IDs
	if ids == nil && r.Scores == nil {
		for _, class := range r.Predicted {
			fmt.Fprintln(b, r.Classes[class])
		}
		return nil
	}
	fields := []string{"example"}
	if ids != nil {
		fields[0] = "id"
	}
	if r.Scores == nil {
		fields = append(fields, "class")
	} else {
		fields = append(fields, r.Classes...)
	}
	w := csv.NewWriter(b)
	w.Write(fields)
	for i, class := range r.Predicted {
		if fields[0] = strconv.Itoa(i + 1); ids != nil {
			fields[0] = ids[i]
		}
		if r.Scores == nil {
			fields[1] = r.Classes[class]
		} else {
			for k, v := range row(r, i) {
				fields[k+1] = app.FloatText(v)
			}
		}
		w.Write(fields)
	}
	w.Flush()
	return w.Error()
}

// writeLines writes objects such as {"example":1,"class":"a","probabilities":{"a":0.75,"b":0.25}}.
func (o *Options) writeLines(b *bufio.Writer, r classify.Classified) {
	what := `,"scores":`
	if o.Probabilities {
		what = `,"probabilities":`
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
		line = append(append(append(line, `,"class":`...), names[class]...), what...)
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
		b.Write(append(line, "}}\n"...))
	}
}

func jsonText(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	e.Encode(text)         // of a string, to memory: nothing can fail
	return bytes.TrimSpace(b.Bytes())
}

func row(r classify.Classified, i int) []float32 {
	q := len(r.Classes)
	return r.Scores[i*q : (i+1)*q]
}
