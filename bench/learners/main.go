// Command learners measures which learner learns best from wrong labels: learners × noises ×
// data sets, with labels that it corrupts itself and with labels that people got wrong. Each
// result goes to a file as soon as it is there, and what that file has is not measured again,
// so a measurement may be interrupted and goes on. The tables replace those of a page.
//
//	go run ./bench/learners -data DIR -results build/learners.jsonl -page docs/learners.md
//
// Results do not know when a learner computes something else with the same parameters, or a set
// has become another one: then their lines have to go from the file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 after a failure, 2 for wrong usage, 130 if interrupted.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("learners", flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := flags.String("data", "", "`folder` of the data sets (required)")
	kept := flags.String("results", "", "`file` of results, a JSON object on each line; none if empty")
	page := flags.String("page", "", "Markdown `file` whose tables are replaced; empty to write them to stdout")
	seeds := flags.Int("seeds", 5, "corrupt labels, divide sets and train with the seeds 1 to `k`")
	only := flags.String("sets", "", "measure only these `sets`, a comma list; all if empty. The tables have all results")
	kinds := flags.String("noises", "", "measure only these `noises`, a comma list of headings of tables; all if empty")
	names := flags.String("ways", "", "measure only these `ways` to learn, a comma list of columns; all if empty")
	hold := flags.Bool("held", false, "hold out parts as compare does, too, to see whether it would choose right")
	quick := flags.Bool("quick", false, "two small sets of the folder testdata, two noises and one seed")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *data == "" || *seeds < 1 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "learners: wanted -data FOLDER, -seeds of at least 1, and nothing else")
		return 2
	}
	choices, err := parse(ways)
	p := plan{sets: sets, ways: choices, seeds: *seeds}
	if *quick {
		p.sets, p.seeds = quickSets, 1
	}
	chosen, unknown := p.choose(*only, *kinds, *names)
	if err := errors.Join(err, unknown); err != nil {
		fmt.Fprintln(stderr, "learners:", err)
		return 2
	}
	err = measure(ctx, p, chosen, *hold, *data, *kept, *page, stdout, stderr)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "learners: interrupted; the same command goes on")
		return 130
	}
	if err != nil {
		fmt.Fprintln(stderr, "learners:", err)
		return 1
	}
	return 0
}

// plan is what there is to measure.
type plan struct {
	sets  []set
	ways  []choice
	seeds int
}

// choose returns what three comma lists leave of the plan; an empty list leaves all.
func (p plan) choose(sets, noises, ways string) (chosen plan, err error) {
	named, kinds, columns := newList(sets), newList(noises), newList(ways)
	chosen.seeds = p.seeds
	for _, s := range p.sets {
		if !named.has(s.name) {
			continue
		}
		s.noises = slices.Clone(s.noises)
		s.noises = slices.DeleteFunc(s.noises, func(o noise) bool { return !kinds.has(o.name) })
		chosen.sets = append(chosen.sets, s)
	}
	for _, w := range p.ways {
		if columns.has(w.name) {
			chosen.ways = append(chosen.ways, w)
		}
	}
	if unknown := named.unknown(); unknown != "" {
		return chosen, fmt.Errorf("-sets: found %q, which is no set; sets.go lists them", unknown)
	}
	if unknown := kinds.unknown(); unknown != "" {
		return chosen, fmt.Errorf("-noises: found %q, which is no noise of these sets; sets.go lists them", unknown)
	}
	if unknown := columns.unknown(); unknown != "" {
		return chosen, fmt.Errorf("-ways: found %q, which is no way; ways.go lists them", unknown)
	}
	return chosen, nil
}

// list is the names of a comma list, and whether somebody has asked for them; nil has all.
type list map[string]bool

func newList(text string) list {
	if text == "" {
		return nil
	}
	l := list{}
	for _, name := range strings.Split(text, ",") {
		l[name] = false
	}
	return l
}

// has says whether the list has the name, which is known from then on.
func (l list) has(name string) bool {
	_, found := l[name]
	if found {
		l[name] = true
	}
	return found || l == nil
}

// unknown returns a name of the list that nobody has asked for, "" if there is none.
func (l list) unknown() string {
	for name, known := range l {
		if !known {
			return name
		}
	}
	return ""
}

// measure measures what is chosen and writes the tables of all that is known, after an
// interrupt too.
func measure(
	ctx context.Context, p, chosen plan, hold bool, dir, kept, page string, stdout, stderr io.Writer,
) (err error) {
	if page != "" {
		if _, err := aboveTables(page); err != nil { // before hours have gone by
			return err
		}
	}
	e := simd.New()
	defer func() { err = errors.Join(err, e.Close()) }()
	r, err := openResults(kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	j := job{plan: chosen, engine: e, hold: hold, dir: dir, results: r, progress: stderr}
	failed := j.measure(ctx)
	if failed != nil && ctx.Err() == nil {
		return failed
	}
	tables := table{plan: p, results: r, machine: machine(e)}.markdown()
	if page != "" {
		return writePage(page, tables)
	}
	_, err = io.WriteString(stdout, tables)
	return err
}
