package trees

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Values of parameters that are not searched for.
const (
	usualRate    = 0.05
	quickRate    = 0.1 // of more than two classes, which take a tree each, or of given rounds
	usualShare   = 0.5 // of rows and columns: trees that see all of them overfit wrong labels
	usualRounds  = 100
	mostRounds   = 500
	usualTrees   = 200
	usualLeast   = 1 // p(1-p)
	tries        = 60
	patience     = 30 // rounds without a lower loss, after which a trial ends
	halfOfTime   = 0.5
	searchFolds  = 3
	mostSearched = 1 << 14 // examples
)

// What is searched through, from the place where a search begins: leaves of a boosted tree, and
// examples in a leaf of a forest.
var (
	leavesTried = []int{4, 8, 16, 31}
	leastTried  = []float64{1, 5, 15, 45, 135}
)

const firstTried = 1

// trial are settled parameters, and their loss on examples held out.
type trial struct {
	p    Params
	loss float64
}

// settle returns the parameters with all values chosen: by the corrected loss of examples that
// trees have not seen. A search ends at half of the time.
func settle(ctx context.Context, p Params, d *data, note func(string, ...any)) (Params, error) {
	s := search{ctx: ctx, d: d, note: note}
	if s.note == nil {
		s.note = func(string, ...any) {}
	}
	best := trial{loss: math.Inf(1)}
	for _, mode := range []string{Boost, Forest} {
		if p.Mode != Auto && p.Mode != mode {
			continue
		}
		one := p
		one.Mode = mode
		found, err := s.mode(one, p.Mode == Auto)
		if err != nil {
			return p, err
		}
		if found.loss < best.loss || best.p.Mode == "" {
			best = found
		}
		if s.short() {
			break
		}
	}
	return best.p, nil
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
		p.Rate, p.Rows = 1, 1
		if all && !loss {
			return trial{p: p}, nil
		}
		tried := leastTried
		if all {
			tried = []float64{p.Least}
		}
		return climb(len(tried), s.short, func(k int) (trial, error) {
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
	p.Rows, p.Columns = cmp.Or(p.Rows, usualShare), cmp.Or(p.Columns, usualShare)
	p.Least = cmp.Or(p.Least, usualLeast)
	if all && !loss {
		return trial{p: p}, nil
	}
	tried := leavesTried
	if p.Leaves > 0 {
		tried = []int{p.Leaves}
	}
	return climb(len(tried), s.short, func(k int) (trial, error) {
		p.Leaves = tried[k]
		return s.boost(p)
	})
}

// climb tries the values of a list from the second on, up while they are better, else down.
func climb(n int, short func() bool, try func(k int) (trial, error)) (best trial, err error) {
	at := min(firstTried, n-1)
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
			if t.loss >= best.loss {
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
	if err := s.d.fit(s.ctx, &few, m, nil, nil); err != nil {
		return trial{}, err
	}
	sums := slices.Repeat(m.Base, s.d.binned.N)
	m.add(sums, s.d.binned, s.d.sampler(nil).times)
	m.logs(sums, s.d.c)
	t := trial{p, s.d.loss(sums, nil)}
	s.note("forest of leaves of at least %g examples: loss %.5f", p.Least, t.loss)
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
	best, most := trial{p, math.Inf(1)}, cmp.Or(p.Rounds, mostRounds)
	scores := make([]float32, n*s.d.problem.Q)
	for round := 1; round <= most && !(p.Rounds == 0 && round > best.p.Rounds+patience); round++ {
		if err := s.ctx.Err(); err != nil {
			return trial{}, err
		}
		loss := 0.0
		for _, b := range runs {
			err := b.round()
			if err == nil {
				err = b.bins.Scores(scores, 0, n)
			}
			if err != nil {
				return trial{}, err
			}
			loss += s.d.loss(scores, b.held)
		}
		if loss < best.loss || p.Rounds > 0 {
			best.loss, best.p.Rounds = loss, round
		}
		if p.Rounds == 0 && s.short() {
			break
		}
	}
	best.loss /= searchFolds
	s.note("boosting of %d leaves: loss %.5f at round %d", p.Leaves, best.loss, best.p.Rounds)
	return best, nil
}

// loss returns the mean loss by clause 16 of scores, N×Q, over the examples that are held, or all.
func (d *data) loss(scores []float32, held []bool) float64 {
	const rows = 1024
	q, targets := d.problem.Q, d.labels.Targets
	blocks := (d.binned.N + rows - 1) / rows
	weights := make([]float64, blocks)
	losses := parallel.BlockSums(d.binned.N, rows, func(from, to int) (sum float64) {
		a, t := make([]float32, q), make([]float32, q)
		for i := from; i < to; i++ {
			if held != nil && !held[i] {
				continue
			}
			row, u := i, float32(1)
			if targets.Row != nil {
				row = int(targets.Row[i])
			}
			if targets.Weight != nil {
				u = targets.Weight[i]
			}
			loss, counts := numerics.Residuals(a, t, scores[i*q:(i+1)*q],
				targets.Values[row*q:(row+1)*q], u, targets.Given)
			if !counts {
				loss = numerics.MostLoss
			}
			sum += float64(loss)
			weights[from/rows] += float64(u)
		}
		return sum
	})
	loss, weight := 0.0, 0.0
	for k, v := range losses {
		loss += v
		weight += weights[k]
	}
	return loss / max(weight, math.SmallestNonzeroFloat64)
}
