//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// targetRows is how many targets go to the device at once.
const targetRows = 1 << 14

func (r *resident) SetTargets(targets engine.Targets) error {
	for _, t := range r.tiles {
		for from := 0; from < t.stride; from += targetRows {
			if err := r.writeTargets(t, targets, from, min(from+targetRows, t.stride)); err != nil {
				return err
			}
		}
	}
	r.sumBuffers.given = 0
	if targets.Given {
		r.sumBuffers.given = 1
	}
	return nil
}

// writeTargets brings the targets and weights of rows from..to-1 of the scores of a tile to the
// device; of those beyond its examples, zeros.
func (r *resident) writeTargets(t *tile, targets engine.Targets, from, to int) error {
	lines, weight := make([]float32, (to-from)*r.q), make([]float32, to-from)
	for row := from; row < min(to, t.rows); row++ {
		i := t.example(row)
		weight[row-from] = 1
		if targets.Weight != nil {
			weight[row-from] = targets.Weight[i]
		}
		if targets.Row != nil {
			i = int(targets.Row[i])
		}
		for c, v := range targets.Values[i*r.q : (i+1)*r.q] {
			lines[scoreAt(row-from, c, r.q)] = v
		}
	}
	return errors.Join(t.targets.write(from*r.q, lines), t.weight.write(from, weight))
}

// Evaluate: clauses 1, 15, 16 and 14, tile by tile and in a tile band by band.
func (r *resident) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	var e engine.Evaluation
	losses := r.sumBuffers.losses
	if err := errors.Join(r.beginSums(r.q), r.e.clear(losses)); err != nil {
		return e, err
	}
	if r.classes.n == r.q { // one batch for all tiles
		if err := r.useWeights(w, allClasses(r.q)); err != nil {
			return e, err
		}
	}
	fused, readings, kernel := r.sumBuffers.fused && r.classes.n == r.q, int64(1), "evaluate"
	if !fused {
		kernel = "residuals"
	}
	if !fused && r.tiles[0].sparse == nil {
		readings = 2
	}
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error {
			if fused {
				return r.evaluateTile(t, x)
			}
			if err := r.eachBatch(w, func(m int) error { return r.scoreTile(t, x, m) }); err != nil {
				return err
			}
			return r.evaluateBands(t, x)
		})
		if err != nil {
			return e, errors.Join(err, r.drain())
		}
		r.e.q.work.ExampleBytes += readings * t.bytes(r.d)
		r.e.q.work.Rescored += int64(t.rows)
	}
	if err := errors.Join(r.drain(), r.endSums(sums, r.q)); err != nil {
		return e, err
	}
	pairs := make([]int64, losses.n)
	if err := losses.read(pairs, 0); err != nil {
		return e, err
	}
	for k := 0; k < len(pairs); k += 2 {
		e.Loss += pairs[k]
		e.Refused += pairs[k+1]
	}
	if e.Refused < 0 || e.Refused > int64(r.n) {
		return e, fmt.Errorf("kernel %s refused %d of %d examples, by buffer %q; the device is at fault",
			kernel, e.Refused, r.n, losses.name)
	}
	return e, nil
}

// evaluateTile does all for a tile in one kernel.
func (r *resident) evaluateTile(t *tile, x arrays) error {
	w := r.sumBuffers
	return r.e.dense[t.width].evaluate.launch(w.ranges, 1,
		append(r.examples(t, x), r.weights, r.classes, t.scores, t.targets, t.weight, w.coefs, w.losses,
			w.partial[0], r.fixed.Scale(), r.lossScale(), int32(t.rows), int32(r.d), int32(r.q), w.given,
			int32(w.ranges))...)
}

// lossScale is 2^s of the fixed point of losses.
func (r *resident) lossScale() float32 { return numerics.LossFormat(r.fixed.N).Scale() }

// evaluateBands makes residuals of the scores of a tile, and adds their weighted sums.
func (r *resident) evaluateBands(t *tile, x arrays) error {
	w, e := r.sumBuffers, r.e
	order, sorted := r.ints, int32(0)
	if t.sparse != nil {
		order, sorted = t.sparse.byColumn.order, 1
	}
	for from := 0; from < t.rows; from += w.band {
		to := min(from+w.band, t.rows)
		if err := e.residuals.launch(e.residualItems(to-from), 1, t.scores, t.targets, t.weight, order,
			w.coefs, w.losses,
			int32(from), int32(to), int32(r.q), w.given, sorted, r.lossScale()); err != nil {
			return err
		}
		if err := r.addSums(t, x, from, to, r.q); err != nil {
			return err
		}
	}
	return nil
}

func (r *resident) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / r.n
	for low := 0; low < count; low += r.q {
		n := min(r.q, count-low)
		if err := r.weightedSums(sums[low*r.d:(low+n)*r.d], a, count, low, n); err != nil {
			return err
		}
	}
	return nil
}

// weightedSums is WeightedSums for n classes of count, low and more, at most Q.
func (r *resident) weightedSums(sums []int64, a []float32, count, low, n int) error {
	if err := r.beginSums(n); err != nil {
		return err
	}
	w := r.sumBuffers
	var packed []float32
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error {
			for from := 0; from < t.rows; from += w.band {
				to := min(from+w.band, t.rows)
				coefs := a[(t.from+from)*count : (t.from+to)*count]
				if n < count {
					packed = slices.Grow(packed[:0], (to-from)*n)
					for ; len(coefs) > 0; coefs = coefs[count:] {
						packed = append(packed, coefs[low:low+n]...)
					}
					coefs = packed
				}
				if err := w.coefs.write(0, coefs); err != nil {
					return err
				}
				if err := r.addSums(t, x, from, to, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return errors.Join(err, r.drain())
		}
		r.e.q.work.ExampleBytes += t.bytes(r.d)
	}
	return errors.Join(r.drain(), r.endSums(sums, n))
}
