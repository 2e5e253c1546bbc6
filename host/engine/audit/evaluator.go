package audit

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// evaluator is a data set with targets.
type evaluator struct {
	*scorer
	r       engine.LoadedEvaluator
	targets engine.Targets
	sent    bool // the other driver has these targets

	evaluations int // so far
	found       engine.Evaluation
	last        engine.Weights
	sums        []int64 // of the last
	current     bool    // the last was compared
}

// t is the data set on the other driver.
func (v *evaluator) t() engine.LoadedEvaluator { return v.other.(engine.LoadedEvaluator) }

func (v *evaluator) SetTargets(t engine.Targets) error {
	if err := v.note(v.r.SetTargets(t)); err != nil {
		return err
	}
	v.current = true // what was evaluated with other targets cannot be repeated
	v.targets, v.sent = t, false
	return nil
}

func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	e, err := v.r.Evaluate(sums, w)
	if v.note(err) != nil {
		return e, err
	}
	v.evaluations++
	v.found, v.sums, v.current = e, append(v.sums[:0], sums...), false
	copy(v.w.W, w.W)
	v.last = engine.Weights{Q: w.Q, D: w.D, W: append(v.last.W[:0], w.W...)}
	for c := range v.stale {
		v.stale[c] = true
	}
	name := fmt.Sprintf("evaluation %d", v.evaluations)
	if err := v.compared(name, v.plausible()); err != nil {
		return e, err
	}
	return e, v.audit(name, all, v.cost(), v.compare)
}

// plausible judges an evaluation by itself.
func (v *evaluator) plausible() error {
	if n := int64(v.x.N); v.found.Refused < 0 || v.found.Refused > n {
		return differs("count of refused examples", v.found.Refused, fmt.Sprintf("0 to %d", n))
	}
	if v.targets.Given {
		return nil
	}
	// Residuals of an example are the difference of two rows of probabilities, so they add up to
	// nothing but what is rounded: a sum of n·max|x| would be 2^62 at most, and their errors are
	// below Q·2^-18 of that.
	limit := int64(v.w.Q) << 44
	for j := range v.x.D {
		total := int64(0)
		for c := range v.w.Q {
			total += v.sums[c*v.x.D+j]
		}
		if total > limit || total < -limit {
			return differs(fmt.Sprintf("weighted sum over all classes of feature %d", j), total,
				fmt.Sprintf("%d at most, either way", limit))
		}
	}
	return nil
}

// compare evaluates on the other driver.
func (v *evaluator) compare() error {
	if v.other == nil {
		if err := v.begin(); err != nil {
			return err
		}
	}
	if !v.sent {
		if err := v.t().SetTargets(v.targets); err != nil {
			return err
		}
		v.sent = true
	}
	want := make([]int64, len(v.sums))
	e, err := v.t().Evaluate(want, v.last)
	if err != nil {
		return err
	}
	clear(v.stale)
	v.current = true
	if e.Refused != v.found.Refused {
		return differs("count of refused examples", v.found.Refused, e.Refused)
	}
	if e.Loss != v.found.Loss {
		return differs("sum of losses", v.found.Loss, e.Loss)
	}
	return same(v.sums, want, v.name)
}

func (v *evaluator) name(k int) string {
	return fmt.Sprintf("weighted sum of class %d, feature %d", k/v.x.D, k%v.x.D)
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	if err := v.note(v.r.WeightedSums(sums, a)); err != nil {
		return err
	}
	return again(v.scorer, "weighted sums", 2*v.x.Size()*(len(a)/max(1, v.x.N)+2), sums,
		func(want []int64) error {
			if v.other == nil {
				if err := v.begin(); err != nil {
					return err
				}
			}
			return v.t().WeightedSums(want, a)
		}, v.name)
}

// Close audits the last evaluation before it closes, unless the driver is closed or an operation
// has failed.
func (v *evaluator) Close() error {
	var err error
	if !v.a.closed && v.failed == nil && v.evaluations > 0 && !v.current {
		err = v.audit("the last evaluation", last, v.cost(), v.compare)
	}
	return errors.Join(err, v.scorer.Close())
}
