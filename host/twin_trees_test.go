package host_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
)

// treeTwin puts the same questions to an engine and to testdata/twin/evaluate.c.
type treeTwin struct {
	t         *testing.T
	questions []byte
	r         []*engine.Bins
	answers   [][]byte // of each engine
}

// ask encodes a question, and has each engine answer it.
func (w *treeTwin) ask(question []int32, answer func(r *engine.Bins) ([]any, error)) {
	w.t.Helper()
	w.questions = append(w.questions, encode(w.t, question)...)
	for k, r := range w.r {
		found, err := answer(r)
		if err != nil {
			w.t.Fatal(err)
		}
		w.answers[k] = append(w.answers[k], encode(w.t, found...)...)
	}
}

// words returns a set as a question has it.
func words(s engine.BinSet) (all []int32) {
	for _, v := range s {
		all = append(all, int32(uint32(v)), int32(uint32(v>>32)))
	}
	return all
}

// TestTreesTwin grows trees on random gradients and labels, and compares every bit of what is asked
// for with the twin, which was written from the text of the contract.
func TestTreesTwin(t *testing.T) {
	ask := evaluationTwin(t)
	all := everyengine.Open(t)
	for _, c := range []struct {
		name    string
		n, f, q int
		given   bool
		scale   float64 // of values of leaves
	}{
		{"two classes", 2500, 12, 2, false, 1}, {"given targets", 900, 9, 5, true, 1},
		{"steep", 700, 3, 3, false, 300}, {"refused", 300, 3, 4, false, 3e38},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.q)))
			b, wide := dataset.Binned{N: c.n, F: c.f}, []int32(nil)
			for f := range c.f {
				b.Counts = append(b.Counts, 1+rng.IntN(256))
				for range c.n {
					bin := rng.IntN(b.Counts[f])
					b.Bins, wide = append(b.Bins, uint8(bin)), append(wide, int32(bin))
				}
			}
			const rows = 17
			g := engine.Growth{Times: make([]uint8, c.n), Labels: make([]int32, c.n)}
			targets := engine.Targets{Given: c.given, Row: make([]int32, c.n), Weight: make([]float32, c.n)}
			often, given := make([]int32, c.n), int32(0)
			for i := range c.n {
				g.Times[i], g.Labels[i] = uint8(rng.IntN(4)*rng.IntN(86)), int32(rng.IntN(c.q))
				often[i], targets.Row[i] = int32(g.Times[i]), int32(rng.IntN(rows))
				targets.Weight[i] = rng.Float32()
			}
			for k := range rows * c.q {
				v := float32(math.Log(float64(rng.IntN(5)) / 5))
				if k%c.q == 0 || c.given {
					v = rng.Float32()
				}
				targets.Values = append(targets.Values, v)
			}
			if c.given {
				given = 1
			}
			w := &treeTwin{t: t, answers: make([][]byte, len(all))}
			w.questions = encode(t, []int32{int32(c.n), int32(c.f), int32(c.q), int32(c.n), given, rows},
				lists32(b.Counts), wide, targets.Values, targets.Row, targets.Weight, often, g.Labels)
			for _, e := range all {
				r, err := e.LoadBins(b, c.q)
				if err == nil {
					err = r.SetTargets(targets)
				}
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				w.r = append(w.r, r)
			}
			for class := -1; class < min(c.q, 3); class++ {
				own := engine.Growth{Class: class, Times: g.Times}
				if class < 0 {
					own = engine.Growth{Labels: g.Labels}
				}
				w.grow(rng, b, own, float32(c.scale))
			}
			want := ask(t, w.questions, "trees")
			for k, got := range w.answers {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: differs from the twin at byte %d of %d, the twin's answer has %d",
						all[k].Device().ID, at, len(got), len(want))
				}
			}
		})
	}
}

func lists32(v []int) (all []int32) {
	for _, n := range v {
		all = append(all, int32(n))
	}
	return all
}

// grow asks for gradients, a tree of three splits with all its sums, and scores.
func (w *treeTwin) grow(rng *rand.Rand, b dataset.Binned, g engine.Growth, scale float32) {
	_, _, q := w.r[0].Shape()
	class, often, width := int32(g.Class), int32(1), 2
	if g.Labels != nil {
		class, often, width = -1, 0, q
	}
	w.ask([]int32{1}, func(r *engine.Bins) ([]any, error) {
		e, err := r.Gradients()
		return []any{e.Refused, e.Loss}, err
	})
	w.ask([]int32{2, class, often}, func(r *engine.Bins) ([]any, error) { return nil, r.Start(g) })
	histograms := func(node int) {
		for f := range b.F {
			w.ask([]int32{3, int32(node), int32(f)}, func(r *engine.Bins) ([]any, error) {
				sums := make([]int64, b.Counts[f]*width)
				err := r.Histogram(sums, node, []int{f})
				return []any{sums}, err
			})
		}
	}
	histograms(0)
	var tree engine.Tree
	question := []int32{5, 3, 4, class}
	for k := range 3 { // the tree is a chain to the right
		f, left := rng.IntN(b.F), engine.BinSet{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
		node, children := 2*k, [2]int{2*k + 1, 2*k + 2}
		split := append([]int32{4, int32(node), int32(f)}, words(left)...)
		w.ask(append(split, int32(children[0]), int32(children[1])),
			func(r *engine.Bins) ([]any, error) {
				counts, err := r.Split(node, f, left, children)
				return []any{counts[:]}, err
			})
		histograms(children[0])
		n := engine.Node{Feature: int32(f), Left: left, Children: [2]int32{^int32(k), int32(k) + 1}}
		if k == 2 {
			n.Children[1] = ^3
		}
		tree.Nodes = append(tree.Nodes, n)
		question = append(append(append(question, n.Feature), words(left)...), n.Children[:]...)
	}
	tree.Values = make([]float32, 4)
	if class < 0 {
		tree.Values = make([]float32, 4*q)
	}
	for k := range tree.Values {
		tree.Values[k] = (rng.Float32() - 0.5) * scale
		question = append(question, int32(math.Float32bits(tree.Values[k])))
	}
	w.ask(question, func(r *engine.Bins) ([]any, error) { return nil, r.Add(tree, int(class)) })
	w.ask([]int32{6}, func(r *engine.Bins) ([]any, error) {
		scores := make([]float32, b.N*q)
		err := r.Scores(scores, 0, b.N)
		return []any{scores}, err
	})
}
