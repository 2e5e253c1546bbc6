package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/learners"
)

func estimateCommand() *cli.Command {
	source := []cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "table",
			Usage: "counts, percentages or shares of true against noisy labels: " +
				"`FILE`"}},
		&cli.StringFlag{Name: "confusion-axes", Value: string(confusion.AxesAuto),
			Usage: "`AXES` of --table: auto, " +
				"true-rows (as in scikit-learn), true-columns"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "clean",
			Usage: "true classes of some examples: `FILE`, a CSV item,label, or " +
				"noisy,true without --data"}},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "annotators",
			Usage: "labels of several people: `FILE`, a CSV item,worker,label"}},
		training.TrustFlag(),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "probabilities",
			Usage: "of labels of --data, from models that have not seen the " +
				"example: `FILE`.npy"}},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "prior",
			Usage: "matrix that is believed where counts are few: `FILE`, CSV or " +
				".npy"}},
	}
	how := []cli.Flag{
		&cli.StringFlag{Name: "method", DefaultText: "auto or dawid-skene",
			Usage: "`METHOD` by which to estimate"},
		&cli.IntFlag{Name: "folds", Value: outoffold.DefaultNoiseFolds,
			Usage: "`K` parts, each judged by models of the others"},
		&cli.Float64Flag{Name: "pooled",
			Usage: "as how many `LABELS` the mean annotator counts beside each"},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage},
		app.SeedFlag(nil, "all random choices"),
	}
	output := []cli.Flag{
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "confusion matrix to write, `FILE`.csv, for train --confusion"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "write-labels",
			Usage: "also write the annotators' consensus, `FILE`.csv"}},
		app.JSONFlag(), app.QuietFlag(),
	}
	var flags []cli.Flag
	flags = append(flags, source...)
	flags = append(flags, app.DataFlags("examples with noisy labels")...)
	own := training.Without(training.LearnerFlags(), "clean")
	flags = append(flags, append(how, training.Without(own, "folds")...)...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "estimate",
		Usage: "find the confusion matrix of labels",
		Description: "From what there is: a table of true against noisy labels (--table), examples of " +
			"which both labels\n" +
			"are known (--clean), labels of several people (--annotators), or noisy labels alone " +
			"(--data). It\n" +
			"prints P(noisy = row | true = column) with the standard error of each entry, says what it " +
			"assumes,\n" +
			"and writes the matrix (--out), which train --confusion takes.\n\n" +
			"Tables are read as pandas' crosstab and DataFrame write and print them, scikit-learn's\n" +
			"confusion_matrix, spreadsheets and numpy; margins All are left out.\n\n" +
			"--method is majority, one-coin or dawid-skene of --annotators, confident-joint or " +
			"anchors of\n" +
			"--probabilities, and of --data identity, clean, confident-joint (cleanlab's), anchors, em " +
			"(learned\n" +
			"together with a model) or auto, which lets these compete. A few --clean examples decide " +
			"where they\n" +
			"are given, and are joined by the winner, which is their prior. Without them whoever makes " +
			"labels held\n" +
			"out most likely wins, and the identity unless another is better by more than one standard " +
			"error.\n\n" +
			"Examples: uma-gpu confusion estimate --table crosstab.csv --out C.csv\n" +
			"          uma-gpu confusion estimate --data noisy.csv --clean checked.csv --out C.csv\n" +
			"          uma-gpu confusion estimate --annotators labels.csv --out C.csv --write-labels " +
			"consensus.csv",
		Flags:  flags,
		Action: estimateConfusion,
	}
}

// texts returns names as strings.
func texts[T ~string](names []T) (s []string) {
	for _, n := range names {
		s = append(s, string(n))
	}
	return s
}

// estimateReport is what confusion estimate --json prints.
type estimateReport struct {
	Method  string   `json:"method"`
	Classes []string `json:"classes"`
	// [p][q] = P(noisy = p | true = q)
	Confusion  [][]float64          `json:"confusion"`
	Error      [][]float64          `json:"standard_error,omitempty"` // absent where nothing tells
	Assumes    string               `json:"assumes"`
	Notes      []string             `json:"notes,omitempty"`
	Candidates []candidateReport    `json:"candidates,omitempty"` // of auto
	Annotators []estimatedAnnotator `json:"annotators,omitempty"`
}

type candidateReport struct {
	Method string  `json:"method"`
	Loss   float64 `json:"loss"`
	Ahead  float64 `json:"ahead_of_identity"`
	Error  float64 `json:"standard_error"`
}

type estimatedAnnotator struct {
	Name      string      `json:"name"`
	Labels    int         `json:"labels"`
	Right     float64     `json:"right"` // the mean of the diagonal
	Confusion [][]float64 `json:"confusion"`
	Error     [][]float64 `json:"standard_error"`
}

// estimating is what the flags of confusion estimate ask for.
type estimating struct {
	c      *cli.Context
	notes  app.Notes
	source string // the flag that names the source: table, clean, annotators, probabilities or data
	method string
	read   file.Options
}

func estimateConfusion(c *cli.Context) error {
	e := &estimating{c: c, notes: app.NewNotes(c), method: c.String("method")}
	if err := e.check(); err != nil {
		return err
	}
	r, m, err := e.find()
	if err != nil {
		return err
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if out := c.String("out"); out != "" {
		if err := m.Write(out); err != nil {
			return err
		}
	}
	return r.print(c)
}

// check judges the flags by the source.
func (e *estimating) check() error {
	c := e.c
	if err := app.CheckUsage(c); err != nil {
		return err
	}
	var given []string
	for _, name := range []string{"table", "annotators", "probabilities", "data", "clean"} {
		if c.String(name) != "" {
			given = append(given, name)
		}
	}
	known := []string{"table", "annotators", "data", "clean", "probabilities data", "data clean",
		"probabilities data clean"}
	if !slices.Contains(known, strings.Join(given, " ")) {
		return app.Usagef(c, "found the sources %q, wanted --table, --annotators, --clean, or --data "+
			"(also with --clean or "+
			"--probabilities)", given)
	}
	e.source = given[0]
	var methods []string
	switch e.source {
	case "table", "clean":
		methods = []string{"", string(outoffold.CleanCounts)}
	case "annotators":
		methods = append(texts(crowd.Methods), "")
	case "probabilities":
		methods = []string{"", string(outoffold.ConfidentJoint), string(outoffold.AnchorPoints)}
	case "data":
		methods = append(texts(outoffold.NoiseMethods), "")
	}
	if !slices.Contains(methods, e.method) {
		return app.Usagef(c, "--method is %q, wanted one for --%s: %s", e.method, e.source,
			app.OrList(slices.DeleteFunc(methods, func(s string) bool { return s == "" })))
	}
	for flag, sources := range map[string][]string{
		"confusion-axes": {"table"}, "prior": {"table", "clean"}, "pooled": {"annotators"},
		"write-labels": {"annotators"},
		"trust":        {"annotators"},
		"folds":        {"data"}, "learner": {"data"}, "kernel": {"data"}, "normalize": {"data"},
	} {
		if c.IsSet(flag) && !slices.Contains(sources, e.source) {
			return app.Usagef(c, "--%s is given without --%s", flag, strings.Join(sources, " or --"))
		}
	}
	if k := c.Int("folds"); k < 2 || k > judge.MostFolds {
		return app.Usagef(c, "--folds is %d, wanted 2 to %d", k, judge.MostFolds)
	}
	if p := c.Float64("pooled"); !(p >= 0 && p <= 1e6) {
		return app.Usagef(c, "--pooled is %v, wanted 0 to a million labels", p)
	}
	var err error
	e.read, err = app.DataOptions(c)
	return err
}

// find makes the estimate.
func (e *estimating) find() (*estimateReport, *confusion.Matrix, error) {
	switch e.source {
	case "table":
		return e.byTable()
	case "annotators":
		return e.byAnnotators()
	case "clean":
		return e.byPairs()
	case "probabilities":
		return e.byProbabilities()
	}
	return e.byData()
}

// reportOf is the report of an estimate.
func reportOf(m *estimate.Estimate) (*estimateReport, *confusion.Matrix, error) {
	q := m.Q()
	r := &estimateReport{Method: m.Method, Classes: m.Classes, Confusion: app.Rows(m.P, q),
		Assumes: m.Assumes,
		Notes:   m.Notes}
	if m.Error != nil {
		r.Error = app.Rows(m.Error, q)
	}
	return r, &m.Matrix, nil
}

// prior reads the matrix of --prior; nil for none.
func (e *estimating) prior(classes []string) (*confusion.Matrix, error) {
	path := e.c.String("prior")
	if path == "" {
		return nil, nil
	}
	return app.ReadMatrix(e.c.Context, path, confusion.ReadOptions{Classes: classes})
}

func (e *estimating) byTable() (*estimateReport, *confusion.Matrix, error) {
	path := e.c.String("table")
	t, err := app.Awaited(e.c.Context, path, func(path string) (*confusion.Table, error) {
		return confusion.ReadTable(path,
			confusion.TableOptions{Axes: confusion.Axes(e.c.String("confusion-axes"))})
	})
	if err != nil {
		return nil, nil, err
	}
	e.notes.Say("table: %s, %s of %d classes with %s, for %s", path, t.Kind, len(t.Classes), t.Axes,
		t.Why)
	prior, err := e.prior(t.Classes)
	if err != nil {
		return nil, nil, err
	}
	var m *estimate.Estimate
	if t.Kind == confusion.Counts {
		if m, err = estimate.FromCounts(t.Classes, t.V, prior); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	} else {
		if prior != nil {
			return nil, nil, app.Usagef(e.c,
				"--prior is given with a table of shares, wanted counts: shares do not tell how "+
					"many examples they are of")
		}
		shares, err := t.Share()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		m = &estimate.Estimate{Matrix: *shares, Method: "table",
			Assumes: "the table is right; shares do not tell how exact they are"}
	}
	m.Notes = append(m.Notes, t.Notes...)
	return reportOf(m)
}

func (e *estimating) byPairs() (*estimateReport, *confusion.Matrix, error) {
	path := e.c.String("clean")
	pairs, err := app.ReadClean(e.c.Context, path, estimate.CleanOptions{})
	if err != nil {
		return nil, nil, err
	}
	classes := slices.Clone(pairs.Classes)
	dataset.SortClasses(classes)
	if err := pairs.Arrange(classes); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	prior, err := e.prior(classes)
	if err != nil {
		return nil, nil, err
	}
	m, err := estimate.FromLabels(classes, pairs.Noisy, pairs.Right, prior)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return reportOf(m)
}

func (e *estimating) byAnnotators() (*estimateReport, *confusion.Matrix, error) {
	path := e.c.String("annotators")
	right, err := training.Trusted(e.c)
	if err != nil {
		return nil, nil, err
	}
	a, err := app.ReadAnnotations(e.c.Context, path, crowd.AnnotationOptions{Right: right})
	if err != nil {
		return nil, nil, err
	}
	classes := slices.Clone(a.Classes)
	dataset.SortClasses(classes)
	if err := a.Arrange(classes); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	e.notes.Say("annotators: %s, %d labels of %d annotators for %d examples, %d classes",
		path, len(a.Label), len(a.Names), a.N(), len(classes))
	found, err := crowd.Fit(e.c.Context, a, e.c.Uint64("seed"), crowd.Options{
		Method: crowd.Method(e.method), Pooled: e.c.Float64("pooled")})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if out := e.c.String("write-labels"); out != "" {
		if err := writeConsensus(out, found); err != nil {
			return nil, nil, err
		}
	}
	r, c, err := reportOf(m)
	r.Method += ", of the consensus of annotators"
	q := len(classes)
	for _, one := range found.Annotators {
		r.Annotators = append(r.Annotators, estimatedAnnotator{one.Name, one.Labels, one.Right(q),
			app.Rows(one.P, q),
			app.Rows(one.Error, q)})
	}
	return r, c, err
}

// readData reads the data and the examples of it whose class is known, nil if there are none.
func (e *estimating) readData() (*dataset.Dataset, []int32, error) {
	d, err := app.ReadData(e.c.Context, e.c.String("data"), e.read, e.notes)
	if err != nil {
		return nil, nil, err
	}
	path := e.c.String("clean")
	if path == "" {
		return d, nil, nil
	}
	clean, err := app.ReadClean(e.c.Context, path, estimate.CleanOptions{Classes: d.Classes, Y: d.Y})
	if err == nil && clean.Item == nil {
		err = fmt.Errorf("%s: found pairs of labels, wanted items of --data and their labels; for "+
			"pairs leave out --data",
			path)
	}
	if err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, nil, err
	}
	right := slices.Repeat([]int32{-1}, d.N)
	for k, i := range clean.Item {
		right[i] = clean.Right[k]
	}
	return d, right, nil
}

func (e *estimating) byProbabilities() (*estimateReport, *confusion.Matrix, error) {
	d, right, err := e.readData()
	if err != nil {
		return nil, nil, err
	}
	defer d.Close() // of what was only read: nothing to lose
	rows, err := estimate.ProbabilityFile(e.c.String("probabilities"), d.N, len(d.Classes))
	if err != nil {
		return nil, nil, err
	}
	var m *estimate.Estimate
	if e.method == string(outoffold.AnchorPoints) {
		m, err = estimate.Anchors(d.Classes, d.N, rows)
	} else {
		m, err = estimate.ConfidentJoint(d.Classes, d.Y, rows, false)
	}
	if err == nil && right != nil {
		m, err = outoffold.JoinClean(d, right, m)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", e.c.String("probabilities"), err)
	}
	return reportOf(m)
}

func (e *estimating) byData() (_ *estimateReport, _ *confusion.Matrix, err error) {
	c := e.c
	o := outoffold.NoiseOptions{Method: outoffold.NoiseMethod(e.method), Folds: c.Int("folds")}
	if o.Preparation, err = app.NormalizeSteps(c); err != nil {
		return nil, nil, err
	}
	o.Seed, o.Tool = c.Uint64("seed"), app.Version
	if o.Kernel, err = app.NewTrainKernel(c); err != nil {
		return nil, nil, err
	}
	if o.Learner, err = training.ChooseLearner(c, nil); err != nil {
		return nil, nil, err
	}
	if learn, ok := learners.Lookup(o.Learner, "learn_confusion"); ok && learn.String() == "true" {
		return nil, nil, app.Usagef(c, "--learn-confusion is given, which is what --method em does")
	}
	where, err := device.Choose(c)
	if err != nil {
		return nil, nil, err
	}
	d, right, err := e.readData()
	if err != nil {
		return nil, nil, err
	}
	defer d.Close() // of what was only read: nothing to lose
	engine, err := where.Open(e.notes, device.WorkOn(d, len(d.Classes)))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	o.Engine, o.Right = engine, right
	o.Watch.Note = e.notes.Say
	found, err := outoffold.EstimateNoise(c.Context, d, o)
	if err != nil {
		if err := app.Interrupted(c.Context); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	r, m, err := reportOf(found.Estimate)
	for _, k := range found.Candidates {
		r.Candidates = append(r.Candidates, candidateReport{string(k.Method), k.Loss, k.Ahead, k.Error})
	}
	return r, m, err
}
