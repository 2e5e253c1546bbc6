package catalog_test

import (
	"flag"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/everyengine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
)

// every is for who changes a learner that is judged on one engine.
var every = flag.Bool("every", false,
	"every learner on every engine, not one alone of those that ask for the same")

// TestEveryLearner has every learner judged, on every engine of this machine the first of each
// package and of those that ask the engine for scores alone, the others on the fast one for
// processors.
func TestEveryLearner(t *testing.T) {
	engines := everyengine.Open(t)
	x := dataset.Examples{N: 480, D: 150, X: make([]float32, 480*150)} // as learnertest has them
	tiled, opencl := 0, 0
	for _, e := range engines {
		if e.Device().Kind != "opencl" {
			continue
		}
		opencl++
		plan, err := e.Plan(x, make([]int32, x.N), 4)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Tiles > 1 {
			tiled++
		}
	}
	if 2*tiled != opencl {
		t.Fatalf("examples like those of learnertest lie in tiles on %d of %d engines, wanted half of "+
			"them", tiled, opencl)
	}
	var first, others []*learners.Definition
	seen := map[string]bool{}
	for _, d := range catalog.All() {
		of := reflect.TypeOf(d.New()).Elem().PkgPath()
		if d.Loads == learners.LoadsScorer {
			of = "scores"
		}
		if seen[of] && !*every {
			others = append(others, d)
		} else {
			first, seen[of] = append(first, d), true
		}
	}
	learnertest.RunAll(t, first, engines)
	learnertest.RunAll(t, others, []engine.Engine{simd.New()})
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
