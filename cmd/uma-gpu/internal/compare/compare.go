// Package compare is the command that tries several ways to train and chooses one.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/internal/chart"
)

// Options are of the comparison; candidates have those of trainings.
type Options struct {
	training.Options
	Try, Grid cli.StringSlice
	Seeds     int
	Out       string
	Picture   string
	Model     string
}

// mostSeeds is how many seeds are tried at most.
const mostSeeds = 1000

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "compare",
		Usage: "try several ways to train, and choose one by examples held out",
		Description: `A way to train is written as flags of train: --learner and the flags of that learner, --normalize,
--kernel and its flags, --weights, --max-steps and --confusion. --confusion is a file, none to ignore
the noise, or a method to estimate C: auto, confident-joint, anchors or em. Each way makes --folds
trainings, as cv does, on the same parts. All ways are judged on the same noisy labels, by the matrix
that compare is given. The best has the highest corrected accuracy. Where
that is above 1 it is unknown, and the best has the lowest noisy log-loss.

The column behind tells how much less accurate a way is than the best, ± twice the standard error of
that difference, example by example. A * marks ways that these labels do not tell from the best. The
noisy log-loss says how well a way predicts the noisy labels with its own matrix, right or wrong.

--annotators takes labels of several people. Learners that can learn from all of them do, unless a
way has a --confusion. Others learn from the consensus that confusion estimate --annotators finds.
All are judged by the consensus, through its matrix.

--grid adds a flag to each --try, with one value after another. Several take all combinations.
Without --try it goes to each learner that has the flag.

Example: uma-gpu compare --data noisy.csv --confusion C.csv
Example: uma-gpu compare --data noisy.csv --confusion C.csv --try "--l2 {0.0001|0.01}" \
           --try "--kernel rbf --gamma {0.01|median} --confusion {none|other.csv}"
Example: uma-gpu compare --data d.csv --grid aggressiveness=0.01..10:log7 --seeds 3 --model best.npz`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples with noisy labels"),
			o.Noise.Flags("confusion matrix to judge by, and to learn with: `FILE`, CSV or .npy"),
			o.AnnotatorFlags(),
			&cli.StringSliceFlag{Name: "try", DefaultText: "each learner", Destination: &o.Try,
				Usage: "train by these `FLAGS`, {a|b} both ways; may be given again"},
			&cli.StringSliceFlag{Name: "grid", Destination: &o.Grid,
				Usage: "each value of a flag, `NAME=VALUES`: a|b, 0.01..10:log7, 0..1:lin5; again and again"},
			o.FoldFlag(),
			app.Count(&o.Seeds, "seeds", 1, 1, mostSeeds,
				"do so with `N` seeds, --seed and those after it, and take means"),
			o.SeedFlag(),
			app.Output(&o.Out, "out", "also write the table to `FILE`.csv"),
			app.Output(&o.Picture, "picture",
				"also draw accuracies over the numbers of the grid: `FILE`, .svg or .png"),
			app.Output(&o.Model, "model",
				"also train in the best way on all examples, and write `FILE`.npz"),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what compare --json prints.
type Report struct {
	Examples int `json:"examples"`
	Folds    int `json:"folds"`
	Seeds    int `json:"seeds"`
	// file of the matrix or of annotators; "" if labels are taken for right
	JudgedBy string        `json:"judged_by"`
	Tried    []Tried       `json:"tried"` // the best first
	Failed   []failure     `json:"failed"`
	Device   engine.Device `json:"device"`
}

// Tried is how good a way to train is on examples held out.
type Tried struct {
	Flags        string          `json:"flags"`
	Accuracy     metric.Estimate `json:"accuracy"`     // corrected, if there is a matrix
	Behind       float64         `json:"behind"`       // the best, of its accuracy
	BehindError  float64         `json:"behind_error"` // standard error of that
	NoisyLogLoss *float64        `json:"noisy_log_loss"`

	credits []float64 // of each example, whose mean is the accuracy
	way     candidate
}

// failure is a way to train that ended with an error.
type failure struct {
	Flags string `json:"flags"`
	Error string `json:"error"`
}

// Run compares the candidates.
func Run(ctx context.Context, o *Options) (err error) {
	o.Read = o.Data.Options()
	list, err := o.candidates(ctx)
	if err != nil {
		return err
	}
	axis, err := o.pictureAxis(list)
	if err != nil {
		return err
	}
	if err := o.CheckAnnotators(); err != nil {
		return err
	}
	d, err := o.Data.Read(ctx, o.Read)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	judge, err := o.judge(ctx, d, list)
	if err != nil {
		return err
	}
	if judge == nil {
		o.Notes.Say("confusion matrix: none given, so the labels are taken to be right")
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	e, err := o.Device.Open(o.Notes, device.WorkOn(d.Examples, len(d.Classes)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := app.CheckTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	x := comparison{Options: o, data: d, judge: judge, engine: e}
	r := &Report{Examples: d.N, Folds: o.Folds, Seeds: o.Seeds,
		JudgedBy: cmp.Or(o.Annotators, o.Noise.Path), Failed: []failure{}, Device: e.Device()}
	if err := x.tryAll(ctx, list, r); err != nil {
		return err
	}
	if len(r.Tried) == 0 {
		return fmt.Errorf("%s: no way to train succeeded; the first failed with %s", d.Path,
			r.Failed[0].Error)
	}
	rank(r.Tried)
	best := r.Tried[0]
	if a := best.Accuracy; r.JudgedBy != "" && a.Low > 1 {
		o.Notes.Warn("a corrected accuracy of %.4f cannot be: these labels are not noisy by %s; ways "+
			"are in the order of their noisy log-loss", a.Value, r.JudgedBy)
	}
	if o.Out != "" {
		if err := r.write(o.Out, o.Grid.Value()); err != nil {
			return err
		}
	}
	if axis != "" {
		p, err := r.picture(axis)
		if err != nil {
			return err
		}
		if err := chart.Save(o.Picture, p); err != nil {
			return err
		}
	}
	if o.Model != "" {
		if err := x.save(ctx, best.way); err != nil {
			return err
		}
	}
	return o.Print(r, func(w io.Writer) error {
		if err := app.Table(w, r.fill); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n"+o.commands(best.way))
		return err
	})
}

// judge returns the matrix to judge by, nil for none. With --annotators it is that of their
// consensus, which d's labels become, and ways learn from the annotators' labels where they can.
func (o *Options) judge(ctx context.Context, d *dataset.Dataset, list []candidate,
) (*confusion.Matrix, error) {
	if o.Annotators == "" {
		return o.Noise.Read(ctx, d.Classes)
	}
	if err := o.ReadAnnotations(ctx, d); err != nil {
		return nil, err
	}
	for _, way := range list {
		if way.Noise.Path == "" && way.Train.Learner.Definition().Annotations {
			way.Train.Annotations = o.Train.Annotations
		}
	}
	return o.JudgeByConsensus(ctx, d)
}

func (r *Report) fill(row app.Row) {
	row("%s\tbehind\t\tnoisy log-loss\tflags", r.measure())
	for k, one := range r.Tried {
		behind, mark := "-", ""
		if k > 0 {
			behind = fmt.Sprintf("%.4f ± %.4f", one.Behind, 2*one.BehindError)
			if one.Behind <= 2*one.BehindError {
				mark = "*"
			}
		}
		row("%s\t%s\t%s\t%s\t%s", judgement.EstimateText(&one.Accuracy), behind, mark,
			judgement.ShareText(one.NoisyLogLoss), one.Flags)
	}
	for _, f := range r.Failed {
		row("failed\t\t\t\t%s", f.Flags)
	}
}

// estimated is the file of a matrix that another command writes first.
const estimated = "estimate.csv"

// commands returns the command that trains in the best way, and before it what it needs.
func (o *Options) commands(way candidate) string {
	var first, last strings.Builder
	consensus := o.Annotators != "" && way.Train.Annotations == nil
	annotators := o.Line("annotators", "trust")
	reading := o.Data.FormatFlags(&o.Common)
	if consensus {
		reading = app.Without(reading, "label-column", "ignore-columns", "labels")
	}
	data := app.Quoted(o.Data.Path) + o.Line(app.FlagNames(reading)...)
	if consensus {
		fmt.Fprintf(&first, "first: uma-gpu confusion estimate%s --out %s "+
			"--write-labels consensus.csv\n", annotators, estimated)
	}
	if m := way.estimates(); m != "" {
		fmt.Fprintf(&first, "first: uma-gpu confusion estimate --data %s --method %s --out %s\n",
			data, m, estimated)
	}
	given := o.Noise.Path
	if consensus {
		given = estimated
	}
	fmt.Fprintf(&last, "the best: uma-gpu train --data %s %s", data, trainFlags(way, given))
	if way.Noise.Path == "" && way.Train.Annotations == nil {
		last.WriteString(o.Line("confusion-axes", "inverse"))
	}
	if way.Train.Annotations != nil {
		last.WriteString(annotators)
	}
	switch noLabels := o.Data.NoLabels; {
	case consensus:
		last.WriteString(" --labels consensus.csv --label-column label")
		if !noLabels {
			ignored := strings.TrimPrefix(o.Text("ignore-columns")+",", ",")
			last.WriteString(" --ignore-columns " +
				app.Quoted(ignored+cmp.Or(o.Data.LabelColumn, "last")))
		}
	case noLabels:
		last.WriteString(" --no-labels")
	}
	if o.Given("seed") {
		fmt.Fprintf(&last, " --seed %d", o.Train.Seed)
	}
	return first.String() + last.String() + " --model " + app.Quoted(cmp.Or(o.Model, "m.npz")) + "\n"
}

// trainFlags returns the flags by which train learns in a way, where compare was given a matrix.
func trainFlags(way candidate, given string) string {
	var words []string
	for word := range strings.FieldsSeq(way.flags) {
		before := len(words) - 1
		of := before >= 0 && strings.TrimLeft(words[before], "-") == "confusion"
		switch {
		case of:
			words = words[:before]
		case strings.TrimLeft(word, "-") != "confusion="+way.Noise.Path:
			words = append(words, word)
		}
	}
	file := cmp.Or(way.Noise.Path, given)
	switch method := way.estimates(); {
	case file == noConfusion || method == outoffold.NoNoise || way.Train.Annotations != nil:
		file = ""
	case method != "":
		file = estimated
	}
	if file != "" {
		words = append(words, "--confusion", file)
	}
	return strings.Join(words, " ")
}
