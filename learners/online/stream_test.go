package online_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// However a stream is cut, it leaves the weights, counts and reports of a pass over all examples,
// also from weights to begin with, with an average and without.
func TestStream(t *testing.T) {
	for _, last := range []bool{false, true} {
		for name, change := range map[string]func(p *online.Params){
			"perceptron":        func(*online.Params) {},
			"ultraconservative": func(p *online.Params) { p.Step = online.StepRandom },
			"mira":              func(p *online.Params) { p.Margin = 0.2 },
			"pa":                func(p *online.Params) { p.Multiclass = online.All },
			"pa1":               func(p *online.Params) { p.Multiclass, p.Aggressiveness = online.OVR, 0.1 },
		} {
			params := inOrderOf(name, last, change)
			params.Correction = online.CorrectSteps
			p := clouds(300, 40, 4)
			noisy(t, p, 0.3)
			from := make([]float32, 4*40)
			for k := range from {
				from[k] = float32(k%5) / 50
			}
			var told []learners.Field
			want, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 1, From: from,
				OnStep: func(r host.Report) { told = r.Fields }})
			if err != nil {
				t.Fatal(err)
			}
			for _, cuts := range [][]int{{0, 300}, {0, 1, 2, 130, 131, 300}} {
				begun := p.On(p.X.Part(0, 0), nil)
				w := engine.Weights{Q: 4, D: 40, W: slices.Clone(from)}
				s, err := params.Definition().Stream(begun, w)
				for k := 1; k < len(cuts) && err == nil; k++ {
					x := p.X.Part(cuts[k-1], cuts[k])
					if k%2 == 0 {
						x = x.Compressed()
					}
					err = s.Learn(x, p.Y[cuts[k-1]:cuts[k]])
				}
				if err != nil {
					t.Fatal(err)
				}
				step, err := s.Result(w)
				mistakes := 0
				for k, count := range s.Counts() {
					if k/4 != k%4 {
						mistakes += int(count)
					}
				}
				if err != nil || !slices.Equal(w.W, want.W.W) || !slices.Equal(step.Fields, told) ||
					told[0].Value != mistakes {
					t.Errorf("%s, cut at %v: other weights than of a pass, or %v and %d mistakes, %v; wanted %v",
						name, cuts, step.Fields, mistakes, err, told)
				}
			}
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	p := clouds(10, 4, 3)
	w := engine.NewWeights(3, 4)
	mira := func(p *online.Params) { p.Margin = 1 }
	for said, params := range map[string]*online.Params{
		"shuffle":       online.New("pa1"),
		"sizes classes": inOrderOf("copa", false, nil),
		"aggressiveness 0 0": inOrderOf("copa", false,
			func(p *online.Params) { p.Aggressiveness = 0 }),
		"weights classes": inOrderOf("mira", false,
			func(p *online.Params) { p.ClassWeights = learners.Balanced }),
	} {
		if _, err := params.Definition().Stream(p, w); !facts.Told(err, said) {
			t.Errorf("found %v, wanted %s", err, said)
		}
	}
	for said, learn := range map[string]struct {
		x dataset.Examples
		y []int32
	}{
		"2 labels 10 examples 4 columns": {p.X, p.Y[:2]},
		"10 examples 7 columns":          {clouds(10, 7, 3).X, p.Y},
		"example 1 label 3 0..2":         {p.X.Part(0, 2), []int32{0, 3}},
	} {
		s, err := inOrderOf("mira", false, mira).Definition().Stream(p, w)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Learn(learn.x, learn.y); !facts.Told(err, said) {
			t.Errorf("found %v, wanted %s", err, said)
		}
	}
}
