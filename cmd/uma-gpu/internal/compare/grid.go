package training

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// gridTries returns the flags --try of compare, each followed by one point of --grid. Without --try
// each learner that has all parameters of the grid stands for one.
func gridTries(c *cli.Context) (tries []string, err error) {
	flags, names := "", []string(nil)
	for _, text := range c.StringSlice("grid") {
		name, values := FlagOf(text)
		if name == "" || values == "" {
			return nil, app.Usagef(c,
				"--grid is %q, wanted NAME=VALUES, such as aggressiveness=0.01..10:log7", text)
		}
		if slices.Contains(names, name) {
			return nil, app.Usagef(c, "--grid names %s twice, wanted one list of values for each", name)
		}
		names = append(names, name)
		flags += fmt.Sprintf(" --%s={%s}", name, strings.TrimSpace(values))
	}
	tries = slices.Clone(c.StringSlice("try"))
	if len(tries) == 0 {
		with := learnersOfGrid(names)
		if len(with) == 0 {
			return nil, app.Usagef(c, "--grid: no learner has all of %s", strings.Join(names, ", "))
		}
		tries = []string{"--learner {" + strings.Join(with, "|") + "}"}
	}
	for k := range tries {
		tries[k] += flags
	}
	return tries, nil
}

// learnersOfGrid names the learners that have all those flags, of which others than a learner's
// own are for all.
func learnersOfGrid(names []string) (with []string) {
	all := app.FlagNames(LearnerFlags()[1:])
	for _, d := range catalog.All() {
		own := d.New()
		if !slices.ContainsFunc(names, func(name string) bool {
			_, ok := ParameterOf(own, name)
			return slices.Contains(all, name) && !ok
		}) {
			with = append(with, d.Name)
		}
	}
	return with
}

// ranges are those that spread takes: from, to, how, and how many.
var ranges = regexp.MustCompile(`^([-+.0-9eE]+?)\.\.([-+.0-9eE]+):(log|lin)([0-9]+)$`)

// Spread returns the numbers that from..to:logN or from..to:linN stands for, N of them, at equal
// ratios or at equal distances; another text is itself. All but the ends have six digits, so that
// they are the same on every processor.
func Spread(text string) ([]string, error) {
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

// FlagOf cuts name=value, as --grid has it and as the flags of a candidate do, at whose name are
// dashes.
func FlagOf(text string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	return strings.TrimLeft(strings.TrimSpace(name), "-"), value
}
