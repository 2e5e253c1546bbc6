package training

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

// Candidate is one way to train.
type Candidate struct {
	Flags string // of train, as they stand in the table
	*Training
}

// NoConfusion, as the file of --confusion of a candidate, stands for none.
const NoConfusion = "none"

// Estimates says by which method --confusion of a candidate asks for an estimate; "" for a file.
func (way Candidate) Estimates() outoffold.NoiseMethod {
	m := outoffold.NoiseMethod(way.Confusion)
	if m == outoffold.CleanCounts || !slices.Contains(outoffold.NoiseMethods, m) {
		return ""
	}
	return m
}

// Candidates returns what the flags --try and --grid of compare stand for.
func Candidates(c *cli.Context) (list []Candidate, err error) {
	tries, err := gridTries(c)
	if err != nil {
		return nil, err
	}
	for _, try := range tries {
		expanded, err := Expand(try)
		if err != nil {
			return nil, app.Usagef(c, "--try %q: %v", try, err)
		}
		for _, flags := range expanded {
			flags = strings.Join(strings.Fields(flags), " ")
			if slices.ContainsFunc(list, func(o Candidate) bool { return o.Flags == flags }) {
				continue
			}
			t, err := newCandidate(c, strings.Fields(flags))
			if err != nil {
				return nil, err
			}
			if list = append(list, Candidate{flags, t}); len(list) > mostCandidates {
				return nil, app.Usagef(c,
					"--try and --grid stand for more than %d trainings, wanted at most so many", mostCandidates)
			}
		}
	}
	return list, nil
}

// Expand replaces each {a|b|c} by its parts in turn, those of the first slowest. A part may be a
// range, as spread takes it.
func Expand(text string) ([]string, error) {
	before, rest, found := strings.Cut(text, "{")
	inside, after, closed := strings.Cut(rest, "}")
	switch {
	case strings.Contains(before, "}") || found && !closed || strings.Contains(inside, "{"):
		return nil, fmt.Errorf("found a brace without its other one, or one in another, wanted {a|b|c}")
	case !found:
		return []string{text}, nil
	}
	ends, err := Expand(after)
	if err != nil {
		return nil, err
	}
	var all, parts []string
	for _, part := range strings.Split(inside, "|") {
		values, err := Spread(part)
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
	own := append(NoisyDataFlags()[len(app.DataFlags("")):], LearningFlags()...)
	// one for all
	own = slices.DeleteFunc(own, func(f cli.Flag) bool { return f.Names()[0] == "seed" })
	return append(own, app.TrainKernelFlags()...)
}

// newCandidate checks the flags of a candidate of the command that c runs.
func newCandidate(c *cli.Context, words []string) (t *Training, err error) {
	program := &cli.App{
		Name: "uma-gpu", Writer: io.Discard, ErrWriter: io.Discard, HideHelp: true,
		Flags: candidateFlags(), ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError: app.OnUsageError,
		Action: func(own *cli.Context) error {
			if err := app.CheckDeclared(own); err != nil {
				return err
			}
			t = &Training{Data: c.String("data"), Confusion: own.String("confusion"), Notes: app.NewNotes(c)}
			if own.IsSet("confusion-axes") && t.Confusion == "" {
				return app.Usagef(c, "--confusion-axes is given without --confusion")
			}
			var err error
			if t.TrueRows, err = app.TrueRows(own); err != nil {
				return err
			}
			if t.Preparation, err = app.NormalizeSteps(own); err != nil {
				return err
			}
			if t.Kernel, err = app.NewTrainKernel(own); err != nil {
				return err
			}
			if t.Learner, err = ChooseLearner(own, nil); err != nil {
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
