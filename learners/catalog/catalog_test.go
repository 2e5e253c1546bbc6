package catalog_test

import (
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// every is for who changes a learner that is judged on one engine.
var every = flag.Bool("every", false,
	"every learner on every engine, not one alone where several ask for the same")

// TestEveryLearner has every learner judged, on every engine of this machine the first of each
// package and of all that ask the engine for scores alone, the others on the fast one for
// processors.
func TestEveryLearner(t *testing.T) {
	engines := everyengine.Open(t)
	if 480*features*4 <= everyengine.Tile { // what tasks for several engines have
		t.Fatal("no device cuts the examples in tiles")
	}
	all := catalog.All()
	if err := checkTable(all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, d := range all {
		if d.Weightless { // the suite judges weights; its own tests judge it
			continue
		}
		of, on := reflect.TypeOf(d.New()).Elem().PkgPath(), engines
		if d.Loads == learners.LoadsScorer {
			of = "scores"
		}
		if seen[of] && !*every {
			on = fast
		}
		seen[of] = true
		t.Run(d.Name, func(t *testing.T) { judge(t, d, on, nil) })
	}
}

var fast = []*engine.Engine{simd.New()}

// judge judges one learner by the cases that want holds of, nil for all, as subtests of t.
func judge(t *testing.T, d *learners.Definition, engines []*engine.Engine, want func(string) bool) {
	t.Helper()
	for _, c := range suite {
		if want != nil && !want(c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if err := c.judge(d, engines); err != nil {
				t.Errorf("learner %s: %v", d.Name, err)
			}
		})
	}
}

// TestOtherParameters has learners judged with parameters that are no defaults.
func TestOtherParameters(t *testing.T) {
	all := everyengine.Open(t)
	for _, v := range []struct {
		learner string
		set     []string // pairs of name and value
		engines []*engine.Engine
		want    func(string) bool
	}{
		{"perceptron", []string{"no_average", "true", "no_shuffle", "true"}, fast, nil},
		{"ultraconservative", []string{"step", "random"}, fast, nil},
		{"copa", []string{"correction", "steps", "aggressiveness", "0.01"}, fast, nil},
		{"pa1", []string{"class_weights", "balanced", "multiclass", "ovr"}, fast, nil},
		{"uma", []string{"step", "pair"}, all, nil},
		{"uma", []string{"step", "region", "select", "random"}, quick(), nil},
		{"uma", []string{"alpha", "1e-4"}, quick(), nil},
		{"uma", []string{"step", "pair", "alpha", "1e-6", "alpha_unit", "score"}, quick(), nil},
	} {
		defaults, err := catalog.Find(v.learner)
		if err != nil {
			t.Fatal(err)
		}
		set := func() learners.Params {
			p := defaults.New()
			for pair := range slices.Chunk(v.set, 2) {
				parameter, ok := learners.Lookup(p, pair[0])
				if !ok {
					t.Fatalf("learner %s: no parameter %s", v.learner, pair[0])
				}
				if err := parameter.Set(pair[1]); err != nil {
					t.Fatal(err)
				}
			}
			return p
		}
		d := *set().Definition()
		d.New = set
		t.Run(v.learner+" "+strings.Join(v.set, " "), func(t *testing.T) {
			judge(t, &d, v.engines, v.want)
		})
	}
}

func TestFindAndParse(t *testing.T) {
	for _, d := range catalog.All() {
		if found, err := catalog.Find(d.Name); err != nil || found.Name != d.Name {
			t.Errorf("find %s: %v, %v", d.Name, found, err)
		}
		if p, err := catalog.Parse(d.Name, []byte("{}")); err != nil || p.Definition().Name != d.Name {
			t.Errorf("parse the defaults of %s: %v, %v", d.Name, p, err)
		}
		if _, err := catalog.Parse(d.Name, []byte("{")); err == nil {
			t.Errorf("parse half an object for %s: no error", d.Name)
		}
	}
	if d, err := catalog.Find("nobody"); err == nil {
		t.Errorf("found %v, wanted an error", d)
	}
	if p, err := catalog.Parse("nobody", []byte("{}")); err == nil {
		t.Errorf("parsed %v, wanted an error", p)
	}
}
