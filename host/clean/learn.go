package clean

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// leastSettled is the size of a contest from which one fold chooses the parameters of all.
const leastSettled = 300

// outOfFold predicts each row by a model of the other folds and keeps the models.
func (c *contest) outOfFold(ctx context.Context, s *candidate) error {
	s.p = make([]float32, len(c.rows)*c.q)
	h := how{trial: true}
	for f := range c.Folds {
		var fit, of, rest []int
		for k, i := range c.rows {
			if c.fold[k] == f {
				rest, of = append(rest, k), append(of, i)
			} else {
				fit = append(fit, i)
			}
		}
		if len(rest) == 0 {
			continue
		}
		h.from = start(c.said, s.way, len(s.models))
		m, err := c.train(ctx, s, fit, h)
		if err != nil {
			return err
		}
		if m == nil {
			return errUntold
		}
		if m.Run.Settled != nil && len(c.rows) >= leastSettled {
			h.settled = m.Run.Settled
		}
		s.models = append(s.models, m.Model)
		at := 0
		if err := host.Score(ctx, c.Engine, m.Model, c.data, of, func(_ int, scores []float32) {
			copy(s.p[rest[at]*c.q:], scores)
			at++
		}); err != nil {
			return err
		}
	}
	return calibrate(ctx, &c.cases, s)
}

// start returns the initial model of a fold: preparation and kernel map of the first candidate of
// its kind, with zero weights; nil for that candidate itself.
func start(said []*candidate, w way, fold int) *model.Model {
	for _, s := range said {
		if s.way.kernel == w.kernel && len(s.models) > fold {
			return emptied(s.models[fold])
		}
	}
	return nil
}

// emptied returns a copy with weights of 0.
func emptied(m *model.Model) *model.Model {
	copied := *m
	copied.W = make([]float32, len(m.W))
	return &copied
}

// calibrate turns the scores into probabilities, by a temperature fitted to the labels, or to
// checked rows for a candidate that uses only these.
func calibrate(ctx context.Context, c *cases, s *candidate) (err error) {
	var scores []float32
	var y []int32
	for k, i := range c.rows {
		label := c.data.Y[i]
		if s.way.noise == alone {
			label = c.right[i]
		}
		if label >= 0 {
			scores, y = append(scores, s.p[k*c.q:(k+1)*c.q]...), append(y, label)
		}
	}
	s.temperature, err = confusion.Temperature(ctx, scores, y, c.q, noiseOf(s.noise))
	if err != nil && s.way.noise != none {
		return errUntold
	}
	if err != nil { // only label frequencies are known
		s.shares = make([]float32, c.q)
		for _, k := range y {
			s.shares[k] += 1 / float32(len(y))
		}
	}
	return s.probabilities(s.p)
}

// probabilities turns scores into probabilities, in place.
func (s *candidate) probabilities(p []float32) error {
	if s.shares != nil {
		for at := range p {
			p[at] = s.shares[at%len(s.shares)]
		}
		return nil
	}
	m := model.Model{Q: s.models[0].Q}
	m.Meta.Temperature = s.temperature
	return m.ToProbabilities(p)
}

// rightTimes is the least weight of a checked example of a weighty way; together they get at least
// rightShare of the weight.
const (
	rightTimes = 2
	rightShare = 0.5
)

// how says how a candidate learns: by settled parameters instead of a search for them; from the
// preparation and map of a model; whether weights alone count.
type how struct {
	settled learners.Params
	from    *model.Model
	trial   bool
}

// train trains a candidate on some examples; nil if there are too few.
func (c *contest) train(ctx context.Context, s *candidate, fit []int, h how) (*host.Trained,
	error) {
	w, o := s.way, c.Options.Options
	p := softmax.Defaults()
	o.Trial, o.Memory = h.trial, []dataset.Memory{dataset.InPlace}
	if h.trial {
		o.Watch = host.Watch{}
	}
	switch o.From = h.from; {
	case o.From != nil:
		o.Preparation = ""
	case w.kernel && h.trial:
		o.Kernel = c.rbf(min(fewLandmarks, len(fit)/2))
	case w.kernel:
		o.Kernel = c.rbf(min(landmarks, len(fit)))
	}
	var noise *confusion.Matrix
	times := 1
	if w.weighty {
		times = weightOfRight(&c.cases, fit)
	}
	switch w.noise {
	case none:
		p.Correction = softmax.None
	case given, joint, learned:
		noise = noiseOf(s.noise)
	case alone:
		p.Correction = softmax.None
		fit = slices.DeleteFunc(slices.Clone(fit), func(i int) bool { return c.right[i] < 0 })
		if len(fit) < 2 {
			return nil, nil
		}
	}
	var more []int // the further copies of examples of known class
	for _, i := range fit {
		if c.right[i] >= 0 {
			more = append(more, slices.Repeat([]int{i}, times-1)...)
		}
	}
	if o.Learner = p; h.settled != nil {
		o.Learner = h.settled
	}
	m, err := host.Train(ctx, pick(&c.cases, slices.Concat(fit, more)), noise, o)
	if err == nil && m.Meta.Kernel != nil {
		c.gamma = m.Meta.Kernel.Function.Gamma
	}
	return m, err
}

// Landmarks of the kernel, of the model and in the contest.
const (
	landmarks    = 500
	fewLandmarks = 200
)

// weightOfRight returns the weight of a checked example of fit.
func weightOfRight(c *cases, fit []int) int {
	n := lists.Count(fit, func(i int) bool { return c.right[i] >= 0 })
	if n == 0 {
		return 1
	}
	return max(rightTimes, int(rightShare*float64(len(fit))/float64(n)))
}

// noise returns the noise that a way assumes; nil for none.
func (c *contest) noise(ctx context.Context, w way) (*estimate.Estimate, error) {
	switch w.noise {
	case given:
		return &estimate.Estimate{Matrix: *c.Given, Method: "given"}, nil
	case joint:
		return confidentJoint(&c.cases, c.said)
	case learned:
		return c.learnNoise(ctx, w)
	}
	return nil, nil
}

// mostLearned is the number of examples for learning noise; a matrix needs fewer than a model.
const mostLearned = 3000

// learnNoise learns the noise together with a model of the way, and adds the checked examples.
func (c *contest) learnNoise(ctx context.Context, w way) (*estimate.Estimate, error) {
	some := c.labelled(sample(&c.cases, mostLearned, c.Seed))
	var k *fitting.Options
	if w.kernel {
		k = c.rbf(min(fewLandmarks/2, len(some)))
	}
	data := pick(&c.cases, some)
	data.Y = lists.At(c.data.Y, some)
	o := c.Options.Options
	o.Memory = []dataset.Memory{dataset.InPlace}
	l, err := learnNoise(ctx, data, nil, o, 0, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w, err)
	}
	e, err := estimate.FromLearned(data.Classes, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w, err)
	}
	return joined(&c.cases, e)
}

// rbf returns the kernel; its γ is searched once.
func (c *contest) rbf(landmarks int) *fitting.Options {
	return &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: c.gamma},
		Landmarks: landmarks}
}

// pick returns a copy of some examples, with true classes where known.
func pick(c *cases, some []int) *dataset.Dataset {
	d := *c.data
	d.Examples = c.data.Pick(some)
	d.Y, d.SHA256, d.Home = labels(c, some), "", nil
	return &d
}

// confidentJoint estimates the noise from the best probabilities of noisy labels, and adds the
// checked examples.
func confidentJoint(c *cases, said []*candidate) (*estimate.Estimate, error) {
	best := said[0]
	for _, s := range said {
		if s.loss() < best.loss() {
			best = s
		}
	}
	y, p := onlyLabelled(c.data.Y, c.rows, best.p, c.q)
	e, err := estimate.ConfidentJoint(c.data.Classes, y, p, true)
	if err != nil {
		return nil, err
	}
	return joined(c, e)
}

// joined estimates the noise from checked examples with the given prior.
func joined(c *cases, prior *estimate.Estimate) (*estimate.Estimate, error) {
	counts, err := countRight(c.data, c.right)
	if err != nil || counts == nil {
		return prior, err
	}
	return estimate.FromCounts(c.data.Classes, counts, &prior.Matrix)
}
