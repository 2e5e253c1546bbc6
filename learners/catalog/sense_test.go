package catalog_test

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// findsAll learns from t and says which example it predicts as another class than the true one. A
// learner that takes labels to be right is given those.
func (s subject) findsAll(t task, from []float32) error {
	if s.IgnoresNoise {
		t.y, t.noise = t.truth, nil
	}
	r, err := s.run(t, host.RunOptions{MaxSteps: s.steps(enough), From: from})
	if err != nil {
		return err
	}
	predicted, err := engine.Predict(s.engine, r.W, t.x)
	if err != nil {
		return err
	}
	for i, p := range predicted {
		if p != t.truth[i] {
			return fmt.Errorf("%s after %d steps; example %d, whose class is %d, is predicted as %d",
				r.Stop, r.Steps, i, t.truth[i], p)
		}
	}
	return nil
}

func checkLearns(s subject) error {
	for _, q := range []int{2, 4} {
		for _, right := range []bool{false, true} {
			t := s.separated(q)
			if right {
				t.y, t.noise = t.truth, nil
			}
			if err := s.findsAll(t, nil); err != nil {
				return fmt.Errorf("%d classes, right labels %v: %w", q, right, err)
			}
		}
	}
	return nil
}

// checkPermutedClasses numbers the classes anew, in labels and matrix alike. Bits may change,
// and with W = 0, where all scores tie, the steps: class 0 is the lowest. Where scores are far
// apart, the predictions are the same classes by their new numbers.
func checkPermutedClasses(s subject) error {
	for _, to := range [][]int32{{3, 2, 1, 0}, {2, 0, 3, 1}} {
		t := s.separated(4)
		warm, err := s.run(t, host.RunOptions{MaxSteps: s.steps(1)})
		if err != nil {
			return err
		}
		from := engine.NewWeights(t.q, t.x.D)
		for c, toC := range to {
			copy(from.Row(int(toC)), warm.W.Row(c))
		}
		permuted := t.permuteClasses(to)
		for what, first := range map[string][]float32{"W = 0": nil,
			"weights that are permuted too": from.W} {
			if err := s.findsAll(permuted, first); err != nil {
				return fmt.Errorf("classes 0 to 3 are now %v, begun with %s: %w", to, what, err)
			}
		}
	}
	return nil
}

// checkPermutedFeatures has the features in another order. Sums over them are rounded in
// another order too, so that bits may change.
func checkPermutedFeatures(s subject) error {
	reversed := func(row []float32) []float32 {
		slices.Reverse(row)
		return row
	}
	turned := func(row []float32) []float32 { return append(row[17:], row[:17]...) }
	if err := s.findsAll(s.separated(4).mapRows(reversed), nil); err != nil {
		return fmt.Errorf("features reversed: %w", err)
	}
	if err := s.findsAll(s.separated(4).mapRows(turned), nil); err != nil {
		return fmt.Errorf("features turned by 17: %w", err)
	}
	return nil
}

// checkConstantFeatures adds features that say nothing.
func checkConstantFeatures(s subject) error {
	with := func(value float32) task {
		return s.separated(4).mapRows(func(row []float32) []float32 {
			return append([]float32{value}, append(row, value)...)
		})
	}
	for what, t := range map[string]task{"0": with(0), "-1": with(-1), "1, sparse": with(1).sparse()} {
		if err := s.findsAll(t, nil); err != nil {
			return fmt.Errorf("with features that are always %s: %w", what, err)
		}
	}
	return nil
}

// checkAbsentClass adds a class without examples, before, among and after the others.
func checkAbsentClass(s subject) error {
	for _, absent := range []int{0, 2, 3} {
		t := s.separated(3)
		q := t.q + 1
		with := func(c int) int {
			if c >= absent {
				return c + 1
			}
			return c
		}
		p := make([]float64, q*q)
		p[absent*q+absent] = 1
		for r := range t.q {
			for c := range t.q {
				p[with(r)*q+with(c)] = t.noise.P[r*t.q+c]
			}
		}
		t.noise = &confusion.Matrix{Classes: classes(q), P: p}
		for i := range t.y {
			t.y[i], t.truth[i] = int32(with(int(t.y[i]))), int32(with(int(t.truth[i])))
		}
		t.q = q
		if err := s.findsAll(t, nil); err != nil {
			return fmt.Errorf("no example of class %d: %w", absent, err)
		}
	}
	return nil
}

// checkOneClass has examples of one class of two, which is a problem, and of the only one,
// which is none.
func checkOneClass(s subject) error {
	for label := range int32(2) {
		for _, noise := range []*confusion.Matrix{nil, must(confusion.Pairwise(classes(2), 0.3))} {
			t := s.separated(2)
			t.noise, t.y = noise, slices.Repeat([]int32{label}, t.x.N)
			if _, err := s.run(t, host.RunOptions{MaxSteps: s.steps(few)}); err != nil {
				return fmt.Errorf("all labels %d, noise %v: %w", label, noise != nil, err)
			}
		}
	}
	t := s.separated(2)
	t.q, t.noise, t.y = 1, nil, make([]int32, t.x.N)
	if _, err := s.run(t, host.RunOptions{MaxSteps: s.steps(few)}); err == nil {
		return errors.New("a problem of one class is taken, wanted an error")
	}
	return nil
}

func checkOneExample(s subject) error {
	for label := range int32(3) {
		t := s.separated(3)
		t.x, t.y = t.x.Part(1, 2), []int32{label}
		for _, noise := range []*confusion.Matrix{nil, t.noise} {
			t.noise = noise
			for _, rule := range s.Weights {
				if _, err := s.run(t, host.RunOptions{MaxSteps: s.steps(few), Weights: rule}); err != nil {
					return fmt.Errorf("label %d, noise %v, weights %s: %w", label, noise != nil, rule, err)
				}
			}
		}
	}
	return nil
}

// checkHuge has values near the ends of float32: an error, or a result like any other.
func checkHuge(s subject) error {
	for k, by := range []float32{1e19, 1e30, math.MaxFloat32 / 4, 1e-19, 1e-38, 1e-30} {
		part := !s.thorough && !*every
		if part && k%2 == 1 { // they have an overflow, the largest and the smallest
			continue
		}
		t := s.overlapping().scaled(by)
		for i, rule := range s.Weights {
			// The host chooses by the rule: one engine has every rule, the others one of each size.
			if part && i != k/2%len(s.Weights) {
				continue
			}
			o := host.RunOptions{MaxSteps: s.steps(few), Weights: rule}
			r, err := host.Run(background, s.New(), t.on(s.engine), o)
			if err == nil {
				err = sound(r, t, s.engine)
			} else if by < 1 {
				err = fmt.Errorf("no tiny value is an error: %w", err)
			} else {
				err = nil
			}
			if err != nil {
				return fmt.Errorf("values of about %g, weights %s: %w", by, rule, err)
			}
		}
	}
	return nil
}

// checkBadProblems has what is no problem: each is an error.
func checkBadProblems(s subject) error {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for what, change := range map[string]func(*task){
		"no labels":         func(t *task) { t.y = nil },
		"too few labels":    func(t *task) { t.y = t.y[:7] },
		"a label too large": func(t *task) { t.y[9] = int32(t.q) },
		"a negative label":  func(t *task) { t.y[9] = -1 },
		"no examples": func(t *task) {
			t.x, t.y = dataset.Examples{D: s.features},
				[]int32{}
		},
		"values missing":                      func(t *task) { t.x.X = t.x.X[1:] },
		"NaN":                                 func(t *task) { t.x.X[50] = nan },
		"infinite":                            func(t *task) { t.x.X[50] = inf },
		"no classes":                          func(t *task) { t.q = 0 },
		"a confusion matrix of another size":  func(t *task) { t.noise = must(confusion.Symmetric(classes(t.q+1), 0)) },
		"a confusion matrix that is singular": func(t *task) { t.noise = must(confusion.Pairwise(classes(t.q), 0.5)) },
		"a confusion matrix that is not stochastic": func(t *task) { t.noise.P[0] = 7 },
	} {
		t := s.overlapping()
		change(&t)
		if _, err := host.Run(background, s.New(), t.on(s.engine),
			host.RunOptions{MaxSteps: 1}); err == nil {
			return fmt.Errorf("a problem with %s is taken, wanted an error", what)
		}
	}
	if _, err := host.Run(background, s.New(), s.overlapping().on(nil),
		host.RunOptions{MaxSteps: 1}); err == nil {
		return errors.New("a problem without an engine is taken, wanted an error")
	}
	return nil
}
