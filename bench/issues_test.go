package main

import (
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// By hand: of label a, three examples are confidently a and one is b; of label b, all are b.
func TestPruneByNoiseRate(t *testing.T) {
	p := []float32{0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9, 0.45, 0.55, 0.2, 0.8, 0.3, 0.7}
	y := []int32{0, 0, 0, 0, 0, 1, 1} // the mean of p[a] is 0.59, of p[b] 0.75
	if got, want := confidentJoint(p, y, 2), [][]int{{4, 1}, {0, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, wanted %v", got, want)
	}
	if got := pruneByNoiseRate(p, y, 2); !reflect.DeepEqual(got, []bool{false, false, false, true,
		false, false, false}) {
		t.Errorf("found %v", got)
	}
}

// On injected noise, uma-gpu issues has higher precision and recall than cleanlab's rule; from the
// same probabilities, a higher F1 than that and the model's disagreements, and finds more with as
// many flags.
func TestIssuesBeatTheRule(t *testing.T) {
	d, err := file.Read(t.Context(), "../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	right := d.Y
	pairwise, err := confusion.Pairwise(d.Classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	symmetric, err := confusion.Symmetric(d.Classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	for name, noise := range map[string]*confusion.Matrix{"pairwise": pairwise,
		"symmetric": symmetric} {
		if d.Y, err = noise.Inject(right, 1); err != nil {
			t.Fatal(err)
		}
		list, err := findIssues(t.Context(), d, right, host.Options{Engine: simd.New(), Seed: 1,
			MaxSteps: 150}, 3)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]finding{}
		for _, r := range list {
			t.Logf("%s: %+v, precision %.4f, recall %.4f", name, r, r.precision(), r.recall())
			of[r.rule] = r
		}
		ours, many := of["uma-gpu issues"], of["uma-gpu issues, as many as cleanlab"]
		usual, same := of["cleanlab, model without C"], of["cleanlab, model with C"]
		if ours.precision() <= usual.precision() || ours.recall() <= usual.recall() {
			t.Errorf("%s: %+v, wanted better than %+v", name, ours, usual)
		}
		// The rules may flag more or fewer, which trades precision for recall.
		if ours.f1() <= same.f1() || ours.f1() <= of["disagreement, model with C"].f1() ||
			many.flagged != same.flagged || many.found <= same.found {
			t.Errorf("%s: %+v and %+v, wanted better than %+v", name, ours, many, same)
		}
	}
}
