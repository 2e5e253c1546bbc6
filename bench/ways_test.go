package main

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

// TestTablesOfTheHarness judges the tables that people extend: names are keys, and flags are
// those of learners.
func TestTablesOfTheHarness(t *testing.T) {
	choices, err := parse(ways)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	once := func(name string) {
		if seen[name] {
			t.Errorf("%q occurs twice", name)
		}
		seen[name] = true
	}
	for _, c := range choices {
		once("way " + c.name)
	}
	for _, s := range append(append([]set{}, sets...), quickSets...) {
		if s.first == 0 || s.train.rows == 0 { // those of -quick have names of others
			once("set " + s.name)
		}
		if len(s.noises) == 0 {
			t.Errorf("set %s has no noise", s.name)
		}
		for _, o := range s.noises {
			if s.first == 0 || s.train.rows == 0 {
				once("noise " + s.name + ", " + o.name)
			}
		}
	}
}

func TestParse(t *testing.T) {
	one := func(flags string) (choice, error) {
		c, err := parse([]way{{name: "it", flags: flags}})
		if err != nil {
			return choice{}, err
		}
		return c[0], nil
	}
	c, err := one("--learner uma --select random --weights average --max-steps 7")
	if err != nil || c.rule != learners.Average || c.steps != 7 || !strings.Contains(c.how,
		`"select":"random"`) {
		t.Errorf("found %+v, %v", c, err)
	}
	plain, err := one("--learner uma")
	if err != nil || plain.how == c.how || plain.steps != c.params.Definition().MaxSteps {
		t.Errorf("found %+v, %v", plain, err)
	}
	for flags, want := range map[string]string{
		"":                              "--learner",
		"--select random":               "--learner",
		"--learner nobody":              `"nobody"`,
		"--learner uma --colour red":    "-colour",
		"--learner uma --weights worst": `weights "worst" uma`,
		"--learner uma --alpha -1":      `-alpha "-1" 0`,
		"--learner uma error":           `"error"`,
	} {
		if _, err := one(flags); !facts.Told(err, `"it" `+want) {
			t.Errorf("%q: error %v, want one with %q", flags, err, want)
		}
	}
}
