package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fit"
)

// checkResume goes on from every snapshot of runs by each rule, on another engine than the one
// that made it (and on the first itself), and ends where the straight run does, by way of the
// same snapshots.
func checkResume(s subject) error {
	t, on := s.overlapping(), []*engine.Engine{s.next}
	if s.engine == s.first {
		on = append(on, s.engine)
	}
	for _, rule := range s.Weights {
		straight, err := s.watch(s.engine, t, host.RunOptions{Weights: rule})
		if err != nil {
			return err
		}
		if len(straight.snapshots) != straight.Steps+1 {
			return fmt.Errorf("%d snapshots of %d steps", len(straight.snapshots), straight.Steps)
		}
		for _, e := range on {
			for at, snapshot := range straight.snapshots {
				rest, err := s.watch(e, t, host.RunOptions{Weights: rule, Resume: &snapshot})
				if err == nil {
					err = same(rest.Result, straight.Result)
				}
				if err == nil {
					err = sameSnapshots(rest.snapshots, straight.snapshots[at+1:])
				}
				if err != nil {
					return fmt.Errorf("weights %s, gone on from step %d on %s: %w", rule, at, e.Device().ID, err)
				}
			}
		}
	}
	return nil
}

// checkCancelled cancels runs before the first step, after it, and before the last.
func checkCancelled(s subject) error {
	for _, rule := range s.Weights {
		straight, err := s.watch(s.engine, s.overlapping(), host.RunOptions{Weights: rule})
		if err != nil {
			return err
		}
		for _, at := range []int{0, 1, straight.Steps - 1} {
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			after := func(step int) {
				if step == at {
					cancel()
				}
			}
			o := host.RunOptions{Weights: rule, OnStart: func() { after(0) },
				OnStep: func(r host.Report) { after(r.Step) }}
			err := s.goOn(ctx, s.engine, straight.Result, o, at)
			if err != nil {
				return fmt.Errorf("weights %s, cancelled after step %d: %w", rule, at, err)
			}
		}
	}
	return nil
}

// goOn makes a run that may be cancelled on the way, after least steps or more, and goes on with it
// to the straight run's result.
func (s subject) goOn(ctx context.Context, e *engine.Engine, straight host.Result,
	o host.RunOptions,
	least int) error {
	o.MaxSteps = s.steps(few)
	started, t := o.OnStart, s.overlapping()
	begun := false
	o.OnStart = func() {
		begun = true
		if started != nil {
			started()
		}
	}
	part, err := host.Run(ctx, s.New(), t.on(e), o)
	if err != nil && !begun && errors.Is(err, context.Canceled) {
		return nil // before it could have a result
	}
	if err != nil {
		return err
	}
	if err := sound(part, t, s.engine); err != nil {
		return err
	}
	if part.Stop != host.Interrupted {
		return same(part, straight)
	}
	if part.Snapshot == nil || part.Steps < least {
		return fmt.Errorf("interrupted after %d steps with snapshot %v, wanted one after %d",
			part.Steps, part.Snapshot, least)
	}
	rest, err := s.watch(s.engine, t, host.RunOptions{Weights: o.Weights, Resume: part.Snapshot})
	if err != nil {
		return err
	}
	return same(rest.Result, straight)
}

// checkCancelledAnywhere cancels runs between any two operations of the engine, in the middle
// of a step too.
func checkCancelledAnywhere(s subject) error {
	straight, err := s.watch(s.engine, s.overlapping(), host.RunOptions{})
	if err != nil {
		return err
	}
	return s.everyFew(func(at int, p *probe) error {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		p.before = func(operation int) error {
			if operation == at {
				cancel()
			}
			return nil
		}
		return s.goOn(ctx, engine.New(p), straight.Result, host.RunOptions{}, 0)
	})
}

// errBroken is what a probe fails with.
var errBroken = errors.New("broken on purpose")

// checkFailingEngine breaks any operation of the engine: the run ends in its error.
func checkFailingEngine(s subject) error {
	return s.everyFew(func(at int, p *probe) error {
		p.before = func(operation int) error {
			if operation >= at {
				return errBroken
			}
			return nil
		}
		_, err := host.Run(background, s.New(), s.overlapping().on(engine.New(p)),
			host.RunOptions{MaxSteps: s.steps(few)})
		if !errors.Is(err, errBroken) {
			return fmt.Errorf("the engine fails, the run ends with %v; wanted the engine's error", err)
		}
		return nil
	})
}

// everyFew judges runs with a probe, for about eight of the operations that a run makes on
// its engine. After each, nothing may be left on it.
func (s subject) everyFew(judge func(at int, p *probe) error) error {
	dry := &probe{e: s.engine}
	_, err := host.Run(background, s.New(), s.overlapping().on(engine.New(dry)),
		host.RunOptions{MaxSteps: s.steps(few)})
	if err != nil {
		return err
	}
	if dry.loaded != 0 {
		return fmt.Errorf("a run left %d data sets on the engine", dry.loaded)
	}
	for at := 1; at <= dry.operations; at += 1 + dry.operations/8 {
		p := &probe{e: s.engine}
		if err := judge(at, p); err != nil {
			return fmt.Errorf("operation %d of %d: %w", at, dry.operations, err)
		}
		if p.loaded != 0 {
			return fmt.Errorf("operation %d of %d: the run left %d data sets on the engine", at,
				dry.operations, p.loaded)
		}
	}
	return nil
}

// state returns a snapshot in the middle of a run on t, and what goes on from it.
func (s subject) state(t task) (host.Snapshot, error) {
	w, err := s.watch(s.engine, t, host.RunOptions{})
	if err != nil {
		return host.Snapshot{}, err
	}
	return w.snapshots[len(w.snapshots)/2], nil
}

// checkDamagedState offers learners what no learner has saved.
func checkDamagedState(s subject) error {
	t := s.overlapping()
	good, err := s.state(t)
	if err != nil {
		return err
	}
	restore := func(saved []byte) error {
		l, err := fit.Start(background, s.New(), t.on(s.engine))
		if err != nil {
			return err
		}
		return errors.Join(l.Restore(saved), l.Close())
	}
	if err := restore(good.Learner); err != nil {
		return fmt.Errorf("its own state is refused: %w", err)
	}
	var bad [][]byte
	for length := range len(good.Learner) {
		if len(good.Learner) < 200 || length%(len(good.Learner)/100) == 0 {
			bad = append(bad, good.Learner[:length])
		}
	}
	bad = append(bad, append(append([]byte(nil), good.Learner...), 'x'))
	rng := rand.New(rand.NewPCG(9, 9))
	for range 100 {
		random := make([]byte, 1+rng.IntN(2*len(good.Learner)+8))
		for i := range random {
			random[i] = byte(rng.Uint32())
		}
		bad = append(bad, random)
	}
	for _, b := range bad {
		if restore(b) == nil {
			return fmt.Errorf("state %.200q is taken, though %.200q was saved", b, good.Learner)
		}
	}
	// One bit may make a state that could have been saved. Then the run goes on in order.
	for range min(100, 8*len(good.Learner)) {
		flipped := append([]byte(nil), good.Learner...)
		flipped[rng.IntN(len(flipped))] ^= 1 << rng.IntN(8)
		if err := s.orderly(t, good, flipped); err != nil {
			return fmt.Errorf("state %.200q: %w", flipped, err)
		}
	}
	return nil
}

// orderly goes on from a snapshot with another state of the learner: an error of the start, or
// a result like any other. A panic fails the case.
func (s subject) orderly(t task, snapshot host.Snapshot, state []byte) error {
	snapshot.Learner = state
	begun := false
	r, err := host.Run(background, s.New(), t.on(s.engine), host.RunOptions{
		MaxSteps: snapshot.Steps + 2, Resume: &snapshot, OnStart: func() { begun = true },
	})
	switch {
	case err != nil && begun:
		return fmt.Errorf("taken, then the run failed: %w", err)
	case err != nil:
		return nil
	}
	return sound(r, t, s.engine)
}

// checkForeignState goes on with the state of a run on a problem of other sizes.
func checkForeignState(s subject) error {
	foreign, err := s.state(s.separated(3))
	if err != nil {
		return err
	}
	t := s.overlapping()
	own, err := s.state(t)
	if err != nil {
		return err
	}
	return s.orderly(t, own, foreign.Learner)
}

// checkFrom begins with given weights.
func checkFrom(s subject) error {
	t := s.overlapping()
	cold, err := s.watch(s.engine, t, host.RunOptions{})
	if err != nil {
		return err
	}
	zero, err := s.watch(s.engine, t, host.RunOptions{From: make([]float32, len(cold.W.W))})
	if err == nil {
		err = sameSeen(zero, cold)
	}
	if err != nil {
		return fmt.Errorf("from weights of 0: %w", err)
	}
	last := host.RunOptions{From: cold.snapshots[len(cold.snapshots)-1].Last}
	warm, err := s.watch(s.engine, t, last)
	if err != nil {
		return fmt.Errorf("from the weights of another run: %w", err)
	}
	again, err := s.watch(s.engine, t, last)
	if err == nil {
		err = sameSeen(again, warm)
	}
	if err != nil {
		return fmt.Errorf("from the weights of another run, twice: %w", err)
	}
	none, err := s.run(t, last)
	if err != nil {
		return err
	}
	if err := sameWeights(none.W.W, last.From); err != nil || none.Steps != 0 {
		return fmt.Errorf("no step from given weights: %d steps, %w", none.Steps, err)
	}
	return nil
}
