package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// way is a way to learn, a column of the tables.
type way struct {
	name  string
	flags string // of uma-gpu train
	blind bool   // is not told C
}

// ways lists the compared ways. A new way adds a line here.
var ways = []way{
	{name: "softmax", flags: "--learner softmax"},
	{name: "softmax em", flags: "--learner softmax --correction em"},
	{name: "softmax backward", flags: "--learner softmax --correction backward"},
	{name: "softmax none", flags: "--learner softmax --correction none", blind: true},
	{name: "uma", flags: "--learner uma"},
	{name: "uma average", flags: "--learner uma --weights average"},
	{name: "uma C=I", flags: "--learner uma", blind: true},
	{name: "classmean", flags: "--learner classmean"},
	{name: "classmean C=I", flags: "--learner classmean", blind: true},
}

// umaWays are ways of UMA: what a step corrects, what is doubted, which weights are kept.
var umaWays = []way{
	{name: "pair, best", flags: umaSteps + "pair --doubt 0 --weights best"},
	{name: "pair", flags: umaSteps + "pair --doubt 0 --weights best-average"},
	{name: "region", flags: umaSteps + "region --doubt 0 --weights best-average"},
	{name: "all, average", flags: umaSteps + "all --doubt 0 --weights average"},
	{name: "all", flags: umaSteps + "all --doubt 0 --weights best-average"},
	{name: "all, doubt 1", flags: umaSteps + "all --doubt 1 --weights best-average"},
	{name: "all, doubt 1.4", flags: umaSteps + "all --doubt 1.4 --weights best-average"},
	{name: "C = identity", flags: umaSteps + "all --doubt 1 --weights best-average", blind: true},
}

const umaSteps = "--learner uma --max-steps 512 --step "

// choice is a way whose flags have been read.
type choice struct {
	way
	params learners.Params
	rule   learners.Rule
	steps  int // at most
	// all that decides what is learned from given labels and C: another one has other results
	how string
}

// parse reads the flags of ways.
func parse(ways []way) (choices []choice, err error) {
	for _, w := range ways {
		c, err := w.parse()
		if err != nil {
			return nil, fmt.Errorf("way %q: %w", w.name, err)
		}
		choices = append(choices, c)
	}
	return choices, nil
}

func (w way) parse() (c choice, err error) {
	words := strings.Fields(w.flags)
	if len(words) < 2 || words[0] != "--learner" {
		return c, fmt.Errorf("found flags %q, wanted them to begin with --learner NAME", w.flags)
	}
	d, err := catalog.Find(words[1])
	if err != nil {
		return c, err
	}
	c.way, c.params = w, d.New()
	fs := flag.NewFlagSet(w.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, p := range c.params.Definition().Parameters {
		name := strings.ReplaceAll(p.Name, "_", "-")
		if p.Kind == learners.Switch {
			fs.BoolFunc(name, "", p.Set)
		} else {
			fs.Func(name, "", p.Set)
		}
	}
	rule := fs.String("weights", "", "")
	fs.IntVar(&c.steps, "max-steps", d.MaxSteps, "")
	if err := fs.Parse(words[2:]); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("found %q, wanted flags alone", fs.Arg(0))
	}
	if c.rule, err = d.Rule(*rule); err != nil {
		return c, err
	}
	parameters, err := learners.Marshal(c.params)
	c.how = fmt.Sprintf("%s %s, %s weights, %d steps", d.Name, parameters, c.rule, c.steps)
	return c, errors.Join(err, learners.Check(c.params))
}
