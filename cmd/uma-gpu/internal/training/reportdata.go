package training

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// Grounds are the examples that a report judges by.
type Grounds struct {
	data   string
	Read   file.Options
	device *device.Device
	Model  *model.Model
	judge  string // auto, folds or model
	folds  int
	// of pictures: 0 none, -1 of the format
	width, height int
	noiseOf       func(classes []string) (*confusion.Matrix, error) // of those given
}

// newGrounds checks the flags of report.
func newGrounds(c *cli.Context) (g *Grounds, err error) {
	g = &Grounds{data: c.String("data"), folds: c.Int("folds"), width: -1}
	if g.Read, err = app.DataOptions(c); err != nil {
		return nil, err
	}
	if g.judge, err = app.OneOf(c, "judge", "auto", byFolds, byModel); err != nil {
		return nil, err
	}
	if g.folds < 2 || g.folds > judge.MostFolds {
		return nil, app.Usagef(c, "--folds is %d, wanted 2 to %d", g.folds, judge.MostFolds)
	}
	if c.IsSet("show") && c.IsSet("show-file") {
		return nil, app.Usagef(c, "--show and --show-file exclude each other")
	}
	switch text := c.String("pictures"); text {
	case "":
	case "none":
		g.width = 0
	default:
		width, height, ok := strings.Cut(text, "x")
		var errs [2]error
		g.width, errs[0] = strconv.Atoi(width)
		g.height, errs[1] = strconv.Atoi(height)
		if !ok || errors.Join(errs[:]...) != nil || g.width < 1 || g.height < 1 || g.width > 1<<12 ||
			g.height > 1<<12 {
			return nil, app.Usagef(c, "--pictures is %q, wanted such as 28x28, or none", text)
		}
	}
	if g.noiseOf, err = NoiseFlags(c); err != nil {
		return nil, err
	}
	g.device, err = device.Choose(c)
	return g, err
}

// judge reads the examples and judges model and labels by them.
func (r *reporter) judge(c *cli.Context, g *Grounds) error {
	d, err := g.ReadData(c, r.notes)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	folded := g.judge == byFolds || g.judge == "auto" && g.Model.Meta.TrainedOn(d)
	noise, err := r.noise(g, folded)
	if err != nil {
		return err
	}
	o := &OutOfFold{Data: d, Noise: noise, Training: &Training{Data: g.data, Device: g.device,
		Notes: r.notes}}
	if folded {
		err = r.fold(c, g, o)
	} else {
		err = g.predict(c, o)
	}
	if err != nil {
		return err
	}
	judged := report.Judged{File: g.data}
	if folded {
		judged.Folds = g.folds
	}
	p, err := o.Held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		p, err = nil, nil
	}
	if err != nil {
		return err
	}
	j, err := judgement.Of(d.Y, engine.Predicted(o.Held.Scores, o.Held.Q), p, d.Classes, noise)
	if err != nil {
		return err
	}
	judged.Report, judged.Probabilities, judged.Warnings = j.Report, j.Probabilities, j.Warnings
	judged.CorrectedLogLoss, judged.Corrected = j.CorrectedLogLoss, j.Corrected
	if p != nil {
		if judged.Reliability, err = reliability(d, p, noise); err != nil {
			return err
		}
		if err := r.suspect(c, g, o); err != nil {
			return err
		}
	}
	judged.Hardest(d.Classes)
	r.Judged = &judged
	return nil
}

// ReadData reads the examples raw, as the model's features.
func (g *Grounds) ReadData(c *cli.Context, n app.Notes) (*dataset.Dataset, error) {
	o := g.Read
	o.Classes = g.Model.Meta.Classes
	if g.Model.Meta.Preparation.Steps.NeedsDense() && o.Storage != "narrow" {
		o.Storage = "dense"
	}
	return app.ReadFor(c, o, g.Model.Meta.Features, n)
}

// noise returns the matrix by which the labels are noisy, nil if they are right: those that the
// model learned from are noisy by its own, and others, as for eval, only by one that is given.
func (r *reporter) noise(g *Grounds, learned bool) (*confusion.Matrix, error) {
	given, err := g.noiseOf(r.Classes)
	if err != nil {
		return nil, err
	}
	if given != nil {
		q := given.Q()
		r.Noise = &report.Noise{Source: "the one that was given", Matrix: app.Rows(given.P, q)}
		if given.Error != nil {
			r.Noise.Errors = app.Rows(given.Error, q)
		}
		return given, nil
	}
	switch m := g.Model; {
	case !learned:
	case m.Confusion != nil:
		return &confusion.Matrix{Classes: r.Classes, P: m.Confusion}, nil
	case m.Learned != nil:
		return &confusion.Matrix{Classes: r.Classes, P: m.Learned.Confusion, Error: m.Learned.Error}, nil
	}
	return nil, nil
}

// fold has trainings with the settings of the model judge the examples that they have not seen,
// and tells by as many without the matrix whether it helps.
func (r *reporter) fold(c *cli.Context, g *Grounds, o *OutOfFold) error {
	settings, told, err := host.Settings(g.Model, o.Data.N-(o.Data.N+g.folds-1)/g.folds)
	if err != nil {
		return err
	}
	if g.Model.Meta.From != "" {
		r.notes.Say("report: the model's training began with weights of another; these begin with 0")
	}
	noise := o.Noise
	if told == nil {
		o.Noise = nil
	}
	o.Options, o.Steps = settings, settings.Preparation
	if o.Data.Prepared != nil {
		o.Steps = ""
	}
	r.notes.Say("report: %d trainings, each without a part of the examples", g.folds)
	ways := progress.Work{Name: "judging the settings", Unit: "way", Total: 1}
	if told != nil {
		ways.Total = 2
	}
	ctx, task := progress.Begin(c.Context, ways)
	defer task.End()
	if err := o.Train(ctx, g.folds); err != nil {
		return err
	}
	task.Add(1)
	with := o.Held
	if told == nil {
		if noise != nil { // that the model has learned: the trainings were not told it
			if with.Temperature, err = confusion.Temperature(ctx, with.Scores, o.Data.Y, with.Q,
				noise); err != nil {
				with.Temperature = 0
			}
		}
		o.Noise = noise
		return nil
	}
	o.Noise = nil
	r.notes.Say("report: the same without a confusion matrix")
	if err := o.Train(ctx, g.folds); err != nil {
		return err
	}
	task.Add(1)
	check, err := judge.CheckNoise(o.Data.Y, noise, with, o.Held)
	if err != nil && !errors.Is(err, model.ErrNoTemperature) {
		return err
	}
	r.Check, o.Noise, o.Held = check, noise, with
	return nil
}

// predict has the model judge all examples.
func (g *Grounds) predict(c *cli.Context, o *OutOfFold) (err error) {
	d, m := o.Data, g.Model
	where := device.WorkOn(d, m.Q)
	if m.Projection != nil {
		where = device.WorkOnComponents(d.N, m.D, m.Q)
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	e, err := g.device.Open(o.Notes, where)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	scored := m.Scores
	if d.Prepared != nil {
		if err := features.PrepareBy(d, &m.Meta.Preparation); err != nil {
			return err
		}
		scored = m.ScoresPrepared
	}
	o.Held = &judge.HeldOut{Q: m.Q, Temperature: m.Meta.Temperature}
	o.Held.Scores, err = scored(c.Context, e, d)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	return err
}

// reliability puts predictions in bins, by right labels as far as noisy ones tell of them.
func reliability(d *dataset.Dataset, p []float32, noise *confusion.Matrix) ([]metric.Bin, error) {
	q := len(d.Classes)
	if noise == nil {
		return metric.Reliability(d.Y, p, q, nil)
	}
	inverse, err := noise.Invert()
	if inseparable := new(confusion.InseparableError); errors.As(err, &inseparable) {
		return nil, nil // judge has warned of it
	}
	if err != nil {
		return nil, err
	}
	return metric.Reliability(d.Y, p, q, inverse.V)
}

// suspect lists the labels that are most likely wrong, with what people know the examples by.
func (r *reporter) suspect(c *cli.Context, g *Grounds, o *OutOfFold) error {
	found, same, err := o.Issues()
	if err != nil {
		return err
	}
	var texts []string
	if column := c.String("show"); column != "" {
		texts, err = file.ReadTexts(c.Context, g.data, column, o.Data.N, g.Read)
	} else if path := c.String("show-file"); path != "" {
		texts, err = file.ReadTexts(c.Context, path, "", o.Data.N, g.Read)
	}
	if err != nil {
		return err
	}
	width, height, err := g.pictureSize(o.Data)
	if err != nil {
		return err
	}
	for k, row := range IssueRows(o.Data, found, same) {
		if row.Wrong {
			r.Issues++
		}
		if k >= report.MostSuspects || !row.Wrong {
			continue
		}
		s := report.Suspect{Example: row.Example, Given: row.Given, Likely: row.Predicted,
			Quality: row.Quality}
		if row.ID != nil {
			s.ID = *row.ID
		}
		if texts != nil {
			s.Text = texts[row.Example-1]
		}
		if width > 0 {
			x := o.Data.Pick([]int{int(row.Example - 1)}).Dense()
			if s.Picture, err = report.Picture(x.X, width, height); err != nil {
				return err
			}
		}
		r.Suspects = append(r.Suspects, s)
	}
	return nil
}

// pictureSize says how large the pictures are that the examples are, 0 for none.
func (g *Grounds) pictureSize(d *dataset.Dataset) (width, height int, err error) {
	const least = 7 // pixels of a side that shows something
	side := int(math.Sqrt(float64(d.D)))
	switch {
	case g.width == 0 || d.Prepared != nil:
		return 0, 0, nil
	case g.width > 0 && g.width*g.height != d.D:
		return 0, 0, fmt.Errorf("%s: found %d features, wanted %d×%d = %d, the pixels of --pictures",
			d.Path, d.D, g.width, g.height, g.width*g.height)
	case g.width > 0:
		return g.width, g.height, nil
	case d.Format == "idx" && side >= least && side*side == d.D:
		return side, side, nil
	}
	return 0, 0, nil
}
