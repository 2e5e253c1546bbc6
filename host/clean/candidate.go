package clean

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Candidate is a way to learn, and how well it predicted examples that it had not seen.
type Candidate struct {
	Name string
	// Loss is the mean of -log P(noisy label) of the contest's examples without those checked.
	// NaN of one that says nothing of noisy labels.
	Loss float64
	// Wrong of the Checked examples with a known class it gave another class, and RightLoss is the
	// mean of -log P(true class) of these.
	Wrong, Checked int
	RightLoss      float64
}

// noiseKind is what a candidate takes the labels for.
type noiseKind int

const (
	none    noiseKind = iota // right
	given                    // wrong by the matrix of the options
	joint                    // wrong by the confident joint of the best probabilities
	learned                  // wrong by a matrix that is learned together with the model
	alone                    // unknown: only checked examples count
)

// way is what a candidate does.
type way struct {
	noise      noiseKind
	kernel     bool // a curved model, by rbf; else a linear one
	neighbours bool // no model: the labels of the nearest examples
	weighty    bool // examples with a known class count for many
	elsewhere  bool // no model: the probabilities of the options
}

func (w way) String() string {
	switch {
	case w.neighbours:
		return "nearest neighbours"
	case w.elsewhere:
		return "the probabilities given"
	case w.noise == alone:
		return "checked rows alone"
	}
	name := "linear"
	if w.kernel {
		name = "rbf"
	}
	what := map[noiseKind]string{none: ", labels as they are", given: ", wrong labels as given",
		joint: ", wrong labels by confident joint", learned: ", wrong labels learned"}
	if name += what[w.noise]; w.weighty {
		name += ", checked rows first"
	}
	return name
}

// candidate is what a way has said of the contest's examples.
type candidate struct {
	way   way
	noise *estimate.Estimate // of the noisy labels; nil if they are taken for right
	p     []float32          // of the true classes, len(rows)×Q; of noisy labels if noise is nil
	drops []float64          // -log P(noisy label) of each row; nil of alone
	right []float64          // -log P(true class) of each known row, in order of rows
	wrong []bool             // its likeliest class is another, likewise
}

// loss returns the mean loss of noisy labels.
func (s *candidate) loss() float64 {
	if s.drops == nil {
		return math.NaN()
	}
	return mean(s.drops)
}

// try has a way compete. One that cannot tell the classes apart is left out.
func (c *contest) try(ctx context.Context, w way) error {
	s := &candidate{way: w}
	var err error
	switch {
	case w.neighbours:
		err = c.byNeighbours(ctx, s)
	default:
		if s.noise, err = c.noise(ctx, w); err != nil {
			return err
		}
		s.p, err = c.outOfFold(ctx, s, c.rows, c.fold)
	}
	if errors.Is(err, errUntold) {
		c.note("%s: cannot tell the classes apart", w)
		return nil
	}
	if err != nil {
		return err
	}
	c.judge(s)
	c.said = append(c.said, s)
	c.note("%s: loss of labels %.4f, of %d checked rows %.4f", w, s.loss(), len(s.right),
		mean(s.right))
	return nil
}

// errUntold marks models whose scores say nothing of the labels.
var errUntold = errors.New("clean: scores say nothing of the labels")

// outOfFold returns the probabilities of some examples, with the folds given, by models without
// the fold of each.
func (c *contest) outOfFold(ctx context.Context, s *candidate, rows, folds []int,
) ([]float32, error) {
	p := make([]float32, len(rows)*c.q)
	o, settled := c.Options.Options, learners.Params(nil)
	for f := range c.Folds {
		var fit, rest []int
		for k, i := range rows {
			if folds[k] == f {
				rest = append(rest, k)
			} else {
				fit = append(fit, i)
			}
		}
		if len(rest) == 0 {
			continue
		}
		m, err := c.train(ctx, s, fit, settled, true)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, errUntold
		}
		if m.Run.Settled != nil && len(rows) >= 2000 {
			settled = m.Run.Settled
		}
		of := make([]int, len(rest))
		for k, at := range rest {
			of[k] = rows[at]
		}
		scores, err := c.scores(ctx, m.Model, o, of)
		if err != nil {
			return nil, err
		}
		for k, at := range rest {
			copy(p[at*c.q:(at+1)*c.q], scores[k*c.q:(k+1)*c.q])
		}
	}
	return p, c.calibrate(ctx, s, rows, p)
}

// calibrate makes probabilities of scores, by the temperature that suits the labels best: those of
// checked rows of a candidate that knows no others.
func (c *contest) calibrate(ctx context.Context, s *candidate, rows []int, p []float32) error {
	scores, y, noise := p, make([]int32, len(rows)), noiseOf(s.noise)
	for k, i := range rows {
		y[k] = c.data.Y[i]
	}
	if s.way.noise == alone {
		scores, y, noise = nil, nil, nil
		for k, i := range rows {
			if t := c.right(i); t >= 0 {
				scores, y = append(scores, p[k*c.q:(k+1)*c.q]...), append(y, t)
			}
		}
	}
	t, err := confusion.Temperature(ctx, scores, y, c.q, noise)
	if err != nil && s.way.noise == none { // then it knows how frequent labels are, and no more
		shares := make([]float32, c.q)
		for _, k := range y {
			shares[k] += 1 / float32(len(y))
		}
		for at := range p {
			p[at] = shares[at%c.q]
		}
		return nil
	}
	if err != nil {
		return errUntold
	}
	m := model.Model{Q: c.q}
	m.Meta.Temperature = t
	return m.ToProbabilities(p)
}

// scores returns those of some examples.
func (c *contest) scores(ctx context.Context, m *model.Model, o host.Options, some []int,
) ([]float32, error) {
	x := c.data.Stored().Pick(some)
	if c.data.Prepared == nil {
		return m.Scores(ctx, o.Engine, x)
	}
	return m.ScoresPrepared(ctx, o.Engine, x)
}

// rightTimes is how often a checked example counts where a way has it count for many, at least; its
// share of all examples is then rightShare or more.
const (
	rightTimes = 2
	rightShare = 0.5
)

// train learns from some examples; nil if there are too few.
func (c *contest) train(ctx context.Context, s *candidate, fit []int, settled learners.Params,
	trial bool) (*host.Trained, error) {
	w, o := s.way, c.Options.Options
	p := softmax.Defaults()
	o.Trial, o.Memory = trial, []dataset.Memory{dataset.InPlace}
	if trial {
		o.Watch = host.Watch{}
	}
	if w.kernel {
		o.Kernel = c.rbf(min(landmarks, len(fit)))
	}
	var noise *confusion.Matrix
	times := 1
	if w.weighty {
		times = c.times(fit)
	}
	switch w.noise {
	case none:
		p.Correction = softmax.None
	case given, joint, learned:
		noise = noiseOf(s.noise)
	case alone:
		p.Correction = softmax.None
		fit = slices.DeleteFunc(slices.Clone(fit), func(i int) bool { return c.right(i) < 0 })
		if len(fit) < 2 {
			return nil, nil
		}
	}
	fit = c.withRight(fit, times)
	if o.Learner = p; settled != nil {
		o.Learner = settled
	}
	m, err := host.Train(ctx, c.part(fit), noise, o)
	if err == nil && m.Meta.Kernel != nil {
		c.gamma = m.Meta.Kernel.Function.Gamma
	}
	return m, err
}

// landmarks of the kernel.
const landmarks = 500

// times returns how often a checked example of fit counts.
func (c *contest) times(fit []int) int {
	n := 0
	for _, i := range fit {
		if c.right(i) >= 0 {
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return max(rightTimes, int(rightShare*float64(len(fit))/float64(n)))
}

// noise returns what a way takes the labels to be wrong by: nil for nothing.
func (c *contest) noise(ctx context.Context, w way) (*estimate.Estimate, error) {
	switch w.noise {
	case given:
		return &estimate.Estimate{Matrix: *c.Given, Method: "given"}, nil
	case joint:
		return c.confidentJoint()
	case learned:
		return c.learnNoise(ctx, w)
	}
	return nil, nil
}

// mostLearned is how many examples noise is learned from: a matrix needs fewer than a model.
const mostLearned = 3000

// learnNoise learns the noise together with a model of the way, and joins what the checked examples
// say.
func (c *contest) learnNoise(ctx context.Context, w way) (*estimate.Estimate, error) {
	some := c.sample(mostLearned)
	start := outoffold.Start{}
	if w.kernel {
		start.Kernel = c.rbf(min(landmarks/2, len(some)))
	}
	part := c.part(some)
	for k, i := range some {
		part.Y[k] = c.data.Y[i]
	}
	o := c.Options.Options
	o.Memory, o.Watch = []dataset.Memory{dataset.InPlace}, host.Watch{}
	e, err := outoffold.LearnNoise(ctx, part, nil, o, []outoffold.Start{start})
	if err != nil {
		return nil, err
	}
	return c.joined(e)
}

// rbf returns the kernel, whose γ is searched for once.
func (c *contest) rbf(landmarks int) *fitting.Options {
	return &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: c.gamma},
		Landmarks: landmarks}
}

// part returns a copy of some examples, with the labels that count.
func (c *contest) part(some []int) *dataset.Dataset {
	d := *c.data
	d.Put(c.data.Stored().Pick(some))
	d.Y, d.SHA256, d.Home = c.labels(some), "", nil
	return &d
}

// confidentJoint estimates the noise from the best probabilities of noisy labels, and joins what
// the checked examples say.
func (c *contest) confidentJoint() (*estimate.Estimate, error) {
	best := c.said[0]
	for _, s := range c.said {
		if s.loss() < best.loss() {
			best = s
		}
	}
	y := make([]int32, len(c.rows))
	for k, i := range c.rows {
		y[k] = c.data.Y[i]
	}
	e, err := estimate.ConfidentJoint(c.data.Classes, y,
		func(use func([]float32) error) error { return use(best.p) }, true)
	if err != nil {
		return nil, err
	}
	return c.joined(e)
}

// joined makes an estimate the prior of what the checked examples say.
func (c *contest) joined(prior *estimate.Estimate) (*estimate.Estimate, error) {
	counts, err := c.counts()
	if err != nil || counts == nil {
		return prior, err
	}
	return estimate.FromCounts(c.data.Classes, counts, &prior.Matrix)
}

// counts returns the numbers of checked examples by noisy label and true class; nil without any.
func (c *contest) counts() ([]float64, error) {
	var noisy, right []int32
	for _, i := range c.known {
		noisy, right = append(noisy, c.data.Y[i]), append(right, c.right(i))
	}
	if noisy == nil {
		return nil, nil
	}
	return estimate.CountLabels(c.q, noisy, right)
}

// leastProbability is what a probability counts for at least: no single row decides.
const leastProbability = 1e-2

// judge compares what a candidate says with the labels.
func (c *contest) judge(s *candidate) {
	q := c.q
	s.drops, s.right, s.wrong = nil, nil, nil
	for k, i := range c.rows {
		row := s.p[k*q : (k+1)*q]
		if t := c.right(i); t >= 0 {
			s.right = append(s.right, surprise(float64(row[t])))
			s.wrong = append(s.wrong, slices.Index(row, slices.Max(row)) != int(t))
			continue
		}
		if s.way.noise == alone {
			continue
		}
		y, v := int(c.data.Y[i]), float64(row[c.data.Y[i]])
		if s.noise != nil {
			v = 0
			for t, f := range row {
				v += float64(s.noise.P[y*q+t] * float64(f))
			}
		}
		s.drops = append(s.drops, surprise(v))
	}
}

func surprise(p float64) float64 {
	return -float64(numerics.Log(float32(max(p, leastProbability))))
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}

// ahead returns by how much b is less than a on average, and the standard error of that.
func ahead(a, b []float64) (better, deviation float64) {
	squares := 0.0
	for k := range a {
		d := a[k] - b[k]
		better += d
		squares += float64(d * d)
	}
	n := float64(max(1, len(a)))
	better /= n
	return better, math.Sqrt(max(0, squares/n-float64(better*better)) / n)
}
