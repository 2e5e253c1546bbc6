package catalog_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/learners"
)

// alike runs two tasks on two engines by each rule, and says where anything differs.
func (s subject) alike(a *engine.Engine, ta task, b *engine.Engine, tb task) error {
	for _, rule := range s.Weights {
		want, err := s.watch(a, ta, host.RunOptions{Weights: rule})
		if err != nil {
			return fmt.Errorf("weights %s: %w", rule, err)
		}
		got, err := s.watch(b, tb, host.RunOptions{Weights: rule})
		if err != nil {
			return fmt.Errorf("weights %s, second run: %w", rule, err)
		}
		if err := sameSeen(got, want); err != nil {
			return fmt.Errorf("weights %s, second run: %w", rule, err)
		}
	}
	return nil
}

func checkTwice(s subject) error {
	return s.alike(s.engine, s.overlapping(), s.engine, s.overlapping())
}

func checkEngines(s subject) error {
	if s.engine == s.first {
		return nil
	}
	return s.alike(s.first, s.overlapping(), s.engine, s.overlapping())
}

func checkSparse(s subject) error {
	return s.alike(s.engine, s.overlapping(), s.engine, s.overlapping().sparse())
}

func checkIdentity(s subject) error {
	a, b := s.overlapping(), s.overlapping()
	a.noise, b.noise = nil, must(confusion.Symmetric(classes(b.q), 0))
	return s.alike(s.engine, a, s.engine, b)
}

// checkIgnored has learners that take labels to be right make the same steps whatever C is.
func checkIgnored(s subject) error {
	if !s.IgnoresNoise {
		return nil
	}
	a, b := s.overlapping(), s.overlapping()
	a.noise = nil
	for _, rule := range s.Weights {
		o := host.RunOptions{Weights: rule}
		want, err := s.watch(s.engine, a, o)
		if err != nil {
			return err
		}
		got, err := s.watch(s.engine, b, o)
		if err != nil {
			return err
		}
		if len(got.snapshots) != len(want.snapshots) {
			return fmt.Errorf("weights %s: %d snapshots with a matrix, %d without", rule,
				len(got.snapshots), len(want.snapshots))
		}
		for i, g := range got.snapshots {
			if err := sameWeights(g.Last, want.snapshots[i].Last); err != nil {
				return fmt.Errorf("weights %s, after step %d, with a matrix: %w", rule, i, err)
			}
		}
	}
	return nil
}

// checkTogether has learners at work on one engine at once, from the same parameters: a whole
// run between two steps of another, and two at the same time.
func checkTogether(s subject) error {
	p, o := s.New(), host.RunOptions{MaxSteps: s.steps(few)}
	want, err := host.Run(background, p, s.overlapping().on(s.engine), o)
	if err != nil {
		return err
	}
	between := o
	between.OnStep = func(r host.Report) {
		if r.Step > 1 || err != nil {
			return
		}
		var inner host.Result
		if inner, err = host.Run(background, p, s.overlapping().on(s.engine), o); err == nil {
			err = same(inner, want)
		}
	}
	outer, failed := host.Run(background, p, s.overlapping().on(s.engine), between)
	if err := errors.Join(failed, err); err != nil {
		return fmt.Errorf("a run between steps of another: %w", err)
	}
	if err := same(outer, want); err != nil {
		return fmt.Errorf("with another run between its steps: %w", err)
	}
	var results [2]host.Result
	var errs [2]error
	var both sync.WaitGroup
	for i := range results {
		both.Go(func() {
			results[i], errs[i] = host.Run(background, p, s.overlapping().on(s.engine), o)
			if errs[i] == nil {
				errs[i] = same(results[i], want)
			}
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

// checkInputs lends a run all that it may only read.
func checkInputs(s subject) error {
	for _, t := range []task{s.overlapping(), s.overlapping().sparse()} {
		was := t.clone()
		for _, rule := range s.Weights {
			first, err := s.watch(s.engine, t, host.RunOptions{Weights: rule})
			if err != nil {
				return err
			}
			p := s.New()
			before, err := learners.Marshal(p)
			if err != nil {
				return err
			}
			from := slices.Clone(first.W.W)
			resume, lent := cloneSnapshot(first.snapshots[0]), first.snapshots[0]
			for _, o := range []host.RunOptions{{From: from}, {Resume: &lent}} {
				o.MaxSteps, o.Weights = s.steps(few), rule
				if _, err := host.Run(background, p, t.on(s.engine), o); err != nil {
					return err
				}
			}
			after, err := learners.Marshal(p)
			switch {
			case err != nil || string(after) != string(before):
				return fmt.Errorf("the parameters were %s, and are %s, %v after a run", before, after, err)
			case sameWeights(from, first.W.W) != nil:
				return errors.New("the weights to start from were changed")
			case !reflect.DeepEqual(lent, resume):
				return errors.New("the snapshot to go on from was changed")
			case !slices.Equal(t.y, was.y):
				return errors.New("the labels were changed")
			case !reflect.DeepEqual(t.x, was.x):
				return errors.New("the examples were changed")
			case t.noise != nil && (!slices.Equal(t.noise.P, was.noise.P) || !slices.Equal(t.noise.Classes,
				was.noise.Classes)):
				return errors.New("the confusion matrix was changed")
			}
		}
	}
	return nil
}

func cloneSnapshot(s host.Snapshot) host.Snapshot {
	s.Kept = s.Kept.Clone()
	s.Last, s.Sum = slices.Clone(s.Last), slices.Clone(s.Sum)
	s.Counts, s.Learner = slices.Clone(s.Counts), slices.Clone(s.Learner)
	if e := s.EstimatedError; e != nil {
		v := *e
		s.EstimatedError = &v
	}
	return s
}

// betweener does something with a learner after each count, before the step.
type betweener func(l fit.Run, w engine.Weights, counts []int64) error

// drive makes steps with a learner by hand and returns W after each, until it is done.
func (s subject) drive(p learners.Params, between betweener) (all []engine.Weights, err error) {
	t := s.overlapping()
	l, err := fit.Start(background, p, t.on(s.engine))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	w, before := engine.NewWeights(t.q, t.x.D), engine.Weights{}
	pause := func(changed []int) error {
		counts, err := l.Count(background, w, changed)
		if err != nil {
			return err
		}
		before = w.Clone()
		if err := between(l, w, counts); err != nil {
			return err
		}
		if err := sameWeights(w.W, before.W); err != nil {
			return fmt.Errorf("weights changed without a step: %w", err)
		}
		if len(all) == s.steps(few) {
			return errEnough
		}
		return nil
	}
	if err := pause(learners.AllClasses(t.q)); err != nil {
		return nil, err
	}
	_, err = l.Fit(background, w, func(step learners.Step) error {
		if err := judgeChanged(step.Changed, before, w); err != nil {
			return err
		}
		all = append(all, w.Clone())
		return pause(step.Changed)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

var errEnough = errors.New("the steps are enough")

// judgeChanged says if changed is not the classes whose weights changed, each once.
func judgeChanged(changed []int, before, w engine.Weights) error {
	for i, c := range changed {
		if c < 0 || c >= w.Q || slices.Contains(changed[:i], c) {
			return fmt.Errorf("a step changed classes %v, wanted some of 0 to %d, each once", changed, w.Q-1)
		}
	}
	for c := range w.Q {
		if !slices.Contains(changed, c) && sameWeights(w.Row(c), before.Row(c)) != nil {
			return fmt.Errorf("a step changed the weights of class %d, and names %v", c, changed)
		}
	}
	return nil
}

// driveBoth compares a plain run of the learner with a run that between interrupts.
func (s subject) driveBoth(between func(learners.Params) betweener) error {
	want, err := s.drive(s.New(), func(fit.Run, engine.Weights, []int64) error { return nil })
	if err != nil {
		return err
	}
	p := s.New()
	got, err := s.drive(p, between(p))
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d steps, wanted %d", len(got), len(want))
	}
	for i, w := range want {
		if err := sameWeights(got[i].W, w.W); err != nil {
			return fmt.Errorf("after step %d: %w", i+1, err)
		}
	}
	return nil
}

// checkParametersCopied changes the parameters of a run that goes on.
func checkParametersCopied(s subject) error {
	return s.driveBoth(func(p learners.Params) betweener {
		return func(fit.Run, engine.Weights, []int64) error {
			reflect.ValueOf(p).Elem().SetZero()
			return nil
		}
	})
}

// checkCountTwice counts more often than the loop does, and saves in between: steps stay as
// they were. The counts are the caller's, who writes to them.
func checkCountTwice(s subject) error {
	between := func(l fit.Run, w engine.Weights, counts []int64) error {
		want := slices.Clone(counts)
		clear(counts)
		saved, err := l.Save()
		if err != nil {
			return err
		}
		for _, changed := range [][]int{nil, learners.AllClasses(w.Q)} {
			again, err := l.Count(background, w, changed)
			if err != nil || !slices.Equal(again, want) {
				return fmt.Errorf("counted again: %v, %v; wanted %v", again, err, want)
			}
		}
		if now, err := l.Save(); err != nil || string(now) != string(saved) {
			return fmt.Errorf("saved again: %q, %v; wanted %q", now, err, saved)
		}
		return nil
	}
	return s.driveBoth(func(learners.Params) betweener { return between })
}

func checkClose(s subject) error {
	t := s.overlapping()
	l, err := fit.Start(background, s.New(), t.on(s.engine))
	if err != nil {
		return err
	}
	w := engine.NewWeights(t.q, t.x.D)
	if _, err := l.Count(background, w, learners.AllClasses(t.q)); err != nil {
		return errors.Join(err, l.Close())
	}
	for range 2 {
		if err := l.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	if _, err := l.Count(background, w, learners.AllClasses(t.q)); err == nil {
		return errors.New("a closed learner counts, wanted an error")
	}
	_, err = l.Fit(background, w, func(learners.Step) error { return errEnough })
	if err == nil || errors.Is(err, errEnough) {
		return errors.New("a closed learner makes a step, wanted an error")
	}
	return nil
}
