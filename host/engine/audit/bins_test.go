package audit

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func (b *broken) LoadBins(x dataset.Binned, q, all int) (engine.LoadedBins, error) {
	r, err := b.Driver.LoadBins(x, q, all)
	return brokenBins{r, b}, err
}

type brokenBins struct {
	engine.LoadedBins
	b *broken
}

func (r brokenBins) Gradients() (engine.Evaluation, error) {
	e, err := r.LoadedBins.Gradients()
	if r.b.what == "gradients" {
		e.Loss++
	}
	return e, err
}

func (r brokenBins) Histogram(dst []int64, node int, features []int) error {
	err := r.LoadedBins.Histogram(dst, node, features)
	turn(r.b, "histogram", dst)
	return err
}

func (r brokenBins) Split(node, f int, left engine.BinSet, to [2]int) ([2]int64, error) {
	counts, err := r.LoadedBins.Split(node, f, left, to)
	turn(r.b, "split", counts[:])
	return counts, err
}

func (r brokenBins) Scores(dst []float32, from, to int) error {
	err := r.LoadedBins.Scores(dst, from, to)
	turn(r.b, "scores", dst)
	return err
}

// TestBinsDiffer: one wrong bit in any result of trees is an error, at level sample but for
// gradients.
func TestBinsDiffer(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		for _, what := range []string{"gradients", "histogram", "split", "scores", ""} {
			b := &broken{simd.NewDriver(), what}
			e := engine.New(Driver(b, cpuref.Driver{}, level))
			err := growOnce(e)
			wrong := what != "" && !(what == "gradients" && level == Sample)
			if errors.Is(err, ErrDiffers) != wrong || !wrong && err != nil {
				t.Errorf("level %s, %q is wrong: got %v", level, what, err)
			}
		}
	}
}

// growOnce asks once for each result of two examples.
func growOnce(e *engine.Engine) error {
	x := dataset.Binned{N: 2, F: 2, Bins: []uint8{0, 1, 1, 0}, Counts: []int{2, 2}}
	r, err := e.LoadBins(x, 2)
	if err != nil {
		return err
	}
	t := engine.Tree{Nodes: []engine.Node{{Left: engine.BinSet{1}, Children: [2]int32{^0, ^1}}},
		Values: []float32{1, 2}}
	targets := engine.Targets{Given: true, Values: []float32{1, 0}, Row: make([]int32, 2)}
	err = errors.Join(r.SetTargets(targets), r.Add(t, 1))
	_, err2 := r.Gradients()
	err = errors.Join(err, err2, r.Start(engine.Growth{Class: 1}),
		r.Histogram(make([]int64, 8), 0, []int{0, 1}))
	_, err2 = r.Split(0, 1, engine.BinSet{1}, [2]int{1, 2})
	return errors.Join(err, err2, r.Scores(make([]float32, 4), 0, 2), r.Close())
}
