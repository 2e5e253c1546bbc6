package enginetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// scorer is an *engine.Scorer, or an *engine.Cells or *engine.Evaluator, which embed one.
type scorer interface {
	Rescore(w engine.Weights, classes []int) error
	Scores(dst []float32, from, to int) error
	Predict(dst []int32) error
	CountPredicted(counts []int64, y []int32) error
	Close() error
}

// Small loads 3 examples of 2 features and 2 classes.
func Small(e *engine.Engine) (*engine.Cells, error) {
	return e.LoadCells(small, []int32{0, 1, 1}, 2, numerics.FixedPoint{})
}

// SmallEvaluator loads the examples of Small, and sets targets.
func SmallEvaluator(e *engine.Engine) (*engine.Evaluator, error) {
	r, err := e.LoadEvaluator(small, 2, numerics.FixedPoint{})
	if err != nil {
		return nil, err
	}
	return r, r.SetTargets(smallTargets)
}

var (
	small        = dataset.Examples{N: 3, D: 2, X: []float32{1, 2, 3, 4, 5, 6}}
	smallTargets = engine.Targets{Values: []float32{0.5, 0.5, 1, 0, 0.25, 0.75}, Given: true}
)

// SmallBins loads three examples of two features in bins, and sets targets.
func SmallBins(e *engine.Engine) (*engine.Bins, error) {
	b := dataset.Binned{N: 3, F: 2, Bins: []uint8{0, 1, 1, 0, 2, 1}, Counts: []int{2, 3}}
	r, err := e.LoadBins(b, 2)
	if err != nil {
		return nil, err
	}
	return r, r.SetTargets(smallTargets)
}

// CheckFailed judges a data set of Small or SmallEvaluator after an operation failed: everything
// but Close returns engine.ErrFailed. A test of an engine makes the failure, which no case of the
// suite can.
func CheckFailed(r scorer) error {
	return errors.Join(refuses(r, engine.ErrFailed), r.Close())
}

// refuses asks for every operation on a data set of Small or SmallEvaluator and wants an error.
func refuses(r scorer, want error) error {
	w, f, sums := engine.NewWeights(2, 2), make([]float32, 6), make([]int64, 4)
	got := map[string]error{
		"rescore": r.Rescore(w, []int{0}), "scores": r.Scores(f, 0, 3),
		"predict": r.Predict(make([]int32, 3)), "counts": r.CountPredicted(sums, make([]int32, 3)),
	}
	switch r := r.(type) {
	case *engine.Cells:
		_, got["assign"] = r.Assign(0)
		got["class sums"] = r.ClassSums(sums, 0)
		got["norms"] = r.Norms(f[:4], f[:4])
		got["update vectors"] = r.UpdateVectors(f[:2], []engine.Pair{{P: 0, Q: 1}}, f[:4])
	case *engine.Evaluator:
		_, got["evaluate"] = r.Evaluate(sums, w)
		got["set targets"] = r.SetTargets(smallTargets)
		got["weighted sums"] = r.WeightedSums(sums, f)
	}
	return wanted(got, want)
}

// refusesBins is refuses for a data set of SmallBins.
func refusesBins(r *engine.Bins, want error) error {
	got := map[string]error{"set targets": r.SetTargets(smallTargets),
		"start":     r.Start(engine.Growth{Labels: []int32{0, 1, 1}}),
		"histogram": r.Histogram(make([]int64, 4), 0, []int{0}),
		"add":       r.Add(engine.Tree{Values: []float32{1}}, 0),
		"scores":    r.Scores(make([]float32, 6), 0, 3)}
	_, got["gradients"] = r.Gradients()
	_, got["split"] = r.Split(0, 0, engine.BinSet{}, [2]int{1, 2})
	return wanted(got, want)
}

// wanted compares the errors of operations with one.
func wanted(got map[string]error, want error) error {
	for op, err := range got {
		if !errors.Is(err, want) {
			return fmt.Errorf("%s: got %v, want %v", op, err, want)
		}
	}
	return nil
}

// RunClose judges what open's engines do when they are closed, also while they are used.
func RunClose(t *testing.T, open func() *engine.Engine) {
	t.Helper()
	for name, check := range map[string]func(*engine.Engine) error{
		"closed": checkClosed, "closed under way": checkUnderWay,
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				if err := check(open()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// checkClosed closes an engine before what was loaded on it.
func checkClosed(e *engine.Engine) error {
	r, err := Small(e)
	v, err2 := SmallEvaluator(e)
	b, err3 := SmallBins(e)
	if err := errors.Join(err, err2, err3, e.Close(), e.Close()); err != nil {
		return err
	}
	return errors.Join(refuses(r, engine.ErrClosed), refuses(v, engine.ErrClosed),
		refusesBins(b, engine.ErrClosed), r.Close(), v.Close(), b.Close())
}

// checkUnderWay closes an engine that goroutines work on: each operation succeeds or
// returns ErrClosed.
func checkUnderWay(e *engine.Engine) error {
	p := problem{n: 300, d: 20, q: 4}
	x, y, inv, rng := p.build()
	w := engine.NewWeights(p.q, p.d)
	draw(rng, w.W, normal)
	errs := make([]error, 4) // of goroutines
	var started, done sync.WaitGroup
	started.Add(len(errs))
	for i := range errs {
		p := p
		p.sparse = i%2 == 1
		form := p.form(x)
		done.Go(func() {
			errs[i] = useOnce(e, form, y, w, inv)
			for started.Done(); errs[i] == nil; {
				errs[i] = useOnce(e, form, y, w, inv)
			}
		})
	}
	started.Wait()
	err := e.Close()
	done.Wait()
	for _, got := range errs {
		if !errors.Is(got, engine.ErrClosed) {
			err = errors.Join(err, fmt.Errorf("under way: got %v, want %v", got, engine.ErrClosed))
		}
	}
	return err
}

// useOnce loads examples, with labels, with targets and with neither, and uses them.
func useOnce(e *engine.Engine, x dataset.Examples, y []int32, w engine.Weights,
	inv []float32) (err error) {
	r, err := e.LoadCells(x, y, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s, err := e.Load(x, w.Q)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	v, err := e.LoadEvaluator(x, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if err := v.SetTargets(engine.Targets{Values: make([]float32, w.Q*w.Q), Row: y}); err != nil {
		return err
	}
	all := classes(w.Q)
	for range 3 {
		for _, use := range []func() error{
			func() error { _, err := v.Evaluate(make([]int64, w.Q*w.D), w); return err },
			func() error { return errors.Join(s.Rescore(w, all), r.Rescore(w, all)) },
			func() error { _, err := r.Assign(0); return err },
			func() error { return s.Predict(make([]int32, x.N)) },
			func() error { return r.Norms(make([]float32, w.Q*w.Q), inv) },
		} {
			if err := use(); err != nil {
				return err
			}
		}
	}
	landmarks := dataset.Examples{N: 2, D: x.D, X: w.W[:2*w.D]}
	return e.Project(make([]float32, x.N*2), x, engine.Projection{Function: linear,
		Landmarks: landmarks})
}

// checkMemory has class sums that no machine holds, of examples that are easily scored:
// cells are refused, before anything of their size is taken, and scores are not.
func checkMemory(e, _ *engine.Engine) error {
	const n, d, q = 2, 500, 30000 // 3.6 TB
	x, y := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, []int32{0, 1}
	for j := range x.D {
		x.Row(0)[j], x.Row(1)[j] = 1, -1
	}
	const wide = 1 << 21 // with 1<<15-1 classes 2^64 bytes and more
	_, cells := e.LoadCells(x, y, q, numerics.FixedPoint{})
	_, more := e.LoadCells(dataset.Examples{N: 1, D: wide, X: make([]float32, wide)}, y[:1], 1<<15-1,
		numerics.FixedPoint{})
	for _, err := range []error{cells, more} {
		if !errors.Is(err, engine.ErrMemory) {
			return fmt.Errorf("cells of many classes: got %v, want %v", err, engine.ErrMemory)
		}
	}
	r, err := e.Load(x, q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(q, x.D)
	w.Row(q - 1)[0], w.Row(3)[1] = 1, -1
	if err := r.Rescore(w, []int{q - 1, 3}); err != nil {
		return err
	}
	return errors.Join(into("predict", []int32{q - 1, 3}, r.Predict), r.Close())
}
