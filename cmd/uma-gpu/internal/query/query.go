// Package query is the command that asks for the labels that teach most.
package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/versionspace"
)

func New() *cli.Command {
	data := append([]cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "pool",
			Usage: "examples to ask about: `FILE` (required, to begin)"}},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "labelled",
			Usage: "examples whose label is known: `FILE`"}},
		&cli.StringFlag{Name: "classes",
			Usage: "comma `LIST` of all classes, where --labelled has not all of them"},
		&cli.StringFlag{Name: "show",
			Usage: "`COLUMN` of the pool to show to the expert: a text, or a picture's path"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "show-file",
			Usage: "`FILE` with a line for each example of the pool, to show instead"}},
	}, training.NoisyDataFlags()[1:]...) // without --data
	questions := []cli.Flag{
		&cli.StringFlag{Name: "strategy", Value: string(active.Margin),
			Usage: "`STRATEGY` by which to choose"},
		&cli.IntFlag{Name: "k", Value: 10, Usage: "ask about `K` examples at a time"},
		&cli.Float64Flag{Name: "diversity", Value: 0.3,
			Usage: "`SHARE`, 0 to 1, of what counts that is being unlike the other questions"},
		&cli.Float64Flag{Name: "balance",
			Usage: "`WEIGHT` of having few labels of the predicted class, 0 and above"},
		&cli.IntFlag{Name: "committee", Value: 7, Usage: "`MEMBERS` of strategy committee"},
		&cli.Float64Flag{Name: "slack",
			Usage: "`SHARE` by which svm, maxmin, ratio, analytic and bpm may be wrong; 0 as needed"},
		&cli.StringFlag{Name: "sampler", Value: billiard,
			Usage: "`WAY` to the centroid of bpm: billiard or hit-and-run"},
	}
	output := []cli.Flag{
		&cli.StringFlag{Name: "session",
			Usage: "`FOLDER` that keeps questions and answers, to go on with"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "answers",
			Usage: "`FILE` with answers, a CSV with columns id and label"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Value: "-",
			Usage: "`FILE` for the questions, CSV; - is standard output"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "write-labelled",
			Usage: "also write all labelled examples to `FILE`, to train on"}},
		app.JSONFlag(), app.QuietFlag(),
	}
	flags := data
	flags = append(flags, questions...)
	flags = append(flags, training.LearningFlags()...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "query",
		Usage: "choose which examples an expert should label next",
		Description: "Learns from the labelled examples and prints which of the pool are worth a " +
			"label most: a CSV of\n" +
			"id, what --show shows, and an empty column label. With --session the same file is " +
			"FOLDER/round-1.csv:\n" +
			"fill in the labels, with ? for what the expert cannot tell, and give it back:\n\n" +
			"  uma-gpu query --pool P.csv --labelled L.csv --show text --session S\n" +
			"  uma-gpu query --session S --answers S/round-1.csv\n\n" +
			"and so on. Rows may come in any order, in any number of files; as long as some are missing, " +
			"the same\n" +
			"questions are asked again. The session knows the other flags. It may be killed at any time: " +
			"the same\n" +
			"command goes on with the same questions. Its folder has session.json, which is all of it, " +
			"the questions\n" +
			"of each round, labels.csv, all answers so far, and model.npz, what was learned from them.\n\n" +
			"Strategies: " + strings.Join(strategyNames(), ", ") +
			".\ndocs/active.md says what each is, and when it " +
			"loses.\n\n" +
			"A note advises to stop when predictions hardly change any more: kappa of one round's and " +
			"the next one's\n" +
			"of 0.99 or more, as a mean of three. It says that the model has settled, not that it is " +
			"good.\n\n" +
			"--confusion tells how the expert errs, for learners that correct.\n\n" +
			"Example: uma-gpu query --pool pool.csv --labelled few.csv --k 10\n" +
			"Example: uma-gpu query --pool pool.svm --classes spam,ham --show-file mails.txt --session S",
		Flags:  flags,
		Action: query,
	}
}

// The values of --sampler.
const (
	billiard  = "billiard"
	hitAndRun = "hit-and-run"
)

func strategyNames() (names []string) {
	for _, s := range active.Strategies {
		names = append(names, string(s))
	}
	return names
}

// questions is a query under way.
type questions struct {
	*training.Training
	ask     active.Options
	folder  string          // of the session; "" for none
	session *active.Session // one round long where there is no folder

	labelled, rest *dataset.Dataset // labelled is nil for none, rest the pool
	ids            []string         // of the pool's examples
	place          map[string]int   // of an id
	shown          string           // what the column is called that is shown, "" for none
	texts          []string         // shown of each
	model          *host.Trained    // of the last round; nil if it was not trained
}

func query(c *cli.Context) (err error) {
	q, err := newQuestions(c)
	if err != nil {
		return err
	}
	if err := q.read(c); err != nil {
		return err
	}
	defer q.close()
	if err := q.answer(c); err != nil {
		return err
	}
	if len(q.session.Rounds) == 0 || q.session.Open() == 0 {
		if err := q.next(c); err != nil {
			return err
		}
	}
	return q.tell(c)
}

// newQuestions checks all flags, those of the session included.
func newQuestions(c *cli.Context) (*questions, error) {
	q := &questions{folder: c.String("session")}
	if q.folder == "" && c.String("answers") != "" {
		return nil, app.Usagef(c, "--answers is given without --session, which knows the questions")
	}
	if err := q.open(c); err != nil {
		return nil, err
	}
	var err error
	if q.Training, err = training.New(c, "pool", "out"); err != nil {
		return nil, err
	}
	q.Data = c.String("pool")
	strategy, err := app.OneOf(c, "strategy", strategyNames()...)
	if err != nil {
		return nil, err
	}
	sampler, err := app.OneOf(c, "sampler", billiard, hitAndRun)
	if err != nil {
		return nil, err
	}
	if k := c.Int("k"); k < 1 {
		return nil, app.Usagef(c, "--k is %d, wanted at least 1", k)
	}
	if members := c.Int("committee"); members < 2 || members > 100 {
		return nil, app.Usagef(c, "--committee is %d, wanted 2 to 100", members)
	}
	q.ask = active.Options{Strategy: active.Strategy(strategy), K: c.Int("k"), Seed: q.Seed,
		Diversity: c.Float64("diversity"), Balance: c.Float64("balance"), Members: c.Int("committee"),
		Slack: c.Float64("slack"), Centroid: versionspace.Options{HitAndRun: sampler == hitAndRun}}
	for _, limit := range []struct {
		flag string
		most float64
	}{{"diversity", 1}, {"balance", 1000}, {"slack", 1000}} {
		if v := c.Float64(limit.flag); !(v >= 0 && v <= limit.most) {
			return nil, app.Usagef(c, "--%s is %v, wanted 0 to %v", limit.flag, v, limit.most)
		}
	}
	if c.IsSet("show") && c.IsSet("show-file") {
		return nil, app.Usagef(c, "--show and --show-file exclude each other")
	}
	if q.Kernel != nil && (q.Kernel.Search || q.Kernel.Mean) {
		return nil, app.Usagef(c,
			"--gamma is %s, which takes more labels than there are; give a number or median",
			c.String("gamma"))
	}
	if q.OwnMap() {
		return nil, app.Usagef(c,
			"learner %s has a kernel map of its own, which needs labels; leave --kernel out, or "+
				"choose another learner", q.Learner.Definition().Name)
	}
	if out := c.String("write-labelled"); out != "" {
		return q, app.CheckFormat(c, out)
	}
	return q, nil
}

// close frees what was only read: there is nothing to lose.
func (q *questions) close() {
	if q.labelled != nil {
		q.labelled.Close()
	}
	if q.rest != nil {
		q.rest.Close()
	}
}

// next trains, chooses the questions of a round, and keeps them.
func (q *questions) next(c *cli.Context) (err error) {
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if q.ask.Noise, err = q.ReadNoise(c.Context, q.session.Classes); err != nil {
		return err
	}
	d, labels, err := q.all()
	if err != nil {
		return err
	}
	if q.Engine, err = q.Device.Open(q.Notes, q.Work(d)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Engine.Close()) }()
	q.Preparation, q.Watch = q.Steps, host.Watch{Note: q.Notes.Say}
	asked, predicted, err := q.choose(c.Context, d, labels)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Data, app.AdviseKernel(app.AdviseMemory(err)))
	}
	round := active.Round{Asked: []int{}, Answers: []int32{}}
	for _, i := range asked {
		round.Asked, round.Answers = append(round.Asked, i), append(round.Answers, active.Unknown)
	}
	if len(q.session.Predicted) > 0 && len(predicted) > 0 {
		a := active.Compare(q.session.Predicted, predicted, len(q.session.Classes))
		round.Agreement = &a
	}
	if len(asked) > 0 {
		q.session.Predicted, q.session.Rounds = predicted, append(q.session.Rounds, round)
	}
	return q.keep()
}

// choose makes a pool of all examples, trains if two classes have labels, and returns which of
// those to ask about are worth most, with what the model predicts of them.
func (q *questions) choose(ctx context.Context, d *dataset.Dataset, labels []int32) (
	asked []int, predicted []int32, err error) {
	p, err := active.NewPool(ctx, d, q.Options)
	if err != nil {
		return nil, nil, err
	}
	p.Labels = labels
	first := d.N - q.rest.N // of the pool, behind those labelled from the beginning
	classes := map[int32]bool{}
	for _, i := range p.Labelled() {
		classes[labels[i]] = true
	}
	q.ask.Train = q.Options
	q.ask.Train.Watch = host.Watch{}
	var m *model.Model
	if len(classes) > 1 {
		if q.model, err = p.Fit(ctx, q.ask.Noise, q.ask.Train); err != nil {
			return nil, nil, err
		}
		m = q.model.Model
		scores, err := p.Scores(q.Engine, m)
		if err != nil {
			return nil, nil, err
		}
		predicted = engine.Predicted(scores, len(d.Classes))[first:]
	} else {
		q.Notes.Say("questions: drawn at random until two classes have labels")
	}
	if asked, err = p.Ask(ctx, q.ask, m); err != nil {
		return nil, nil, err
	}
	for k := range asked {
		asked[k] -= first
	}
	return asked, predicted, nil
}

// all returns the labelled examples and behind them the pool, and what is known of each.
func (q *questions) all() (*dataset.Dataset, []int32, error) {
	d := *q.rest
	d.Y, d.Classes = nil, q.session.Classes
	var labels []int32
	if l := q.labelled; l != nil {
		joined, err := l.Examples.Join(q.rest.Examples)
		if err != nil {
			return nil, nil, fmt.Errorf("%s and %s: %w", l.Path, q.rest.Path, err)
		}
		d.Examples, d.Features = joined, l.Features
		labels = append(labels, l.Y...)
	}
	return &d, append(labels, q.session.Labels()...), nil
}

// advice says what the rounds so far speak for, "" for nothing.
func (q *questions) advice() string {
	steady := q.session.Steady()
	if steady == nil {
		return ""
	}
	var kappas []string
	for _, r := range steady {
		kappas = append(kappas, fmt.Sprintf("%.3f", r.Kappa))
	}
	return "predictions hardly change any more (kappa " + strings.Join(kappas, ", ") +
		"): more labels of this kind " +
		"will change little; stop, or look for surprises with --strategy random in a session of its own"
}
