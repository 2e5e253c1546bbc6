package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// result is what a rule has found.
type result struct {
	rule                  string
	flagged, found, wrong int // labels flagged, those of them that are wrong, all that are wrong
}

func (r result) precision() float64 { return float64(r.found) / float64(max(1, r.flagged)) }
func (r result) recall() float64    { return float64(r.found) / float64(max(1, r.wrong)) }
func (r result) f1() float64        { return 2 * float64(r.found) / float64(max(1, r.flagged+r.wrong)) }

// measure learns with and without C from the noisy labels of d, and compares what rules find on
// probabilities out of fold.
func measure(
	ctx context.Context, d *dataset.Dataset, right []int32, o host.Options, folds int,
) (list []result, err error) {
	noise, err := counted(d.Classes, d.Y, right)
	if err != nil {
		return nil, err
	}
	estimated, err := outoffold.EstimateNoise(ctx, d,
		outoffold.NoiseOptions{Options: o, Method: outoffold.JointLikelihood})
	if err != nil {
		return nil, err
	}
	q, same := len(d.Classes), d.Firsts()
	without := 0 // labels that cleanlab flags by a model without C
	add := func(rule string, flags []bool) {
		list = append(list, judged(rule, flags, d.Y, right))
	}
	for _, c := range []*confusion.Matrix{nil, &estimated.Matrix, noise} {
		h, err := outoffold.Scores(ctx, d, c, o, folds)
		if err != nil {
			return nil, err
		}
		p, err := h.Probabilities()
		if err != nil {
			return nil, err
		}
		peer := pruneByNoiseRate(p, d.Y, q)
		if c == nil {
			add("cleanlab, model without C", peer)
			without = list[len(list)-1].flagged
			continue
		}
		if c != noise {
			found, err := confusion.FindIssues(p, d.Y, same, q, c)
			if err != nil {
				return nil, err
			}
			add("uma-gpu issues, C estimated", flagsOf(found))
			add("uma-gpu issues, C estimated, as many as cleanlab without C", worst(found, without))
			continue
		}
		add("cleanlab, model with C", peer)
		add("disagreement, model with C", disagreements(p, d.Y, q))
		found, err := confusion.FindIssues(p, d.Y, same, q, c)
		if err != nil {
			return nil, err
		}
		add("uma-gpu issues", flagsOf(found))
		add("uma-gpu issues, as many as cleanlab", worst(found, judged("", peer, d.Y, right).flagged))
	}
	return list, nil
}

// judged compares flags with what is wrong.
func judged(rule string, flags []bool, noisy, right []int32) result {
	r := result{rule: rule}
	for i, flagged := range flags {
		wrong := noisy[i] != right[i]
		if flagged {
			r.flagged++
		}
		if wrong {
			r.wrong++
		}
		if flagged && wrong {
			r.found++
		}
	}
	return r
}

func flagsOf(found []confusion.Issue) []bool {
	flags := make([]bool, len(found))
	for i, f := range found {
		flags[i] = f.Wrong
	}
	return flags
}

// worst flags the m labels of the least quality.
func worst(found []confusion.Issue, m int) []bool {
	order, flags := make([]int, len(found)), make([]bool, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].Quality, found[b].Quality) })
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
