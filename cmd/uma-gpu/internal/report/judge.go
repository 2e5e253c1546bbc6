package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
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

// judge evaluates the model and the labels on the data.
func (r *reporter) judge(ctx context.Context) error {
	d, err := training.ReadFor(ctx, &r.Data, r.Read, &r.Match, r.model)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	folded := r.Judge == byFolds || r.Judge != byModel && r.model.Meta.TrainedOn(d)
	noise, err := r.Options.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	noise = r.noiseOf(noise, folded)
	f := &training.OutOfFold{Options: &r.Options.Options, Dataset: d, Noise: noise}
	folds := 0
	if folded {
		folds = r.Folds
		err = r.fold(ctx, f)
	} else {
		err = r.predict(ctx, f)
	}
	if err != nil {
		return err
	}
	p, err := f.Probabilities()
	if err != nil {
		return err
	}
	j, err := judgement.Of(d.Y, engine.Predicted(f.Held.Scores, f.Held.Q), p, d.Classes, noise)
	if err != nil {
		return err
	}
	r.Judged = j.Judged(r.Data.Path, folds)
	if p != nil {
		if r.Judged.Reliability, err = reliability(d, p, noise); err != nil {
			return err
		}
		if err := r.suspect(ctx, f); err != nil {
			return err
		}
	}
	r.Judged.Hardest(d.Classes)
	return nil
}

// noiseOf returns the confusion matrix of the labels, nil if they are trusted: for the training
// labels the model's, for others only a given one.
func (r *reporter) noiseOf(given *confusion.Matrix, learned bool) *confusion.Matrix {
	switch m := r.model; {
	case given != nil:
		q := given.Q()
		r.Report.Noise = &report.Noise{Source: "given", Matrix: app.Rows(given.P, q),
			Errors: app.Rows(given.Error, q)}
		return given
	case learned && m.Confusion != nil:
		return &confusion.Matrix{Classes: r.Classes, P: m.Confusion}
	case learned && m.Learned != nil:
		return &confusion.Matrix{Classes: r.Classes, P: m.Learned.Confusion, Error: m.Learned.Error}
	}
	return nil
}

// fold predicts out of fold with the settings of the model, with the matrix and without.
func (r *reporter) fold(ctx context.Context, f *training.OutOfFold) error {
	d, noise := f.Dataset, f.Noise
	settings, told, err := host.Settings(r.model, d.N-(d.N+r.Folds-1)/r.Folds)
	if err != nil {
		return err
	}
	if r.model.Meta.From != "" {
		r.Notes.Say("report: the model was trained from initial weights; the folds start from 0")
	}
	if told == nil {
		f.Noise = nil
	}
	if f.Train = settings; d.Prepared != nil {
		f.Train.Preparation = ""
	}
	r.Notes.Say("report: %d trainings, each without one fold", r.Folds)
	work := progress.Work{Name: "judging the settings", Unit: "way", Total: 1}
	if told != nil {
		work.Total = 2
	}
	ctx, task := progress.Begin(ctx, work)
	defer task.End()
	if err := f.Fit(ctx); err != nil {
		return err
	}
	task.Add(1)
	with := f.Held
	if told == nil {
		if f.Noise = noise; noise != nil { // learned, not given to the trainings
			with.Temperature, err = confusion.Temperature(ctx, with.Scores, d.Y, with.Q, noise)
			if err != nil {
				with.Temperature = 0
			}
		}
		return nil
	}
	f.Noise = nil
	r.Notes.Say("report: the same without the confusion matrix")
	if err := f.Fit(ctx); err != nil {
		return err
	}
	task.Add(1)
	check, err := judge.CheckNoise(d.Y, noise, with, f.Held)
	if err != nil && !errors.Is(err, model.ErrNoTemperature) {
		return err
	}
	r.Check, f.Noise, f.Held = check, noise, with
	return nil
}

// predict predicts all examples by the model.
func (r *reporter) predict(ctx context.Context, f *training.OutOfFold) (err error) {
	d, m := f.Dataset, r.model
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	e, err := r.Device.Open(r.Notes, app.WorkOfModel(m, d.Examples))
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
	f.Held = &judge.HeldOut{Q: m.Q, Temperature: m.Meta.Temperature}
	f.Held.Scores, err = scored(ctx, e, d.Examples)
	if ended := app.Interrupted(ctx); ended != nil {
		return ended
	}
	return err
}

// reliability bins the predictions, corrected for noisy labels.
func reliability(d *dataset.Dataset, p []float32, noise *confusion.Matrix) ([]metric.Bin, error) {
	q := len(d.Classes)
	if noise == nil {
		return metric.Reliability(d.Y, p, q, nil)
	}
	inverse, err := noise.Invert()
	if inseparable := new(confusion.InseparableError); errors.As(err, &inseparable) {
		return nil, nil // the judgement has warned of it
	}
	if err != nil {
		return nil, err
	}
	return metric.Reliability(d.Y, p, q, inverse.V)
}

// cleanCommand returns the command that lists all suspects. It reads the data without the model, so
// its flags describe the columns.
func (r *reporter) cleanCommand(d *dataset.Dataset) string {
	words := "uma-gpu issues --data " + app.Quoted(r.Data.Path) +
		r.Line(append(app.FlagNames(new(app.Data).FormatFlags(&r.Common)), "confusion",
			"confusion-axes")...)
	if d.Label != "" && !r.Given("label-column") && !r.Given("labels") {
		words += " --label-column " + app.Quoted(d.Label)
	}
	if d.Encoding != nil && !r.Given("text") {
		var texts []string
		for _, c := range d.Encoding.Columns {
			if c.Kind == dataset.KindText {
				texts = append(texts, c.Name)
			}
		}
		if texts != nil {
			words += " --text " + app.Quoted(strings.Join(texts, ","))
		}
	}
	return words + " --out issues.csv --write-clean clean.csv"
}

// suspect lists the labels that are most likely wrong, with texts and pictures.
func (r *reporter) suspect(ctx context.Context, f *training.OutOfFold) error {
	found, err := f.Issues()
	if err != nil {
		return err
	}
	d := f.Dataset
	r.NextCommand = r.cleanCommand(d)
	var texts []string
	rows := d.N + len(d.SkippedAt) // of the input
	if r.Show != "" {
		texts, err = file.ReadTexts(ctx, r.Data.Path, r.Show, rows, r.Read)
		if err != nil {
			return err
		}
	}
	width, height, err := r.pictureSizeOf(d)
	if err != nil {
		return err
	}
	r.Suspects, r.Issues = training.Suspects(training.IssueRows(d, found, dataset.Firsts(d.Examples)))
	for k := range r.Suspects {
		s := &r.Suspects[k]
		if texts != nil {
			s.Text = texts[d.SourceRow(s.Index)]
			r.Shown = r.Show
		}
		if width > 0 {
			x := d.Pick([]int{s.Index}).Dense()
			if s.Picture, err = report.Picture(x.X, width, height); err != nil {
				return err
			}
		}
	}
	return nil
}

// pictureSize reads --pictures: 0, 0 if it gives no size.
func (o *Options) pictureSize() (width, height int, err error) {
	if o.Pictures == "" || o.Pictures == "none" {
		return 0, 0, nil
	}
	if _, err := fmt.Sscanf(o.Pictures, "%dx%d", &width, &height); err != nil ||
		fmt.Sprintf("%dx%d", width, height) != o.Pictures || min(width, height) < 1 ||
		max(width, height) > 1<<12 {
		return 0, 0, app.Usage("--pictures is %q, want a size such as 28x28, or none", o.Pictures)
	}
	return width, height, nil
}

// pictureSizeOf returns the size of the examples as pictures, 0 for none.
func (o *Options) pictureSizeOf(d *dataset.Dataset) (width, height int, err error) {
	const least = 7 // pixels of a side that shows something
	width, height, err = o.pictureSize()
	side := int(math.Sqrt(float64(d.D)))
	switch {
	case err != nil || o.Pictures == "none" || d.Prepared != nil:
		return 0, 0, err
	case width > 0 && width*height != d.D:
		return 0, 0, fmt.Errorf("%s: found %d features, wanted %d×%d = %d, the pixels of --pictures",
			d.Path, d.D, width, height, width*height)
	case width == 0 && d.Format == "idx" && side >= least && side*side == d.D:
		return side, side, nil
	}
	return width, height, nil
}
