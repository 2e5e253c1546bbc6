// Package predict is the command that predicts the class of each example.
package predict

import (
	"bufio"
	"cmp"
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
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Classifier
	Out           string
	Probabilities bool
	Scores        bool
	Level         float64 // of prediction sets; 0 for none
	To            string  // format of tables
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "predict",
		Usage: "predict the class of each example",
		Description: `Prints one class name per line, in the order of the examples, without a header. Labels in
the file are ignored, but must be classes of the model; eval compares them with the predictions.
With --id-column the output is CSV with the columns id and class.

--proba and --scores write one row per example instead: CSV with the example's id (--id-column) or
its number, from 1 in input order, and one column per class; JSON Lines if the file is named .jsonl;
or a float32 array, examples × classes, if it is named .npy. Probabilities need a model with a
temperature, which train and calibrate fit.

--sets 0.9 writes prediction sets: the classes, joined by |, that include the true one for 90 % of
examples. They need a model from calibrate --sets with the same level.

Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt
Example: uma-gpu predict --model m.npz --data new.csv --no-labels --proba --out probabilities.jsonl`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples to classify"),
			o.Data.UnseenFlag(),
			o.Data.NoLabelsFlag(), o.Model.MatchFlag(),
			app.Required(app.FileFlag{StringFlag: app.Text(&o.Out, "out", "-",
				"`FILE` for the predictions; - is standard output"), Written: true}),
			app.Switch(&o.Probabilities, "proba", "write the probability of each class"),
			app.Switch(&o.Scores, "scores", "write the score of each class; the largest is predicted"),
			&cli.Float64Flag{Name: "sets", Destination: &o.Level, DefaultText: "none",
				Usage: "write prediction sets of this `LEVEL`, one of calibrate --sets"},
			app.Choice(&o.To, "to", "auto",
				"`FORMAT` of the table: auto (by the name of --out), csv, jsonl or npy",
				"auto", "csv", "jsonl", "npy"),
			o.Device.Flags(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// format returns the format of the table to write, "" for class names alone.
func format(o *Options) (string, error) {
	table := o.Probabilities || o.Scores || o.Level > 0
	ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.Out)), ".")
	format := o.To
	if format == "" || format == "auto" {
		format = "csv"
		if ending == "npy" || ending == "jsonl" {
			format = ending
		}
	}
	switch {
	case o.Given("sets") && !(o.Level > 0 && o.Level < 1):
		return "", app.Usage("--sets is %v, wanted a number above 0 and below 1", o.Level)
	case o.Probabilities && o.Scores, o.Level > 0 && (o.Probabilities || o.Scores):
		return "", app.Usage("--proba, --scores and --sets cannot be combined")
	case !table && o.Given("to"):
		return "", app.Usage("--to is given without --proba, --scores or --sets")
	case !table:
		return "", nil
	case app.PackedText(o.Out) != "":
		return "", app.Usage("--out is %s, wanted a name without .gz or .zst: tables are not compressed",
			o.Out)
	case format == "npy" && (o.Level > 0 || o.Given("id-column")):
		return "", app.Usage("an .npy file has no place for --sets and --id-column; write .csv or .jsonl")
	}
	return format, nil
}

// Run writes the classes, or a table of scores or probabilities.
func Run(ctx context.Context, o *Options) error {
	format, err := format(o)
	if err != nil {
		return err
	}
	var rule *sets.Rule // nil without --sets
	r, err := o.Classify(ctx, func(m *model.Model) (bool, error) {
		if o.Level > 0 {
			rule, err = ruleOf(o, m, format)
			return true, err
		}
		if o.Probabilities && m.Meta.Temperature == 0 {
			return false, fmt.Errorf("model file %s: %w", o.Model.Path, app.ErrNoTemperature)
		}
		return format != "", nil
	})
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
	if o.Probabilities || o.Level > 0 {
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
			err = writeLines(b, o, r, rule)
		default:
			err = writeCSV(b, r, rule)
		}
		if err != nil {
			return err
		}
		return b.Flush() // returns the first error of all writes
	}
	if o.Out == "-" {
		return write(o.Common.Out)
	}
	return osfile.Write(o.Out, write)
}

// ruleOf returns the rule of the prediction sets.
func ruleOf(o *Options, m *model.Model, format string) (*sets.Rule, error) {
	rule, ok := sets.At(m.Meta.Sets, o.Level)
	if !ok {
		var levels []float64
		for _, r := range m.Meta.Sets {
			levels = append(levels, r.Level)
		}
		return nil, fmt.Errorf("model file %s: no prediction sets of level %v, found levels %v: "+
			"fit them to held-out examples with uma-gpu calibrate --sets %[2]v", o.Model.Path, o.Level,
			levels)
	}
	for _, name := range m.Meta.Classes {
		if format == "csv" && strings.Contains(name, separator) {
			return nil, app.Usage("class %q contains %s, which joins the classes of a set in CSV: use "+
				"--to jsonl", name, separator)
		}
	}
	return &rule, nil
}

const separator = "|" // between the classes of a set, as between candidate labels

// writeCSV writes one class name per line, or a table if examples have ids, scores or sets, whose
// rule is not nil. Its numbers read back exactly. Class names have no line breaks: readers of
// training data refuse control characters.
func writeCSV(b *bufio.Writer, r app.Classified, rule *sets.Rule) error {
	ids := r.Data.IDs
	if ids == nil && r.Scores == nil {
		for _, class := range r.Predicted {
			fmt.Fprintln(b, r.Classes[class])
		}
		return nil
	}
	columns, cells := r.Classes, func(i int, cells []string) []string {
		for _, v := range row(r, i) {
			cells = append(cells, app.FloatText(v))
		}
		return cells
	}
	switch {
	case rule != nil:
		columns, cells = []string{"class", "set"}, func(i int, cells []string) []string {
			set := r.Model.Names(rule.Classes(nil, row(r, i)))
			return append(cells, r.Classes[r.Predicted[i]], strings.Join(set, separator))
		}
	case r.Scores == nil:
		columns, cells = []string{"class"}, func(i int, cells []string) []string {
			return append(cells, r.Classes[r.Predicted[i]])
		}
	}
	name := "example"
	if ids != nil {
		name = cmp.Or(r.Data.ID, "id")
	}
	w := csv.NewWriter(b)
	w.Write(append([]string{name}, columns...))
	var fields []string
	for i := range r.Predicted {
		if name = strconv.Itoa(i + 1); ids != nil {
			name = ids[i]
		}
		fields = cells(i, append(fields[:0], name))
		w.Write(fields)
	}
	w.Flush()
	return w.Error()
}

// line is an object of JSON Lines. A number that is not finite is null.
type line struct {
	Example       int                 `json:"example"`
	ID            *string             `json:"id,omitempty"`
	Class         string              `json:"class"`
	Set           *[]string           `json:"set,omitempty"`
	Probabilities map[string]*float32 `json:"probabilities,omitempty"`
	Scores        map[string]*float32 `json:"scores,omitempty"`
}

// writeLines writes JSON Lines.
func writeLines(b *bufio.Writer, o *Options, r app.Classified, rule *sets.Rule) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	for i, class := range r.Predicted {
		l, numbers := line{Example: i + 1, Class: r.Classes[class]}, map[string]*float32{}
		if r.Data.IDs != nil {
			l.ID = &r.Data.IDs[i]
		}
		for k, v := range row(r, i) {
			if numbers[r.Classes[k]] = nil; v-v == 0 {
				numbers[r.Classes[k]] = &v
			}
		}
		switch {
		case rule != nil:
			set := append([]string{}, r.Model.Names(rule.Classes(nil, row(r, i)))...)
			l.Set = &set
		case o.Probabilities:
			l.Probabilities = numbers
		default:
			l.Scores = numbers
		}
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func row(r app.Classified, i int) []float32 {
	q := len(r.Classes)
	return r.Scores[i*q : (i+1)*q]
}
