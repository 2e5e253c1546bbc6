package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func compareCommand() *cli.Command {
	flags := append(dataFlags("examples with noisy labels"),
		inputFlag{&cli.StringFlag{Name: "confusion",
			Usage: "confusion matrix to judge by, and to learn with: `FILE`, CSV or .npy"}},
		axesFlag(),
		&cli.StringSliceFlag{Name: "try", DefaultText: "each learner",
			Usage: "train by these `FLAGS`, {a|b} both ways; may be given again"},
		&cli.IntFlag{Name: "folds", Value: 5, Usage: "hold out `K` parts in turn, from K trainings each"},
		seedFlag("all random choices"))
	flags = append(append(flags, deviceFlags()...), jsonFlag(), quietFlag())
	return &cli.Command{
		Name:  "compare",
		Usage: "try several ways to train, and choose one by examples held out",
		Description: "A way to train is written as flags of train: its learner and that one's own flags, --normalize,\n" +
			"--kernel and its flags, --weights, --max-steps, --confusion: a file, none to ignore the noise, or how to\n" +
			"estimate it, auto, confident-joint, anchors or em. Each makes --folds trainings, as cv does, on the same\n" +
			"parts. All are judged by the matrix that compare is given,\n" +
			"on the same noisy labels: the best is the one of the highest corrected accuracy.\n\n" +
			"Behind is how much less accurate another one is, ± twice the standard error of that difference, example\n" +
			"by example; a * marks those that these labels do not tell from the best. The noisy log-loss says how\n" +
			"well a way predicts the noisy labels with its own matrix; it needs no matrix to be right.\n\n" +
			"Example: uma-gpu compare --data noisy.csv --confusion C.csv\n" +
			"Example: uma-gpu compare --data noisy.csv --confusion C.csv --try \"--l2 {0.0001|0.01}\" \\\n" +
			"           --try \"--kernel rbf --gamma {0.01|median} --confusion {none|other.csv}\"",
		Flags:  flags,
		Action: compare,
	}
}

// compareReport is what compare --json prints.
type compareReport struct {
	Examples int           `json:"examples"`
	Folds    int           `json:"folds"`
	JudgedBy string        `json:"judged_by"` // file of the matrix; "" if labels are taken for right
	Tried    []triedReport `json:"tried"`     // the best first
	Failed   []failure     `json:"failed"`
	Device   engine.Device `json:"device"`
}

// triedReport is how good a way to train is on examples held out.
type triedReport struct {
	Flags        string          `json:"flags"`
	Accuracy     metric.Estimate `json:"accuracy"`     // corrected, if there is a matrix
	Behind       float64         `json:"behind"`       // the best, of its accuracy
	BehindError  float64         `json:"behind_error"` // standard error of that
	NoisyLogLoss *float64        `json:"noisy_log_loss"`

	credits []float64 // of each example, whose mean is the accuracy
	train   string    // flags of train

	estimates host.NoiseMethod // how C was estimated, "" if it was not
}

// failure is a way to train that ended with an error.
type failure struct {
	Flags string `json:"flags"`
	Error string `json:"error"`
}

func compare(c *cli.Context) (err error) {
	if err := checkUsage(c, "data"); err != nil {
		return err
	}
	options, err := dataOptions(c)
	if err != nil {
		return err
	}
	noiseOf, err := noiseFlags(c)
	if err != nil {
		return err
	}
	list, err := candidates(c)
	if err != nil {
		return err
	}
	folds := c.Int("folds")
	if folds < 2 || folds > host.MostFolds {
		return usagef(c, "--folds is %d, wanted 2 to %d", folds, host.MostFolds)
	}
	where, err := chooseDevice(c)
	if err != nil {
		return err
	}
	n := newNotes(c)
	d, err := readData(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	judge, err := noiseOf(d.Classes)
	if err != nil {
		return err
	}
	if judge == nil {
		n.say("confusion matrix: none given, so the labels are taken to be right")
	}
	if err := interrupted(c.Context); err != nil {
		return err
	}
	e, err := where.open(n, workOn(d.Examples, len(d.Classes)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := checkTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	x := comparison{data: d, judge: judge, engine: e, folds: folds, notes: n}
	report := compareReport{Examples: d.N, Folds: folds, JudgedBy: c.String("confusion"), Failed: []failure{},
		Device: e.Device()}
	for k, way := range list {
		n.say("%d of %d: %s", k+1, len(list), way.flags)
		r, err := x.try(c.Context, way)
		if err := interrupted(c.Context); err != nil {
			return err
		}
		if err != nil {
			n.warn("%s: %v", way.flags, err)
			report.Failed = append(report.Failed, failure{way.flags, err.Error()})
			continue
		}
		r.train, r.estimates = way.trainFlags(report.JudgedBy), way.estimates()
		report.Tried = append(report.Tried, r)
	}
	if len(report.Tried) == 0 {
		return fmt.Errorf("%s: no way to train succeeded; the first failed with %s", d.Path, report.Failed[0].Error)
	}
	rank(report.Tried)
	if a := report.Tried[0].Accuracy; a.Low > 1 {
		n.warn("a corrected accuracy of %.4f cannot be: these labels are not noisy by %s", a.Value, report.JudgedBy)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	return report.print(c)
}

// comparison is what all that are compared share.
type comparison struct {
	data   *dataset.Dataset
	judge  *confusion.Matrix // nil if labels are taken to be right
	engine engine.Engine
	folds  int
	notes  notes
}

// try trains in one way and judges it.
func (x *comparison) try(ctx context.Context, way candidate) (r triedReport, err error) {
	classes := x.data.Classes
	o := way.Options
	o.Engine = x.engine
	noise, err := x.noiseOf(ctx, way, o)
	if err != nil {
		return r, adviseKernel(adviseMemory(err))
	}
	held, err := host.OutOfFold(ctx, x.data, noise, o, x.folds)
	if err != nil {
		return r, adviseKernel(adviseMemory(err))
	}
	r = triedReport{Flags: way.flags}
	if err := r.judge(x.data, largest(held.Scores, held.Q), x.judge); err != nil {
		return r, err
	}
	p, err := held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if noise == nil {
		noise = &confusion.Matrix{Classes: classes, P: confusion.NoNoise(len(classes)).V}
	}
	loss, err := metric.CorrectedLogLoss(x.data.Y, p, noise.P)
	r.NoisyLogLoss = &loss
	return r, err
}

// noiseOf returns the matrix that a way learns with, nil for none.
func (x *comparison) noiseOf(ctx context.Context, way candidate, o host.Options) (*confusion.Matrix, error) {
	method := way.estimates()
	switch {
	case way.confusion == "":
		return x.judge, nil
	case way.confusion == noConfusion || method == host.NoNoise:
		return nil, nil
	case method == "":
		return confusion.Read(way.confusion, confusion.ReadOptions{Classes: x.data.Classes, TrueRows: way.trueRows})
	}
	found, err := host.EstimateNoise(ctx, x.data, host.NoiseOptions{Options: o, Method: method, Folds: x.folds})
	if err != nil {
		return nil, err
	}
	if found.Chosen == host.NoNoise {
		return nil, nil
	}
	return &found.Matrix, nil
}

// judge compares predictions with labels that are noisy by the matrix, or right if that is nil.
func (r *triedReport) judge(d *dataset.Dataset, predicted []int32, noise *confusion.Matrix) error {
	report, err := metric.Evaluate(d.Y, predicted, d.Classes)
	if err != nil {
		return err
	}
	q := len(d.Classes)
	inverse := confusion.NoNoise(q)
	p := inverse.V
	if noise != nil {
		if inverse, err = noise.Invert(); err != nil {
			return err
		}
		p = noise.P
	}
	corrected, err := metric.Correct(report.Confusion, d.Classes, p, inverse.V)
	if err != nil {
		return err
	}
	r.Accuracy = corrected.Accuracy
	for i, said := range predicted {
		r.credits = append(r.credits, inverse.V[int(said)*q+int(d.Y[i])])
	}
	return nil
}

// rank orders them, the best first, and compares each with it.
func rank(tried []triedReport) {
	slices.SortStableFunc(tried, func(a, b triedReport) int { return -cmp.Compare(a.Accuracy.Value, b.Accuracy.Value) })
	best := tried[0].credits
	n := float64(len(best))
	for k := range tried {
		sum, square := 0.0, 0.0
		for i, v := range tried[k].credits {
			d := best[i] - v
			sum += d
			square += float64(d * d)
		}
		tried[k].Behind = sum / n
		tried[k].BehindError = math.Sqrt(max(0, square/n-sum/n*sum/n) / n)
	}
}

// print prints the table for people, and the command that trains in the best way.
func (r compareReport) print(c *cli.Context) error {
	w := c.App.Writer
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	what := "accuracy"
	if r.JudgedBy != "" {
		what = "corrected accuracy"
	}
	fmt.Fprintf(t, "%s\tbehind\t\tnoisy log-loss\tflags\n", what)
	for k, one := range r.Tried {
		behind, mark := "-", ""
		if k > 0 {
			behind = fmt.Sprintf("%.4f ± %.4f", one.Behind, 2*one.BehindError)
			if one.Behind <= 2*one.BehindError {
				mark = "*"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", estimateText(&one.Accuracy), behind, mark,
			shareText(one.NoisyLogLoss), one.Flags)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(t, "failed\t\t\t\t%s\n", f.Flags)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if m := r.Tried[0].estimates; m != "" {
		fmt.Fprintf(w, "first: uma-gpu confusion estimate --data %s --method %s --out estimate.csv\n", c.String("data"), m)
	}
	_, err := fmt.Fprintf(w, "the best: uma-gpu train --data %s %s --model m.npz\n", c.String("data"), r.Tried[0].train)
	return err
}

// trainFlags are the flags by which train learns in a way, where compare has this --confusion.
func (way candidate) trainFlags(given string) string {
	var words []string
	for _, w := range strings.Fields(way.flags) {
		before := len(words) - 1
		of := before >= 0 && strings.TrimLeft(words[before], "-") == "confusion"
		switch {
		case !of && strings.TrimLeft(w, "-") != "confusion="+way.confusion:
			words = append(words, w)
		case of:
			words = words[:before]
		}
	}
	file := way.confusion
	switch {
	case file == "":
		file = given
	case file == noConfusion || way.estimates() == host.NoNoise:
		file = ""
	case way.estimates() != "":
		file = "estimate.csv"
	}
	if file != "" {
		words = append(words, "--confusion", file)
	}
	return strings.Join(words, " ")
}
