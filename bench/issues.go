package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// searched are the sets, and the noises of them, whose wrong labels are looked for.
var searched = []struct {
	set         string
	noise       noise
	rbf         bool // learns in components of the kernel function rbf
	first       int  // number of examples; 0 for all
	folds       int
	annotations *crowdTable // each annotation is an example of its own; nil for noise
}{
	{set: "optdigits", noise: pairwise(0.4), rbf: true, folds: 5},
	{set: "optdigits", noise: symmetric(0.4), rbf: true, folds: 5},
	{set: "cifar10n", noise: column("worst of three", cifar10("worse_label")), first: 15000, folds: 3},
	{set: "music genre", noise: noise{name: "every annotation"}, rbf: true, folds: 5,
		annotations: &genres},
}

// issues measures how well wrong labels are found: by uma-gpu issues and by the rule of cleanlab,
// on the same probabilities. It prints a table.
func issues(ctx context.Context, c *call) error {
	data := c.flags.String("data", "", "`folder` of the data sets (required)")
	if err := c.parse(0, "data"); err != nil {
		return err
	}
	e := simd.New()
	defer e.Close() // nothing to lose
	fmt.Fprint(c.stdout, head("set", "rule", ">flagged", ">wrong of them", ">precision", ">recall",
		">F1"))
	for _, of := range searched {
		s := sets[slices.IndexFunc(sets, func(s set) bool { return s.name == of.set })]
		d, err := s.train.read(ctx, *data, nil)
		if err != nil {
			return err
		}
		if of.first > 0 {
			d = cut(d, 0, of.first)
		}
		right := d.Y
		if of.annotations != nil {
			d, right, err = of.annotations.expand(*data, d)
		} else {
			d.Y, _, err = of.noise.labels(ctx, *data, d, 1)
			d.SHA256 = ""
		}
		if err != nil {
			return fmt.Errorf("%s: %w", of.set, err)
		}
		o := host.Options{Engine: e, Seed: 1, Watch: host.Watch{Note: c.note}}
		if of.rbf {
			o.Kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}}
		}
		list, err := findIssues(ctx, d, right, o, of.folds)
		if err != nil {
			return fmt.Errorf("%s: %w", of.set, err)
		}
		for _, f := range list {
			fmt.Fprintf(c.stdout, "| %s, %s | %s | %d | %d | %.4f | %.4f | %.4f |\n", of.set, of.noise.name,
				f.rule, f.flagged, f.found, f.precision(), f.recall(), f.f1())
		}
	}
	return nil
}

// finding is what a rule has found.
type finding struct {
	rule                  string
	flagged, found, wrong int // labels flagged, those of them that are wrong, all that are wrong
}

func (f finding) precision() float64 { return float64(f.found) / float64(max(1, f.flagged)) }
func (f finding) recall() float64    { return float64(f.found) / float64(max(1, f.wrong)) }
func (f finding) f1() float64 {
	return 2 * float64(f.found) / float64(max(1, f.flagged+f.wrong))
}

// findIssues learns with and without C from the noisy labels of d, and compares what rules find on
// probabilities out of fold.
func findIssues(ctx context.Context, d *dataset.Dataset, right []int32, o host.Options, folds int,
) (list []finding, err error) {
	truth := *d
	truth.Y = right
	noise, err := observed(d.Y, &truth)
	if err != nil {
		return nil, err
	}
	q := len(d.Classes)
	add := func(rule string, flags []bool) (flagged int) {
		list = append(list, judged(rule, flags, d.Y, right))
		return list[len(list)-1].flagged
	}
	by := func(c *confusion.Matrix) ([]float32, error) {
		h, err := outoffold.Scores(ctx, d, c, o, folds)
		if err != nil {
			return nil, err
		}
		return h.Probabilities()
	}
	p, err := by(nil)
	if err != nil {
		return nil, err
	}
	flagged := add("cleanlab, model without C", pruneByNoiseRate(p, d.Y, q))
	found, err := clean.Suspects(ctx, d, clean.Options{Options: host.Options{Engine: o.Engine,
		Seed: o.Seed}})
	if err != nil {
		return nil, err
	}
	add("uma-gpu issues, C estimated", flagsOf(found.Issues))
	add("uma-gpu issues, C estimated, as many as cleanlab without C", worst(found.Issues, flagged))
	if p, err = by(noise); err != nil {
		return nil, err
	}
	found, err = clean.Suspects(ctx, d, clean.Options{Given: noise, Probabilities: p})
	if err != nil {
		return nil, err
	}
	flagged = add("cleanlab, model with C", pruneByNoiseRate(p, d.Y, q))
	add("disagreement, model with C", disagreements(p, d.Y, q))
	add("uma-gpu issues", flagsOf(found.Issues))
	add("uma-gpu issues, as many as cleanlab", worst(found.Issues, flagged))
	return list, nil
}

// judged compares flags with what is wrong.
func judged(rule string, flags []bool, noisy, right []int32) finding {
	f := finding{rule: rule}
	for i, flagged := range flags {
		wrong := noisy[i] != right[i]
		if flagged {
			f.flagged++
		}
		if wrong {
			f.wrong++
		}
		if flagged && wrong {
			f.found++
		}
	}
	return f
}

func flagsOf(found []estimate.Issue) []bool {
	flags := make([]bool, len(found))
	for i, f := range found {
		flags[i] = f.Wrong
	}
	return flags
}

// worst flags the m labels of the least quality.
func worst(found []estimate.Issue, m int) []bool {
	order, flags := make([]int, len(found)), make([]bool, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(found[a].Quality, found[b].Quality)
	})
	for _, i := range order[:m] {
		flags[i] = true
	}
	return flags
}

// disagreements flags the labels that are not the model's class.
func disagreements(p []float32, y []int32, q int) []bool {
	flags := make([]bool, len(y))
	for i, k := range y {
		flags[i] = largest(p[i*q:(i+1)*q]) != int(k)
	}
	return flags
}

// largest returns the place of the largest number, the first of equal ones.
func largest(row []float32) int { return slices.Index(row, slices.Max(row)) }
