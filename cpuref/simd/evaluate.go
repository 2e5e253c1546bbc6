package simd

import (
	"math/bits"
	"runtime"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// evaluator is a resident with targets.
//
// It goes through the examples in spans of 256, the blocks of clause 14. Of dense examples a
// worker computes scores, residuals and weighted sums of a span while it is in its cache,
// and adds the sums to its own. Where these would be large, and for sparse examples, the
// coefficients of all examples are held until tasks that own columns add them up.
type evaluator struct {
	*resident
	targets engine.Targets
	classes []int   // all of them
	columns columns // of sparse examples

	held  []float32 // coefficients of all examples
	count int       // of them for each
	sums  []int64   // the caller's
}

func newEvaluator(r *resident) *evaluator {
	v := &evaluator{resident: r, classes: make([]int, r.q)}
	for c := range v.classes {
		v.classes[c] = c
	}
	if r.x.Sparse() {
		v.columns = newColumns(r.x)
	}
	return v
}

// evaluatorScratch is what an evaluation takes besides scores.
func (e *processor) evaluatorScratch(x dataset.Examples, classes int) (scratch int64) {
	// Residuals, targets and totals of a span.
	own := memory.Product(2*4*span, classes) + 4*int64(e.k.mostRows)*sumColumns
	if !x.Sparse() && ownSums(classes, x.D) {
		own += memory.Product(8, classes, x.D)
	} else {
		scratch = memory.Product(4, panels(x.N, span)*span, panels(classes, lanes)*lanes)
	}
	if x.Sparse() {
		scratch = memory.Sum(scratch, memory.Product(8, x.Size()), memory.Product(16, x.D))
		own += 8 * columnsPerTask * lanes
	}
	workers := min(runtime.GOMAXPROCS(0), panels(x.N, span))
	packed := memory.Product(4, panels(classes, lanes)*lanes, x.D) // weights
	return memory.Sum(scratch, packed, memory.Product(workers, int(own)))
}

func (v *evaluator) FixedPoint() numerics.FixedPoint { return v.fixed }

func (v *evaluator) SetTargets(t engine.Targets) error {
	v.targets = t
	return nil
}

// Evaluate: clauses 1, 15, 16 and 14.
func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	v.prepare(w, v.classes)
	return v.sum(sums, v.q, func(own *worker, at int, a []float32) {
		v.score(at, own)
		v.residuals(at, &own.share, a)
	}), nil
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / v.x.N
	v.read()
	v.sum(sums, count, func(_ *worker, at int, to []float32) {
		for i := range v.examples(at) {
			place := i/lanes*count*lanes + i%lanes
			for r, weight := range a[(at*span+i)*count : (at*span+i+1)*count] {
				to[place+r*lanes] = weight
			}
		}
	})
	return nil
}

// examples returns how many examples a span has.
func (v *evaluator) examples(at int) int { return min(span, v.x.N-at*span) }

// score computes the scores of a span.
func (v *evaluator) score(at int, own *worker) {
	const blocks = span / lanes
	from, to := at*blocks, min((at+1)*blocks, v.blocks)
	if v.x.Sparse() {
		v.scoreSparse(from, to, own.floats)
		return
	}
	for per := v.dense.blocksPerTask(); from < to; from += per {
		v.scoreDense(from, min(from+per, to), v.scores[from*v.q*lanes:], v.q*lanes)
	}
}

// residuals computes the residuals and losses of a span (clause 16); the residuals go to a.
func (v *evaluator) residuals(at int, s *share, a []float32) {
	first, n := at*span, v.examples(at)
	blocks := blocksOf(n)
	targets := v.targets
	for i := range n {
		row := first + i
		if targets.Row != nil {
			row = int(targets.Row[row])
		}
		s.rows[i], s.weight[i] = int64(row*v.q), 1
	}
	clear(s.rows[n:]) // lanes of no example
	v.k.spread(s.t, v.q, targets.Values, s.rows[:blocks*lanes])
	if targets.Weight != nil {
		copy(s.weight[:], targets.Weight[first:first+n])
	}
	kernel := v.k.posterior
	if targets.Given {
		kernel = v.k.given
	}
	refused := s.refusedOf[:blocks]
	kernel(v.scores[first*v.q:], v.q, s.t, a, s.weight[:], s.losses[:], refused)
	if rest := n % lanes; rest > 0 {
		refused[blocks-1] &= 1<<rest - 1
	}
	for _, lanes := range refused {
		s.refused += int64(bits.OnesCount16(lanes))
	}
	v.k.add(s.loss[:n], s.losses[:n], numerics.LossFormat(v.fixed.N).Scale(), s.losses[:])
}
