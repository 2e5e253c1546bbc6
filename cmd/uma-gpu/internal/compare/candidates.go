package compare

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// mostCandidates is how many trainings are compared at most.
const mostCandidates = 1000

type candidate struct {
	*training.Options
	flags string // of train, as they stand in the table
}

// noConfusion, as the file of --confusion of a candidate, stands for none.
const noConfusion = "none"

// estimates returns the method by which --confusion asks for an estimate; "" for a file.
func (c candidate) estimates() outoffold.NoiseMethod {
	m := outoffold.NoiseMethod(c.Noise.Path)
	if m == outoffold.CleanCounts || !slices.Contains(outoffold.NoiseMethods, m) {
		return ""
	}
	return m
}

// candidates returns what --try and --grid stand for.
func (o *Options) candidates(ctx context.Context) (list []candidate, err error) {
	tries, err := o.tries()
	if err != nil {
		return nil, err
	}
	for _, try := range tries {
		expanded, err := expand(try)
		if err != nil {
			return nil, app.Usage("--try %q: %v", try, err)
		}
		for _, flags := range expanded {
			flags = strings.Join(strings.Fields(flags), " ")
			if slices.ContainsFunc(list, func(c candidate) bool { return c.flags == flags }) {
				continue
			}
			c, err := o.candidate(ctx, flags)
			if err != nil {
				return nil, fmt.Errorf("--try %q: %w", flags, err)
			}
			if list = append(list, c); len(list) > mostCandidates {
				return nil, app.Usage("--try and --grid stand for more than %d trainings", mostCandidates)
			}
		}
	}
	return list, nil
}

func (o *Options) candidate(ctx context.Context, flags string) (candidate, error) {
	c := candidate{new(training.Options), flags}
	own := app.Without(c.LearningFlags(), "seed") // one for all
	command := &cli.Command{Name: "compare", HideHelp: true,
		Flags: app.Flags(c.Noise.Flags("`FILE`"), c.NormalizeFlag(), own, c.Kernel.TrainFlags(&c.Common)),
		Action: app.Action(c.Options, func(context.Context, *training.Options) error {
			return c.CheckLearning(nil)
		})}
	app.Mend(command, func(*cli.Context) error { return nil })
	program := &cli.App{HelpName: "uma-gpu", Writer: io.Discard, ErrWriter: io.Discard,
		HideHelp: true, Commands: []*cli.Command{command}, ExitErrHandler: func(*cli.Context, error) {}}
	err := program.RunContext(ctx, append([]string{"uma-gpu", "compare"}, strings.Fields(flags)...))
	c.Train.Seed, c.Notes = o.Train.Seed, o.Notes
	return c, err
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
	var all []string
	for part := range strings.SplitSeq(inside, "|") {
		values, err := spread(part)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			for _, end := range ends {
				if all = append(all, before+value+end); len(all) > mostCandidates {
					return nil, fmt.Errorf("found more than %d trainings", mostCandidates)
				}
			}
		}
	}
	return all, nil
}

// tries returns the flags --try, each followed by one point of --grid. Without --try each learner
// that has all parameters of the grid stands for one.
func (o *Options) tries() (tries []string, err error) {
	flags, names := "", []string(nil)
	for _, text := range o.Grid.Value() {
		name, values := flagOf(text)
		if name == "" || values == "" {
			return nil, app.Usage("--grid is %q, wanted NAME=VALUES, such as "+
				"aggressiveness=0.01..10:log7", text)
		}
		if slices.Contains(names, name) {
			return nil, app.Usage("--grid names %s twice, wanted one list of values for each", name)
		}
		names = append(names, name)
		flags += fmt.Sprintf(" --%s={%s}", name, strings.TrimSpace(values))
	}
	if tries = slices.Clone(o.Try.Value()); len(tries) == 0 {
		var l training.Learner
		l.Flags(nil)
		with := l.With(names)
		if len(with) == 0 {
			return nil, app.Usage("--grid: no learner has all of %s", strings.Join(names, ", "))
		}
		tries = []string{"--learner {" + strings.Join(with, "|") + "}"}
	}
	for k := range tries {
		tries[k] += flags
	}
	return tries, nil
}

// flagOf cuts name=value, as --grid has it and as the flags of a candidate do, at whose name are
// dashes.
func flagOf(text string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	return strings.TrimLeft(strings.TrimSpace(name), "-"), value
}

// flagIn returns what flags give the one of this name behind a =, "" for nothing.
func flagIn(flags, name string) (value string) {
	for word := range strings.FieldsSeq(flags) {
		if n, v := flagOf(word); n == name {
			value = v
		}
	}
	return value
}

// ranges are what spread takes: from, to, how, and how many.
var ranges = regexp.MustCompile(`^([-+.0-9eE]+?)\.\.([-+.0-9eE]+):(log|lin)([0-9]+)$`)

// spread returns the numbers that from..to:logN or from..to:linN stands for, N of them, at equal
// ratios or at equal distances; another text is itself. All but the ends have six digits, so that
// they are the same on every processor.
func spread(text string) ([]string, error) {
	m := ranges.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		if strings.Contains(text, "..") && strings.Contains(text, ":") {
			return nil, fmt.Errorf("found %q, wanted a range such as 0.01..10:log7 or 0..1:lin5", text)
		}
		return []string{text}, nil
	}
	from, err1 := strconv.ParseFloat(m[1], 64)
	to, err2 := strconv.ParseFloat(m[2], 64)
	n, err3 := strconv.Atoi(m[4])
	log := m[3] == "log"
	switch {
	case err1 != nil || err2 != nil || err3 != nil || !(from < to) || math.IsInf(to-from, 0):
		return nil, fmt.Errorf("found range %q, wanted two numbers, the smaller one first", text)
	case log && from <= 0:
		return nil, fmt.Errorf("found range %q, wanted numbers above 0 to take logarithms of", text)
	case n < 2 || n > mostCandidates:
		return nil, fmt.Errorf("found range %q, wanted 2 to %d numbers", text, mostCandidates)
	}
	values := []string{m[1]}
	for k := 1; k < n-1; k++ {
		share := float64(k) / float64(n-1)
		v := from + float64(share*(to-from))
		if log {
			v = from * math.Pow(to/from, share)
		}
		values = append(values, strconv.FormatFloat(v, 'g', 6, 64))
	}
	return append(values, m[2]), nil
}
