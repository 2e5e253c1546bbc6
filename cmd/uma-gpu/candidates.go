package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// mostCandidates is how many compare tries at most.
const mostCandidates = 1000

// candidate is one way to train.
type candidate struct {
	flags string // of train, as they stand in the table
	*training
}

// noConfusion, as the file of --confusion of a candidate, stands for none.
const noConfusion = "none"

// estimates says by which method --confusion of a candidate asks for an estimate; "" for a file.
func (way candidate) estimates() outoffold.NoiseMethod {
	m := outoffold.NoiseMethod(way.confusion)
	if m == outoffold.CleanCounts || !slices.Contains(outoffold.NoiseMethods, m) {
		return ""
	}
	return m
}

// candidates returns what the flags --try and --grid of compare stand for.
func candidates(c *cli.Context) (list []candidate, err error) {
	tries, err := gridTries(c)
	if err != nil {
		return nil, err
	}
	for _, try := range tries {
		expanded, err := expand(try)
		if err != nil {
			return nil, app.Usagef(c, "--try %q: %v", try, err)
		}
		for _, flags := range expanded {
			flags = strings.Join(strings.Fields(flags), " ")
			if slices.ContainsFunc(list, func(o candidate) bool { return o.flags == flags }) {
				continue
			}
			t, err := newCandidate(c, strings.Fields(flags))
			if err != nil {
				return nil, err
			}
			if list = append(list, candidate{flags, t}); len(list) > mostCandidates {
				return nil, app.Usagef(c,
					"--try and --grid stand for more than %d trainings, wanted at most so many", mostCandidates)
			}
		}
	}
	return list, nil
}

// expand replaces each {a|b|c} by its parts in turn, those of the first slowest. A part may be a
// range, as spread takes it.
func expand(text string) ([]string, error) {
	before, rest, found := strings.Cut(text, "{")
	inside, after, closed := strings.Cut(rest, "}")
	switch {
	case strings.Contains(before, "}") || found && !closed || strings.Contains(inside, "{"):
		return nil, fmt.Errorf("found a brace without its other one, or one in another, wanted {a|b|c}")
	case !found:
		return []string{text}, nil
	}
	ends, err := expand(after)
	if err != nil {
		return nil, err
	}
	var all, parts []string
	for _, part := range strings.Split(inside, "|") {
		values, err := spread(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, values...)
	}
	for _, part := range parts {
		for _, end := range ends {
			if all = append(all, before+part+end); len(all) > mostCandidates {
				return nil, fmt.Errorf("found more than %d trainings, wanted at most so many", mostCandidates)
			}
		}
	}
	return all, nil
}

// candidateFlags are those of train that a candidate may have.
func candidateFlags() []cli.Flag {
	own := append(noisyDataFlags()[len(app.DataFlags("")):], learningFlags()...)
	// one for all
	own = slices.DeleteFunc(own, func(f cli.Flag) bool { return f.Names()[0] == "seed" })
	return append(own, app.TrainKernelFlags()...)
}

// newCandidate checks the flags of a candidate of the command that c runs.
func newCandidate(c *cli.Context, words []string) (t *training, err error) {
	program := &cli.App{
		Name: "uma-gpu", Writer: io.Discard, ErrWriter: io.Discard, HideHelp: true,
		Flags: candidateFlags(), ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError: app.OnUsageError,
		Action: func(own *cli.Context) error {
			if err := app.CheckDeclared(own); err != nil {
				return err
			}
			t = &training{data: c.String("data"), confusion: own.String("confusion"), notes: app.NewNotes(c)}
			if own.IsSet("confusion-axes") && t.confusion == "" {
				return app.Usagef(c, "--confusion-axes is given without --confusion")
			}
			var err error
			if t.trueRows, err = app.TrueRows(own); err != nil {
				return err
			}
			if t.Preparation, err = app.NormalizeSteps(own); err != nil {
				return err
			}
			if t.Kernel, err = app.NewTrainKernel(own); err != nil {
				return err
			}
			if t.Learner, err = chooseLearner(own, nil); err != nil {
				return err
			}
			return t.stopping(own, nil)
		},
	}
	if err := program.RunContext(c.Context, append([]string{"uma-gpu"}, words...)); err != nil {
		if usage := new(app.UsageError); errors.As(err, &usage) {
			usage.Command = c.Command.HelpName
		}
		return nil, fmt.Errorf("--try %q: %w", strings.Join(words, " "), err)
	}
	t.Seed = c.Uint64("seed")
	return t, nil
}
