//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// treesWithFaults grows trees over five examples and corrupts one index on the device at a time. It
// returns an error unless each kernel uses the nearest valid index instead. A guard follows each
// buffer, so an index out of bounds reads or writes the guard.
func treesWithFaults(e *tested) (err error) {
	b := dataset.Binned{N: 5, F: 1, Bins: []uint8{0, 1, 0, 1, 1}, Counts: []int{2}}
	r, err := newBins(e.deviceEngine, b, 2, b.N)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.free()) }()
	const n, stride = 5, 8
	t := r.binTiles[0]
	labels := []int32{0, 1, 0, 1, 0}
	if err := r.Start(engine.Growth{Labels: labels}); err != nil {
		return err
	}
	wrong := func(what string, got, want any) error {
		if fmt.Sprint(got) == fmt.Sprint(want) {
			return nil
		}
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}

	sums := make([]int64, 4)
	histogram := func(what string, about []int32, want ...int64) error {
		err := errors.Join(roomFor(r, &r.features, "features", 3), roomFor(r, &r.partial, "sums", 4))
		if err == nil {
			err = errors.Join(r.features.write(0, about), r.partial.write(0, make([]int64, 4)))
		}
		if err == nil {
			err = e.histogram.launch(e.histogram.local, 1, histogramArgs{Bins: t.bins, Order: t.order[0],
				Grads: t.grads, Labels: t.labels, Times: t.times, Features: r.features,
				Partial: r.partial, Size: 4, Rows: n, Stride: stride, To: n, Ranges: 1, Counted: true,
				Width: 2, Wide: 2, Limit: n, Count: 1, Per: 1})
		}
		return errors.Join(err, r.partial.read(sums, 0), wrong(what, sums, want))
	}
	set := binSet{A: 1}
	move := func(left int32, middle int) error {
		return errors.Join(roomFor(r, &r.lefts, "lefts", 1), r.lefts.write(0, []int32{left}),
			e.splitMove.launch(e.splitMove.local, 1, splitMoveArgs{t.bins, t.order[0], t.order[1],
				r.lefts, n, stride, 0, 0, n, n, middle, set}))
	}
	err = errors.Join(
		histogram("no fault", []int32{0, 0, 2}, 2, 0, 1, 2),
		histogram("sums beyond all", []int32{0, 4, 2}, 0, 0, 0, 0),
		histogram("a feature beyond all", []int32{stride, 0, 2}, 3, 2, 0, 0),
		move(4, 5), move(0, 4), // the fifth and the sixth on the left, and on the right
		t.order[0].write(0, []int32{0, 1, 2, 3, n}),
		histogram("an example beyond all", []int32{0, 0, 2}, 2, 0, 1, 2), move(0, 2))
	if err != nil {
		return err
	}
	moved := make([]int32, n)
	if err := t.order[1].read(moved, 0); err != nil {
		return err
	}
	if err := wrong("examples moved", moved, []int32{0, 2, 1, 3, 4}); err != nil {
		return err
	}
	counts, err := r.Split(0, 0, engine.BinSet{1, 0, 1 << (guardByte - 128)}, [2]int{1, 2})
	if err := errors.Join(err, wrong("examples counted", counts, [2]int64{2, 3})); err != nil {
		return err
	}

	// An invalid feature is replaced by the last one, whose bins are 0, an invalid child by leaf 0,
	// and an invalid leaf by the last one.
	scores := make([]float32, lanes)
	for _, fault := range []struct {
		what  string
		nodes []int32
		want  []float32
	}{
		{"a feature beyond all", []int32{stride, -1, -2, 0, 1}, []float32{1, 1, 1, 1, 1}},
		{"a node beyond all", []int32{0, -2, 1, 0, 1}, []float32{2, 1, 2, 1, 1}},
		{"a leaf beyond all", []int32{0, -1, -3, 0, 1}, []float32{1, 2, 1, 2, 2}},
	} {
		nodes := append(fault.nodes, make([]int32, 12-len(fault.nodes))...)
		err := errors.Join(t.scores.fill(0), roomFor(r, &r.tree, "nodes", 12),
			roomFor(r, &r.values, "values", 2))
		if err == nil {
			err = errors.Join(r.tree.write(0, nodes), r.values.write(0, []float32{1, 2}),
				e.addTree.launch(n, 1, addTreeArgs{t.bins, r.tree, r.values, t.scores, stride, n, 2, 0, 1, 2}),
				t.scores.read(scores, 0), wrong(fault.what, scores[:n], fault.want))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestMutantsOutOfBounds: no kernel of trees follows an index that a fault has turned out of a
// buffer, and each bound is needed. Four are tried without theirs, all with -all.
func TestMutantsOutOfBounds(t *testing.T) {
	const file = "trees.cl"
	mutants := []struct{ style, from, to string }{
		{"", "const int i = BOUNDED(order[k], rows), m", "const int i = order[k], m"},
		{"", "(size_t)BOUNDED(order[k], rows)", "(size_t)order[k]"},
		{"", "BOUNDED(about[3 * min(p, n - 1)], stride)", "about[3 * min(p, n - 1)]"},
		{"", "if (place + wide / kept > size)", "if (0)"},
		{"", "BOUNDED(node[0], stride)", "node[0]"},
		{"", "&& next < count", ""},
		{"", "BOUNDED(-1 - at, leaves)", "-1 - at"},
		{"cpu", "const int i = BOUNDED(order[k], rows);", "const int i = order[k];"},
		{"cpu", "BOUNDED(left++, to)", "left++"},
		{"cpu", "BOUNDED(right++, to)", "right++"},
		{"gpu", "here ? BOUNDED(order[at + l], rows)", "here ? order[at + l]"},
		{"gpu", "BOUNDED(goes ? left + mine : right + l - mine, to)",
			"(goes ? left + mine : right + l - mine)"},
	}
	if !*allMutants {
		chooser(t).Shuffle(len(mutants), func(i, j int) {
			mutants[i], mutants[j] = mutants[j], mutants[i]
		})
		mutants = mutants[:4]
	}
	eachDevice(t, func(i Info) {
		for _, style := range []string{"cpu", "gpu"} {
			whole := openTest(t, i, Options{}, build{style: style})
			if err := whole.compile(whole.programs()...); err != nil {
				t.Fatal(err)
			}
			if err := treesWithFaults(whole); err != nil {
				t.Errorf("%s, style %s: %v", i.ID(), style, err)
			}
			for _, m := range mutants {
				if m.style != "" && m.style != style {
					continue
				}
				e := over(whole.broken(t, mutate(t, file, m.from, m.to)))
				if treesWithFaults(e) == nil {
					t.Errorf("%s, style %s: nothing notices that %q is %q", i.ID(), style, m.from, m.to)
				}
			}
		}
	})
}
