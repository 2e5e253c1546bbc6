package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/internal/chart"
)

func compareCommand() *cli.Command {
	flags := append(app.DataFlags("examples with noisy labels"),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion",
			Usage: "confusion matrix to judge by, and to learn with: `FILE`, CSV or .npy"}},
		app.AxesFlag())
	flags = append(append(flags, training.AnnotatorFlags()...),
		&cli.StringSliceFlag{Name: "try", DefaultText: "each learner",
			Usage: "train by these `FLAGS`, {a|b} both ways; may be given again"},
		&cli.StringSliceFlag{Name: "grid",
			Usage: "each value of a flag, `NAME=VALUES`: a|b, 0.01..10:log7, 0..1:lin5; again and again"},
		&cli.IntFlag{Name: "folds", Value: 5, Usage: "hold out `K` parts in turn, from K trainings each"},
		&cli.IntFlag{Name: "seeds", Value: 1,
			Usage: "do so with `N` seeds, --seed and those after it, and take means"},
		app.SeedFlag(nil, "all random choices"),
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "also write the table to `FILE`.csv"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "picture",
			Usage: "also draw accuracies over the numbers of the grid: `FILE`, .svg or .png"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "model",
			Usage: "also train in the best way on all examples, and write `FILE`.npz"}})
	flags = append(append(flags, device.Flags()...), app.JSONFlag(), app.QuietFlag())
	return &cli.Command{
		Name:  "compare",
		Usage: "try several ways to train, and choose one by examples held out",
		Description: "A way to train is written as flags of train: its learner and that one's own " +
			"flags, --normalize,\n" +
			"--kernel and its flags, --weights, --max-steps, --confusion: a file, none to ignore the " +
			"noise, or how to\n" +
			"estimate it, auto, confident-joint, anchors or em. Each makes --folds trainings, as cv " +
			"does, on the same\n" +
			"parts. All are judged by the matrix that compare is given,\n" +
			"on the same noisy labels: the best is the one of the highest corrected accuracy.\n\n" +
			"Behind is how much less accurate another one is, ± twice the standard error of that " +
			"difference, example\n" +
			"by example; a * marks those that these labels do not tell from the best. The noisy log-loss " +
			"says how\n" +
			"well a way predicts the noisy labels with its own matrix; it needs no matrix to be right.\n\n" +
			"With --annotators, labels of several people, learners that can learn from all of these do, " +
			"unless a way has\n" +
			"a --confusion; others learn from the consensus that confusion estimate --annotators finds, " +
			"and all are\n" +
			"judged by it, through its matrix.\n\n" +
			"--grid adds a flag to each --try, with one value after another, all combinations of " +
			"several; without\n" +
			"--try to each learner that has it. Online learners (perceptron, pa1, copa, …) of one " +
			"preparation learn side\n" +
			"by side, in one reading of the examples; each has the bits that it has alone.\n\n" +
			"Example: uma-gpu compare --data noisy.csv --confusion C.csv\n" +
			"Example: uma-gpu compare --data noisy.csv --confusion C.csv --try \"--l2 {0.0001|0.01}\" \\\n" +
			"           --try \"--kernel rbf --gamma {0.01|median} --confusion {none|other.csv}\"\n" +
			"Example: uma-gpu compare --data d.csv --grid aggressiveness=0.01..10:log7 --seeds 3 --model " +
			"best.npz",
		Flags:  flags,
		Action: compare,
	}
}

// compareReport is what compare --json prints.
type compareReport struct {
	Examples int `json:"examples"`
	Folds    int `json:"folds"`
	Seeds    int `json:"seeds"`
	// file of the matrix or of annotators; "" if labels are taken for right
	JudgedBy string        `json:"judged_by"`
	Tried    []triedReport `json:"tried"` // the best first
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

	estimates outoffold.NoiseMethod // how C was estimated, "" if it was not
	way       training.Candidate
}

// failure is a way to train that ended with an error.
type failure struct {
	Flags string `json:"flags"`
	Error string `json:"error"`
}

func compare(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "data"); err != nil {
		return err
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return err
	}
	noiseOf, err := training.NoiseFlags(c)
	if err != nil {
		return err
	}
	list, err := training.Candidates(c)
	if err != nil {
		return err
	}
	axis, err := pictureAxis(c, list)
	if err != nil {
		return err
	}
	folds := c.Int("folds")
	if folds < 2 || folds > judge.MostFolds {
		return app.Usagef(c, "--folds is %d, wanted 2 to %d", folds, judge.MostFolds)
	}
	seeds := c.Int("seeds")
	if seeds < 1 || seeds > mostSeeds {
		return app.Usagef(c, "--seeds is %d, wanted 1 to %d", seeds, mostSeeds)
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	table := c.String("annotators")
	switch {
	case table != "" && c.String("confusion") != "":
		return app.Usagef(c,
			"--annotators and --confusion exclude each other: the labels' consensus has a matrix of its own")
	case table != "":
		training.WithoutLabels(c, &options)
	case c.Bool("no-labels"):
		return app.Usagef(c, "--no-labels is given without --annotators")
	}
	if _, err := training.Trusted(c); err != nil {
		return err
	}
	d, err := app.ReadData(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	judge, err := judgeOf(c, d, list, noiseOf)
	if err != nil {
		return err
	}
	if judge == nil {
		n.Say("confusion matrix: none given, so the labels are taken to be right")
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	e, err := where.Open(n, device.WorkOn(d, len(d.Classes)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := app.CheckTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	x := comparison{data: d, judge: judge, engine: e, folds: folds, seeds: seeds, notes: n,
		consensus: table != ""}
	report := compareReport{Examples: d.N, Folds: folds, Seeds: seeds, JudgedBy: cmp.Or(table,
		c.String("confusion")),
		Failed: []failure{}, Device: e.Device()}
	if err := x.tryAll(c.Context, list, &report); err != nil {
		return err
	}
	if len(report.Tried) == 0 {
		return fmt.Errorf("%s: no way to train succeeded; the first failed with %s", d.Path,
			report.Failed[0].Error)
	}
	rank(report.Tried)
	if a := report.Tried[0].Accuracy; a.Low > 1 {
		n.Warn("a corrected accuracy of %.4f cannot be: these labels are not noisy by %s", a.Value,
			report.JudgedBy)
	}
	if out := c.String("out"); out != "" {
		if err := report.write(out, c.StringSlice("grid")); err != nil {
			return err
		}
	}
	if axis != "" {
		p, err := report.picture(axis)
		if err != nil {
			return err
		}
		if err := chart.Save(c.String("picture"), p); err != nil {
			return err
		}
	}
	if path := c.String("model"); path != "" {
		if err := x.save(c.Context, report.Tried[0].way, path); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, report)
	}
	return report.print(c)
}

// judgeOf returns the matrix to judge by, nil for none. With --annotators it is that of their
// consensus, which d's labels become, and those ways learn from the annotators' labels that can.
func judgeOf(
	c *cli.Context, d *dataset.Dataset, list []training.Candidate,
	noiseOf func([]string) (*confusion.Matrix,
		error),
) (*confusion.Matrix, error) {
	t := &training.Training{Annotators: c.String("annotators"), Notes: app.NewNotes(c)}
	if t.Annotators == "" {
		return noiseOf(d.Classes)
	}
	t.Seed = c.Uint64("seed")
	var err error
	if t.Trusted, err = training.Trusted(c); err != nil {
		return nil, err
	}
	if err := t.ReadAnnotations(c.Context, d); err != nil {
		return nil, err
	}
	for _, way := range list {
		if way.Confusion == "" && way.Learner.Definition().Annotations {
			way.Annotations, way.Annotators, way.Trusted = t.Annotations, t.Annotators, t.Trusted
		}
	}
	return t.JudgeByConsensus(c.Context, d)
}

// print prints the table for people, and the command that trains in the best way.
func (r compareReport) print(c *cli.Context) error {
	w := c.App.Writer
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tbehind\t\tnoisy log-loss\tflags\n", r.measure())
	for k, one := range r.Tried {
		behind, mark := "-", ""
		if k > 0 {
			behind = fmt.Sprintf("%.4f ± %.4f", one.Behind, 2*one.BehindError)
			if one.Behind <= 2*one.BehindError {
				mark = "*"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", judgement.EstimateText(&one.Accuracy), behind, mark,
			judgement.ShareText(one.NoisyLogLoss), one.Flags)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(t, "failed\t\t\t\t%s\n", f.Flags)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if c.String("annotators") != "" && r.Tried[0].way.Annotators == "" {
		table := c.String("annotators")
		if c.String("trust") != "" {
			table += " --trust " + c.String("trust")
		}
		fmt.Fprintf(w, "first: uma-gpu confusion estimate --annotators %s --out estimate.csv "+
			"--write-labels consensus.csv\n",
			table)
	}
	if m := r.Tried[0].estimates; m != "" {
		fmt.Fprintf(w, "first: uma-gpu confusion estimate --data %s --method %s --out estimate.csv\n",
			c.String("data"), m)
	}
	best := r.Tried[0].train
	switch {
	case r.Tried[0].way.Annotators != "" && c.Bool("no-labels"):
		best += " --no-labels"
	case c.String("annotators") != "" && r.Tried[0].way.Annotators == "":
		best += " --labels consensus.csv --label-column label"
		if !c.Bool("no-labels") {
			best += " --ignore-columns " + cmp.Or(c.String("label-column"), "last")
		}
	}
	if c.IsSet("seed") {
		best += fmt.Sprintf(" --seed %d", c.Uint64("seed"))
	}
	_, err := fmt.Fprintf(w, "the best: uma-gpu train --data %s %s --model %s\n", c.String("data"),
		best,
		cmp.Or(c.String("model"), "m.npz"))
	return err
}

// trainFlags are the flags by which train learns in a way, where compare has this --confusion or
// --annotators.
func trainFlags(way training.Candidate, given string) string {
	var words []string
	for _, w := range strings.Fields(way.Flags) {
		before := len(words) - 1
		of := before >= 0 && strings.TrimLeft(words[before], "-") == "confusion"
		switch {
		case !of && strings.TrimLeft(w, "-") != "confusion="+way.Confusion:
			words = append(words, w)
		case of:
			words = words[:before]
		}
	}
	if way.Annotators != "" {
		words = append(words, "--annotators", way.Annotators)
		if way.Trusted != nil {
			words = append(words, "--trust", strings.Join(way.Trusted, ","))
		}
		return strings.Join(words, " ")
	}
	file := way.Confusion
	switch {
	case file == "":
		file = given
	case file == training.NoConfusion || way.Estimates() == outoffold.NoNoise:
		file = ""
	case way.Estimates() != "":
		file = "estimate.csv"
	}
	if file != "" {
		words = append(words, "--confusion", file)
	}
	return strings.Join(words, " ")
}
