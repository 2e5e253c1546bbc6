package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/bench/device"
)

// plan holds the sets, the ways and the seeds to measure.
type plan struct {
	sets    []set
	ways    []choice
	seeds   int
	rows    int  // training examples at most; 0 for all
	details bool // tables by the size of sets and of means by noise, too
}

// contestLearners measures which learner learns best from wrong labels.
func contestLearners(ctx context.Context, c *call) error {
	return contest(ctx, c, ways, 5, func(p plan) plan {
		p.sets = slices.DeleteFunc(slices.Clone(sets), func(s set) bool { return s.name == "zoo" })
		return p
	})
}

// contestWeights measures which way of UMA learns best: what a step corrects, what is doubted,
// which weights are kept.
func contestWeights(ctx context.Context, c *call) error {
	return contest(ctx, c, umaWays, 3, func(p plan) plan {
		p.rows, p.details = 6000, true
		for _, s := range sets {
			if right := slices.ContainsFunc(s.noises, func(o noise) bool { return !o.human }); right ||
				s.name == "cifar10n" {
				s.noises = append(slices.Clone(injected), pairwise(0.45))
				p.sets = append(p.sets, s)
			}
		}
		p.sets = slices.DeleteFunc(p.sets, func(s set) bool { return s.name == "20 newsgroups" })
		return p
	})
}

// contest measures ways × noises × sets. Each result goes to a file as soon as it is there, and
// the results of that file are not measured again, so an interrupted measurement goes on. Results
// do not know when a learner computes something else with the same parameters: then delete their
// lines. The tables are of all known results, after an interrupt too.
func contest(ctx context.Context, c *call, of []way, defaultSeeds int,
	planOf func(plan) plan) (err error) {
	data := c.flags.String("data", "", "`folder` of the data sets (required)")
	kept := c.flags.String("results", "",
		"`file` of results, a JSON object on each line; none if empty")
	page := c.flags.String("page", "",
		"Markdown `file` whose tables are replaced; empty to write them to stdout")
	seeds := c.flags.Int("seeds", defaultSeeds,
		"corrupt labels, divide sets and train with the seeds 1 to `k`")
	only := c.flags.String("sets", "", "measure only these `sets`, a comma list; all if empty")
	hold := c.flags.Bool("held", false,
		"hold out parts as compare does, too, to see whether it would choose right")
	quick := c.flags.Bool("quick", false,
		"two small sets of the folder testdata, two noises and one seed")
	on := c.flags.String("device", "cpu", device.Usage)
	if err := c.parse(0, "data"); err != nil {
		return err
	}
	if *seeds < 1 {
		return fmt.Errorf("%w: -seeds: got %d, want at least 1", errUsage, *seeds)
	}
	choices, err := parse(of)
	if err != nil {
		return err
	}
	p := planOf(plan{ways: choices, seeds: *seeds})
	if *quick {
		p.sets, p.seeds = quickSets, 1
	}
	chosen, err := p.choose(*only)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if *page != "" {
		if _, err := aboveTables(*page); err != nil { // before hours have gone by
			return err
		}
	}
	e, err := device.Open(*on)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r, err := openResults[key, result](*kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	j := job{plan: chosen, engine: e, hold: *hold, dir: *data, results: r, note: c.note}
	failed := j.measure(ctx)
	if failed != nil && ctx.Err() == nil {
		return failed
	}
	tables := table{plan: p, results: r, machine: e.Device().Name}.markdown()
	if *page != "" {
		return errors.Join(failed, writePage(*page, tables))
	}
	_, err = io.WriteString(c.stdout, tables)
	return errors.Join(failed, err)
}

// choose returns the plan of the sets in a comma list; of all sets if it is empty.
func (p plan) choose(names string) (plan, error) {
	if names == "" {
		return p, nil
	}
	all := p.sets
	p.sets = nil
	for name := range strings.SplitSeq(names, ",") {
		k := slices.IndexFunc(all, func(s set) bool { return s.name == name })
		if k < 0 {
			return p, fmt.Errorf("-sets: found %q, wanted a name of sets.go", name)
		}
		p.sets = append(p.sets, all[k])
	}
	return p, nil
}
