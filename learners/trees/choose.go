package trees

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Values of parameters that are not searched for.
const (
	usualRate    = 0.05
	quickRate    = 0.1 // of more than two classes, which take a tree each, or of given rounds
	usualShare   = 0.5 // of rows and columns: trees that see all of them overfit wrong labels
	moreRows     = 0.8 // with all columns, if that predicts better
	mostRounds   = 500
	usualTrees   = 200
	usualLeast   = 0.2 // p(1-p)
	tries        = 100
	patience     = 30 // rounds without a lower loss, after which a trial ends
	halfOfTime   = 0.5
	searchFolds  = 3
	mostSearched = 1 << 14 // examples, drawn from more
)

// What is searched through, from the middle on: leaves of a boosted tree, and examples in a leaf of
// a forest.
var (
	leavesTried = []int{4, 8, 16, 31}
	leastTried  = []float64{1, 3, 7, 15, 45}
)

// sharpened are the factors of scores, one of which makes probabilities of them that are neither
// too sure nor too unsure: trials are compared at the best one, as it changes no prediction.
var sharpened = []float32{1, 0.5, 0.7, 1.4, 2, 3, 4}

// trial are settled parameters, and the scores and losses of examples held out.
type trial struct {
	p      Params
	scores []float32
	losses []float64
}

// beats reports whether t loses less than another trial, and not by chance: by the standard errors
// of the mean difference that a choice among several trials calls for.
func (t *trial) beats(other *trial) bool {
	const caution = 0.5
	if other.losses == nil {
		return true
	}
	mean, deviation := lists.MeanError(len(t.losses), func(i int) float64 {
		return other.losses[i] - t.losses[i]
	})
	return mean > caution*deviation
}

// settle returns the parameters with all values chosen: by the corrected loss of examples that
// trees have not seen. A search ends at half of the time. Their scores also have a temperature, 1
// if there was no search.
func settle(ctx context.Context, p Params, d *data, note func(string, ...any),
) (settled Params, temperature float32, err error) {
	s := search{ctx: ctx, d: d.some(mostSearched), note: note}
	if s.note == nil {
		s.note = func(string, ...any) {}
	}
	var best trial
	for _, mode := range []string{Boost, Forest} {
		if p.Mode != Auto && p.Mode != mode {
			continue
		}
		one := p
		one.Mode = mode
		found, err := s.mode(one, p.Mode == Auto)
		if err != nil {
			return p, 0, err
		}
		if found.beats(&best) {
			best = found
		}
		if s.short() {
			break
		}
	}
	temperature = 1
	if d := s.d; best.scores != nil && d.labels.Classes == nil {
		temperature, err = confusion.Temperature(ctx, best.scores, d.problem.Y, d.problem.Q,
			d.problem.Noise)
		if err != nil {
			s.note("no probabilities: %v", err)
			temperature = 0
		}
	}
	return best.p, temperature, nil
}

// some returns at most count of the examples, drawn.
func (d *data) some(count int) *data {
	n, q := d.binned.N, d.problem.Q
	if n <= count {
		return d
	}
	which := lists.UpTo[int](n)
	which = which[:choose(which, count, d.problem.Seed, streamFolds, 1, 0)]
	slices.Sort(which)
	part := *d
	part.problem = d.problem.On(dataset.Examples{}, lists.At(d.problem.Y, which))
	part.binned.N, part.binned.Bins = count, nil
	for f := range d.binned.F {
		part.binned.Bins = append(part.binned.Bins, lists.At(d.binned.Column(f), which)...)
	}
	rows := func(values []float32) (some []float32) {
		for _, i := range which {
			some = append(some, values[i*q:(i+1)*q]...)
		}
		return some
	}
	t := &part.labels.Targets
	if t.Row == nil {
		t.Values = rows(t.Values)
	} else {
		t.Row = lists.At(t.Row, which)
	}
	if t.Weight != nil {
		t.Weight = lists.At(t.Weight, which)
	}
	if part.labels.Classes != nil {
		part.labels.Classes = rows(part.labels.Classes)
	}
	return &part
}

// search looks for parameters.
type search struct {
	ctx  context.Context
	d    *data
	note func(string, ...any)
}

func (s *search) short() bool { return s.d.problem.TimeSpent() >= halfOfTime }

// mode searches for the parameters of a mode; if its loss is not asked for and they are all given
// it tries none.
func (s *search) mode(p Params, loss bool) (trial, error) {
	columns := float64(len(s.d.columns))
	if p.Mode == Forest {
		all := p.Least > 0
		p.Rounds, p.Leaves = cmp.Or(p.Rounds, usualTrees), cmp.Or(p.Leaves, MostLeaves)
		p.Columns = cmp.Or(p.Columns, 1/math.Sqrt(columns))
		p.Rate, p.Rows = cmp.Or(p.Rate, 1), cmp.Or(p.Rows, 1)
		if all && !loss {
			return trial{p: p}, nil
		}
		tried := leastTried
		if all {
			tried = []float64{p.Least}
		}
		at := (len(tried) - 1) / 2
		if s.d.problem.Noise == nil {
			at = 0 // leaves of one example fit right labels best
		}
		return climb(at, len(tried), s.short, func(k int) (trial, error) {
			p.Least = tried[k]
			return s.forest(p)
		})
	}
	all := p.Rounds > 0 && p.Leaves > 0
	if p.Rate == 0 {
		if p.Rate = usualRate; p.Rounds > 0 || s.d.problem.Q > 2 {
			p.Rate = quickRate
		}
	}
	shares := p.Rows > 0 || p.Columns > 0
	p.Rows, p.Columns = cmp.Or(p.Rows, usualShare), cmp.Or(p.Columns, usualShare)
	p.Least = cmp.Or(p.Least, usualLeast)
	if all && !loss {
		return trial{p: p}, nil
	}
	tried := leavesTried
	if p.Leaves > 0 {
		tried = []int{p.Leaves}
	}
	best, err := climb((len(tried)-1)/2, len(tried), s.short, func(k int) (trial, error) {
		p.Leaves = tried[k]
		return s.boost(p)
	})
	if shares || err != nil || s.short() {
		return best, err
	}
	p.Leaves, p.Rows, p.Columns = best.p.Leaves, moreRows, 1
	more, err := s.boost(p)
	if err == nil && more.beats(&best) {
		best = more
	}
	return best, err
}

// climb tries the values of a list from one on, up while they are better, else down.
func climb(at, n int, short func() bool, try func(k int) (trial, error)) (best trial, err error) {
	if best, err = try(at); err != nil {
		return best, err
	}
	for _, step := range []int{1, -1} {
		moved := false
		for k := at + step; k >= 0 && k < n && !short(); k += step {
			t, err := try(k)
			if err != nil {
				return best, err
			}
			if !t.beats(&best) {
				break
			}
			best, moved = t, true
		}
		if moved {
			break
		}
	}
	return best, nil
}

// forest tries a forest of few trees, by its examples out of the bag.
func (s *search) forest(p Params) (trial, error) {
	few, m := p, s.d.begin(&p)
	few.Rounds = min(p.Rounds, tries)
	if _, err := s.d.fit(s.ctx, &few, m, nil, nil); err != nil {
		return trial{}, err
	}
	sums := slices.Repeat(m.Base, s.d.binned.N)
	m.Add(sums, s.d.binned, s.d.sampler(nil).times)
	m.Logs(sums, s.d.c)
	t := trial{p, sums, s.d.sharpest(sums)}
	s.note("forest of leaves of at least %g examples: loss %.5f", p.Least, lists.Mean(t.losses))
	return t, nil
}

// boost tries boosting, by the folds of examples that are held out, each in its turn, and finds the
// number of rounds unless it is given.
func (s *search) boost(p Params) (trial, error) {
	n := s.d.binned.N
	folds := s.d.folds(searchFolds)
	runs := make([]*boosting, 0, searchFolds)
	defer func() {
		for _, b := range runs {
			b.bins.Close() // nothing is lost by a fault here
		}
	}()
	for fold := range searchFolds {
		held := make([]bool, n)
		for i, k := range folds {
			held[i] = k == fold
		}
		b, err := newBoosting(&p, s.d, s.d.begin(&p), held)
		if err != nil {
			return trial{}, err
		}
		runs = append(runs, b)
	}
	best, least, most := trial{p: p}, math.Inf(1), cmp.Or(p.Rounds, mostRounds)
	q := s.d.problem.Q
	scores, now, kept := make([]float32, n*q), make([]float32, n*q), make([]float32, n*q)
	for round := 1; round <= most && !(p.Rounds == 0 && round > best.p.Rounds+patience); round++ {
		if err := s.ctx.Err(); err != nil {
			return trial{}, err
		}
		for _, b := range runs {
			err := b.round()
			if err == nil {
				err = b.bins.Scores(scores, 0, n)
			}
			if err != nil {
				return trial{}, err
			}
			for i, held := range b.held {
				if held {
					copy(now[i*q:(i+1)*q], scores[i*q:(i+1)*q])
				}
			}
		}
		if loss := lists.Mean(s.d.losses(now, 1)); loss < least || p.Rounds > 0 {
			least, best.p.Rounds = loss, round
			copy(kept, now)
		}
		if p.Rounds == 0 && s.short() {
			break
		}
	}
	best.scores, best.losses = kept, s.d.sharpest(kept)
	s.note("boosting of %d leaves, %g of the rows and %g of the columns: loss %.5f at round %d",
		p.Leaves, p.Rows, p.Columns, lists.Mean(best.losses), best.p.Rounds)
	return best, nil
}

// sharpest returns the losses of scores at the best of the factors.
func (d *data) sharpest(scores []float32) (best []float64) {
	for _, factor := range sharpened {
		losses := d.losses(scores, factor)
		if best == nil || lists.Sum(losses) < lists.Sum(best) {
			best = losses
		}
	}
	return best
}

// losses returns the losses by clause 16 of the examples by scores, N×Q, times a factor.
func (d *data) losses(scores []float32, factor float32) []float64 {
	q, targets := d.problem.Q, d.labels.Targets
	losses := make([]float64, d.binned.N)
	parallel.Ranges(len(losses), 256, func(from, to int) {
		s, a, t := make([]float32, q), make([]float32, q), make([]float32, q)
		for i := from; i < to; i++ {
			row, u := i, float32(1)
			if targets.Row != nil {
				row = int(targets.Row[i])
			}
			if targets.Weight != nil {
				u = targets.Weight[i]
			}
			for k, v := range scores[i*q : (i+1)*q] {
				s[k] = v * factor
			}
			loss, counts := numerics.Residuals(a, t, s, targets.Values[row*q:(row+1)*q], u,
				targets.Given)
			if !counts {
				loss = numerics.MostLoss
			}
			losses[i] = float64(loss)
		}
	})
	return losses
}
