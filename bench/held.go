package main

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// heldFolds is how many parts compare holds out in turn by default.
const heldFolds = 5

// heldOut returns what compare would judge a way by: the accuracy on examples held out, of their
// noisy labels through C.
func (j job) heldOut(
	ctx context.Context, w choice, noisy *dataset.Dataset, told, c *confusion.Matrix, seed int,
) (float64, error) {
	h, err := outoffold.Scores(ctx, noisy, told, host.Options{Engine: j.engine, Learner: w.params,
		Weights: w.rule, MaxSteps: w.steps, Seed: uint64(seed)}, heldFolds)
	if err != nil {
		return 0, err
	}
	inverse, err := c.Invert()
	if err != nil {
		return 0, err
	}
	right := 0.0
	for i, said := range engine.Predicted(h.Scores, h.Q) {
		right += inverse.V[int(said)*h.Q+int(noisy.Y[i])]
	}
	return right / float64(noisy.N), nil
}

// chosen returns the table of what compare would choose, of the rows in which every way has been
// held out; "" without such a row.
func (t table) chosen() string {
	lines, ranks, excess, n := "", 0.0, 0.0, 0.0
	for _, r := range t.rows(func(o noise) bool { return o.name != right.name }) {
		for seed := 1; seed <= t.seeds; seed++ {
			text, rank, above := t.choice(r, seed)
			if text != "" {
				lines, ranks, excess, n = lines+text, ranks+rank, excess+above, n+1
			}
		}
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("It judges by %d parts held out in turn, through C. Among the %d ways "+
		"above,\nits choice has the mean rank %.2f by the error on right test labels. On average it\n"+
		"errs %s %% more than the best way.", heldFolds, len(t.ways), ranks/n, percent(excess/n))
	return section("Does compare choose right?", text, []string{"set, labels, seed", "chosen",
		">its error, %", ">least error, %", "of", ">rank"}, lines)
}

// choice returns the line of one set under one noise with one seed, "" unless all ways have been
// held out.
func (t table) choice(r row, seed int) (text string, rank, excess float64) {
	var all []result
	best, least := 0, 0
	for k, w := range t.ways {
		v, ok := t.results.found[t.key(r.set, r.noise, w, seed)]
		if !ok || v.Held == nil && v.Failed == "" {
			return "", 0, 0
		}
		if v.Failed != "" {
			v.Error, v.Held = 1-1/float64(v.Classes), new(float64)
		}
		all = append(all, v)
		if *v.Held > *all[best].Held {
			best = k
		}
		if v.Error < all[least].Error {
			least = k
		}
	}
	rank = 1
	for _, v := range all {
		if v.Error < all[best].Error {
			rank++
		}
	}
	excess = all[best].Error - all[least].Error
	text = line(fmt.Sprintf("%s, %s, %d", r.set.name, r.noise.name, seed), t.ways[best].name,
		percent(all[best].Error), percent(all[least].Error), t.ways[least].name, rank)
	return text, rank, excess
}
