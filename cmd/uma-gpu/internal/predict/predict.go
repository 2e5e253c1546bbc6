// Package predict is the command that predicts the class of each example.
package predict

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Classified        `json:"input"`
	Request    umagpu.PredictRequest `json:"request,omitzero"`
	Output     Output                `json:"output,omitzero"`
	Device     app.Device            `json:"-"`
}

// Output is the file of the predictions.
type Output struct {
	Path string        `json:"out,omitempty"`
	Safe app.SafeCells `json:"safe_cells,omitempty"` // of a CSV
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "predict",
		Usage: "predict the class of each example",
		Description: `Prints one class name per line, in the order of the examples, without a header. Labels in
the file are ignored, but must be classes of the model; eval compares them with the predictions.
With --id-column the output is CSV with the columns id and class.

--probabilities and --scores write one row per example instead: CSV with the example's id (--id-column) or
its number, from 1 in input order, and one column per class; or a float32 array, examples × classes,
if the file is named .npy. Probabilities need a model with a temperature, which train and calibrate
fit.

--sets 0.9 writes prediction sets: the classes, joined by |, that include the true one for 90 % of
examples. They need a model from calibrate --sets with the same level.

Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt
Example: uma-gpu predict --model m.npz --data new.csv --no-labels --probabilities --out probabilities.csv`,
		Flags: app.Flags(o.Input.Flags(&o.Common, "examples to classify"), o.Input.ReadingFlags(),
			o.Input.NoLabelsFlag(),
			app.OutputOrStandard(&o.Output.Path, "out", "`FILE` for the predictions"),
			app.ParameterFlags(&o.Request), o.Output.Safe.Flag(), o.Device.Flags(), o.RequestFlag(o),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// check checks the options, and reports whether the output is an array.
func (o *Options) check() (array bool, err error) {
	r, out := &o.Request, o.Output.Path
	numbers := r.Probabilities || r.Scores
	array = strings.EqualFold(filepath.Ext(out), ".npy")
	switch {
	case r.Probabilities && r.Scores, r.Sets > 0 && numbers:
		return false, app.Usage("--probabilities, --scores and --sets cannot be combined")
	case app.PackedText(out) != "" && (numbers || r.Sets > 0):
		return false, app.Usage("--out is %s, wanted a name without .gz or .zst: tables are not "+
			"compressed", out)
	case array && !numbers:
		return false, app.Usage("--out is %s, which has --probabilities or --scores alone; write .csv",
			out)
	case array && o.Input.IDColumn != "":
		return false, app.Usage("an .npy file has no place for --id-column; write .csv")
	}
	return array, nil
}

// predictions are what a command writes.
type predictions struct {
	*umagpu.PredictResult
	data    *dataset.Dataset
	safe    app.SafeCells
	rows    []int     // the example of each row of the input, -1 for one that was skipped
	numbers []float32 // of each example and class: probabilities or scores; nil for none
}

// Run writes the classes, or a table of scores or probabilities.
func Run(ctx context.Context, o *Options) error {
	array, err := o.check()
	if err != nil {
		return err
	}
	m, err := umagpu.Load(o.Input.Model.Path)
	if err != nil {
		return err
	}
	if o.Request.Sets > 0 {
		if err := checkJoined(m.Classes()); err != nil {
			return err
		}
	}
	r := o.Request
	if r.Model = m; r.Check() != nil {
		return r.Check()
	}
	p := predictions{safe: o.Output.Safe}
	if p.data, err = o.Input.Read(ctx, m); err != nil {
		return err
	}
	defer p.data.Close() // only read
	r.Data = umagpu.FromDataset(p.data, dataset.InPlace)
	r.Compute = o.Device.Compute(o.Notes, app.Predicting(r.Probabilities || r.Scores || r.Sets > 0))
	if p.PredictResult, err = umagpu.Predict(ctx, &r); err != nil {
		return err
	}
	p.rows = dataset.ExamplesByRow(p.data)
	if p.numbers = p.Probabilities; p.numbers == nil {
		p.numbers = p.Scores
	}
	write := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		write := p.writeCSV
		if array {
			write = p.writeArray
		}
		if err := write(b); err != nil {
			return err
		}
		return b.Flush() // returns the first error of all writes
	}
	if o.Output.Path == "" || o.Output.Path == "-" {
		return write(o.Out)
	}
	return osfile.Write(o.Output.Path, write)
}

// checkJoined refuses class names that contain the separator of prediction sets in CSV.
func checkJoined(classes []string) error {
	for _, name := range classes {
		if strings.Contains(name, separator) {
			return app.Usage("class %q contains %s, which joins the classes of a set: rename it",
				name, separator)
		}
	}
	return nil
}

const separator = "|" // between the classes of a set, as between candidate labels

// set returns the classes in the prediction set of example i, joined.
func (p *predictions) set(i int) string {
	var names []string
	for k, in := range p.Sets[i*len(p.Classes) : (i+1)*len(p.Classes)] {
		if in {
			names = append(names, p.Classes[k])
		}
	}
	return strings.Join(names, separator)
}

// row returns the numbers of example i, nil for none.
func (p *predictions) row(i int) []float32 {
	if p.numbers == nil {
		return nil
	}
	q := len(p.Classes)
	return p.numbers[i*q : (i+1)*q]
}

// writeArray writes a row of numbers for each row of the input, NaN for one that was skipped.
func (p *predictions) writeArray(b *bufio.Writer) error {
	b.Write(npyfile.Header("<f4", len(p.rows), len(p.Classes))) // Flush returns the error
	none := slices.Repeat([]float32{float32(math.NaN())}, len(p.Classes))
	for _, i := range p.rows {
		numbers := none
		if i >= 0 {
			numbers = p.row(i)
		}
		if err := npyfile.Write(b, numbers); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes one class name per line, or a table if examples have ids, numbers or sets: a line
// for each row of the input, whose cells are empty for one that was skipped. Its numbers read back
// exactly. Class names have no line breaks: readers of training data refuse control characters.
func (p *predictions) writeCSV(b *bufio.Writer) error {
	ids := p.data.IDs
	if ids == nil && p.numbers == nil && p.Sets == nil {
		for _, i := range p.rows {
			if i < 0 {
				fmt.Fprintln(b, `""`) // as a line with nothing in it is passed over
			} else {
				fmt.Fprintln(b, p.safe.Of([]string{p.Classes[p.Codes[i]]})[0])
			}
		}
		return nil
	}
	columns := p.Classes
	switch {
	case p.Sets != nil:
		columns = []string{"class", "set"}
	case p.numbers == nil:
		columns = []string{"class"}
	}
	name := "example"
	if ids != nil {
		name = cmp.Or(p.data.ID, "id")
	}
	w := csv.NewWriter(b)
	w.Write(p.safe.Of(append([]string{name}, columns...)))
	var fields []string
	for row, i := range p.rows {
		if name = strconv.Itoa(row + 1); i < 0 {
			fields = make([]string, 1+len(columns))
			if ids == nil {
				fields[0] = name
			}
			w.Write(p.safe.Of(fields))
			continue
		}
		if ids != nil {
			name = ids[i]
		}
		if fields = append(fields[:0], name); p.numbers == nil {
			fields = append(fields, p.Classes[p.Codes[i]])
		}
		if p.Sets != nil {
			fields = append(fields, p.set(i))
		}
		for _, v := range p.row(i) {
			fields = append(fields, app.FloatText(v))
		}
		w.Write(p.safe.Of(fields))
	}
	w.Flush()
	return w.Error()
}
