// Package query is the command that asks for the labels that teach most.
package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Options have the pool as Data.
type Options struct {
	training.Options
	Labelled      string
	Classes       string // comma list
	Show          string // column
	ShowFile      string
	Ask           active.Options
	Strategy      string
	Sampler       string
	Session       string // folder
	Answers       string
	Out           string
	To            string
	WriteLabelled string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "query",
		Usage: "choose which examples an expert should label next",
		Description: `Learns from the labelled examples and prints which of the pool are worth a label most: a CSV of id,
what --show shows, and an empty column label. With --session the same file is FOLDER/round-1.csv.
Fill in the labels, with ? where the expert cannot tell, and give it back:

  uma-gpu query --pool P.csv --labelled L.csv --show text --session S
  uma-gpu query --session S --answers S/round-1.csv

and so on. Rows may come in any order, in any number of files. As long as some are missing, the same
questions are asked again. The session knows the other flags. It may be killed at any time: the same
command goes on with the same questions. Its folder has session.json, which is all of it, the
questions of each round, labels.csv, all answers so far, and model.npz, the last model.

--to writes the questions as tasks of Label Studio or records of Argilla, with what the model
predicts; --answers takes what they export.

Strategies: ` + strings.Join(app.Texts(active.Strategies), ", ") + `.
docs/active.md says what each is, and when it loses.

A note advises to stop when predictions hardly change any more: when kappa of one round's and the
next one's is 0.99 or more, as a mean of three. The model has settled then; it need not be good.

--confusion tells how the expert errs, for learners that correct.

Example: uma-gpu query --pool pool.csv --labelled few.csv --k 10
Example: uma-gpu query --pool pool.svm --classes spam,ham --show-file mails.txt --session S`,
		Flags: app.Flags(
			app.Input(&o.Data.Path, "pool", "examples to ask about: `FILE` (required, to begin)"),
			app.Input(&o.Labelled, "labelled", "examples whose label is known: `FILE`"),
			app.Text(&o.Classes, "classes", "",
				"comma `LIST` of all classes, where --labelled has not all of them"),
			app.Text(&o.Show, "show", "",
				"`COLUMN` of the pool to show to the expert: a text, or a picture's path"),
			app.Input(&o.ShowFile, "show-file",
				"`FILE` with a line for each example of the pool, to show instead"),
			app.Without(o.NoisyDataFlags(), "data"),
			app.Choice(&o.Strategy, "strategy", string(active.Margin), "`STRATEGY` by which to choose",
				app.Texts(active.Strategies)...),
			app.Count(&o.Ask.K, "k", 10, 1, math.MaxInt, "ask about `K` examples at a time"),
			app.Number(&o.Ask.Diversity, "diversity", 0.3,
				"`SHARE`, 0 to 1, of what counts that is being unlike the other questions"),
			app.Number(&o.Ask.Balance, "balance", 0,
				"`WEIGHT` of having few labels of the predicted class, 0 and above"),
			app.Count(&o.Ask.Members, "committee", 7, 2, 100, "`MEMBERS` of strategy committee"),
			app.Number(&o.Ask.Slack, "slack", 0,
				"`SHARE` by which svm, maxmin, ratio, analytic and bpm may be wrong; 0 as needed"),
			app.Choice(&o.Sampler, "sampler", billiard,
				"`PATH` to the centroid of bpm: billiard or hit-and-run", billiard, hitAndRun),
			o.LearningFlags(), o.EngineFlags(),
			app.Text(&o.Session, "session", "",
				"`FOLDER` that keeps questions and answers, to go on with"),
			app.Input(&o.Answers, "answers", "`FILE` with answers, a CSV with columns id and label, or exported tasks"),
			app.OutputFlag{StringFlag: app.Text(&o.Out, "out", "-",
				"`FILE` for the questions; - is standard output")},
			app.QuestionFormatFlag(&o.To),
			app.Output(&o.WriteLabelled, "write-labelled",
				"also write all labelled examples to `FILE`, to train on"),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// The values of --sampler.
const (
	billiard  = "billiard"
	hitAndRun = "hit-and-run"
)

type questions struct {
	*Options
	session *session // one round long where there is no folder

	labelled, rest *dataset.Dataset // labelled is nil for none, rest the pool
	ids            []string         // of the pool's examples
	place          map[string]int   // of an id
	shown          string           // name of the column that is shown, "" for none
	texts          []string         // shown of each
	model          *host.Trained    // of the last round; nil if it was not trained
}

// Run takes the answers, and asks the next questions if none are open.
func Run(ctx context.Context, o *Options) error {
	q := &questions{Options: o}
	if err := q.check(); err != nil {
		return err
	}
	defer q.close()
	if err := q.read(ctx); err != nil {
		return err
	}
	if err := q.takeAnswers(ctx); err != nil {
		return err
	}
	if len(q.session.Rounds) == 0 || q.session.open() == 0 {
		if err := q.askNext(ctx); err != nil {
			return err
		}
	}
	return q.report(ctx)
}

// check checks all options, those of the session included.
func (q *questions) check() error {
	if q.Session == "" && q.Answers != "" {
		return app.Usage("--answers is given without --session, which knows the questions")
	}
	if err := q.open(); err != nil {
		return err
	}
	if q.Data.Path == "" {
		return app.Missing("pool")
	}
	if err := q.Check(nil); err != nil {
		return err
	}
	for _, limit := range []struct {
		flag        string
		value, most float64
	}{{"diversity", q.Ask.Diversity, 1}, {"balance", q.Ask.Balance, 1000},
		{"slack", q.Ask.Slack, 1000}} {
		if !(limit.value >= 0 && limit.value <= limit.most) {
			return app.Usage("--%s is %v, wanted 0 to %v", limit.flag, limit.value, limit.most)
		}
	}
	q.Ask.Strategy, q.Ask.Centroid.HitAndRun = active.Strategy(q.Strategy), q.Sampler == hitAndRun
	q.Ask.Seed = q.Train.Seed
	switch k := q.Train.Kernel; {
	case q.Show != "" && q.ShowFile != "":
		return app.Usage("--show and --show-file exclude each other")
	case k != nil && (k.Search || k.Mean):
		return app.Usage("--gamma is %s, which takes more labels than there are; give a number or median",
			q.Kernel.Gamma)
	case q.OwnMap():
		return app.Usage("learner %s has a kernel map of its own, which needs labels; leave --kernel "+
			"out, or choose another learner", q.Train.Learner.Definition().Name)
	case q.WriteLabelled != "":
		return q.Data.CheckOutput(q.WriteLabelled)
	}
	return nil
}

// close frees what was only read: there is nothing to lose.
func (q *questions) close() {
	for _, d := range []*dataset.Dataset{q.labelled, q.rest} {
		if d != nil {
			d.Close()
		}
	}
}

// askNext trains, chooses the questions of a round, and keeps them.
func (q *questions) askNext(ctx context.Context) (err error) {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if q.Ask.Noise, err = q.ReadNoise(ctx, q.session.Classes); err != nil {
		return err
	}
	d, labels, err := q.all()
	if err != nil {
		return err
	}
	if q.Train.Engine, err = q.Device.Open(q.Notes, q.Work(d)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Train.Engine.Close()) }()
	q.Train.Watch = host.Watch{Note: q.Notes.Say}
	asked, predicted, err := q.choose(ctx, d, labels)
	if err := q.Failure(ctx, err); err != nil {
		return err
	}
	next := round{Asked: []int{}, Answers: []int32{}}
	for _, i := range asked {
		next.Asked, next.Answers = append(next.Asked, i), append(next.Answers, active.Unknown)
	}
	if len(q.session.Predicted) > 0 && len(predicted) > 0 {
		a := compare(q.session.Predicted, predicted, len(q.session.Classes))
		next.Agreement = &a
	}
	if len(asked) > 0 {
		q.session.Predicted, q.session.Rounds = predicted, append(q.session.Rounds, next)
	}
	return q.save()
}

// choose makes a pool of all examples, trains if two classes have labels, and returns which of
// those to ask about are worth most, with what the model predicts of them.
func (q *questions) choose(ctx context.Context, d *dataset.Dataset, labels []int32) (
	asked []int, predicted []int32, err error) {
	p, err := active.NewPool(ctx, d, q.Train)
	if err != nil {
		return nil, nil, err
	}
	p.Labels = labels
	first := d.N - q.rest.N // of the pool, behind those labelled from the beginning
	classes := map[int32]bool{}
	for _, y := range labels {
		if y >= 0 {
			classes[y] = true
		}
	}
	q.Ask.Train = q.Train
	q.Ask.Train.Watch = host.Watch{}
	var m *model.Model
	if len(classes) > 1 {
		if q.model, err = p.Fit(ctx, q.Ask.Noise, q.Ask.Train); err != nil {
			return nil, nil, err
		}
		m = q.model.Model
		predicted, err = engine.Predict(q.Train.Engine, engine.Weights{Q: m.Q, D: m.D, W: m.W},
			p.Examples)
		if err != nil {
			return nil, nil, err
		}
		predicted = predicted[first:]
	} else {
		q.Notes.Say("questions: drawn at random until two classes have labels")
	}
	if asked, err = p.Ask(ctx, q.Ask, m); err != nil {
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
	return &d, append(labels, q.session.labels()...), nil
}

// advice says what the rounds so far speak for, "" for nothing.
func (q *questions) advice() string {
	steady := q.session.steady()
	if steady == nil {
		return ""
	}
	kappas := app.First(steady, len(steady), func(a agreement) string {
		return fmt.Sprintf("%.3f", a.Kappa)
	})
	return "predictions hardly change any more (kappa " + kappas + "): more labels of this kind " +
		"will change little; stop, or look for surprises with --strategy random in a session of its own"
}
