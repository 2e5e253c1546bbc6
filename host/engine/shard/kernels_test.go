package shard_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// kernelWays are further ways to train with a kernel function.
func kernelWays() []way {
	gradients := softmax.Defaults()
	gradients.Iterations, gradients.L2 = 4, softmax.L2(0.01)
	rbf := fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.125}, Components: 9,
		Landmarks: 40}
	var all []way
	add := func(name string, learner learners.Params, change func(*fitting.Options)) {
		k := rbf
		change(&k)
		w := way{name: name, options: host.Options{Learner: learner, Kernel: &k, MaxSteps: 6}}
		all = append(all, w)
	}
	add("two panels, uma", uma.Defaults(), func(k *fitting.Options) {
		k.Landmarks = 300
	})
	add("cosine", gradients, func(k *fitting.Options) {
		k.Function, k.Cosine, k.Components = kernel.Function{Kind: kernel.Linear}, true, 4
	})
	add("poly, whose values differ in size", gradients, func(k *fitting.Options) {
		k.Function = kernel.Function{Kind: kernel.Poly, Gamma: 40, Coef0: 1, Degree: 7}
	})
	add("all examples, gamma by means", gradients, func(k *fitting.Options) {
		k.Landmarks, k.Mean = fitting.AllLandmarks, true
	})
	add("variance, plain, classmean", classmean.Defaults(), func(k *fitting.Options) {
		k.Components, k.Variance, k.Steps = 0, 0.5, &dataset.Steps{Bias: true}
	})
	add("Lanczos, median", gradients, func(k *fitting.Options) {
		k.Landmarks, k.Function.Gamma = 620,
			0
	})
	add("search for gamma", uma.Defaults(), func(k *fitting.Options) { k.Search = true })
	all[len(all)-1].options.TemperatureFolds = 2
	for _, c := range []struct {
		name   string
		change func(*kernelmean.Params)
	}{
		{"means by auto atoms", func(p *kernelmean.Params) { p.Atoms = kernelmean.Auto }},
		{"means by clusters, own weights", func(p *kernelmean.Params) {
			p.Atoms, p.AtomChoice, p.AtomWeights = 30, "clusters", "own"
		}},
		{"means by herding, cosine", func(p *kernelmean.Params) {
			p.Atoms, p.AtomChoice = 30,
				"herding"
		}},
		{"means of all", func(*kernelmean.Params) {}},
		{"means by atoms that are near", func(p *kernelmean.Params) { p.AtomError = 0.4 }},
	} {
		p := kernelmean.Defaults()
		c.change(p)
		add(c.name, p, func(k *fitting.Options) {
			k.Landmarks, k.Components, k.Cosine = 0, 0, strings.HasSuffix(c.name, "cosine")
		})
	}
	return all
}

// TestKernelParts: kernel functions, where what is held out is so much that ranks share that too:
// folds, a search for gamma, and means of classes that are spread over the ranks.
func TestKernelParts(t *testing.T) {
	const n, d, q = 26000, 3, 2
	x, y, err := synth.Generate(t.Context(), n, d, q, 5)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, n)
	for i := range y {
		names[i] = string(rune('a' + y[i]*int32(i%2))) // three quarters of them in one class
	}
	data, err := dataset.New(dataset.Examples{N: n, D: d, X: x}, names, nil)
	path := filepath.Join(t.TempDir(), "d.csv")
	if err == nil {
		err = file.Write(t.Context(), path, data, file.WriteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	gradients, means := softmax.Defaults(), kernelmean.Defaults()
	gradients.Iterations = 3
	means.Atoms, means.AtomChoice = 12, "clusters"
	rbf := kernel.Function{Kind: kernel.RBF}
	for _, o := range []host.Options{
		{Learner: gradients, Kernel: &fitting.Options{Function: rbf, Landmarks: 12, Components: 5,
			Cosine: true}, TemperatureFolds: 2},
		{Learner: gradients, Kernel: &fitting.Options{Function: rbf, Landmarks: 8, Components: 4,
			Search: true}},
		{Learner: means, Kernel: &fitting.Options{Function: rbf}},
	} {
		of := func(e engine.Engine) (string, error) {
			data, err := file.Read(t.Context(), path, file.Options{})
			if err != nil {
				return "", err
			}
			parts, err := dataset.SplitFractions(data, []float64{0.9, 0.1}, 1)
			if err != nil {
				return "", err
			}
			o := o
			o.Engine = e
			m, err := host.Train(t.Context(), parts[0], nil, o)
			if err != nil {
				return "", err
			}
			h := sha256.New()
			for _, part := range parts {
				s, err := m.Scores(t.Context(), e, part.Examples)
				if err != nil {
					return "", err
				}
				binary.Write(h, binary.LittleEndian, s)
			}
			m.Meta.Device = model.Device{}
			about, err := json.Marshal(m.Meta)
			return fmt.Sprintf("%x %s", h.Sum(nil), about), err
		}
		want, err := of(simd.New())
		if err != nil {
			t.Fatal(err)
		}
		for rank, err := range onRanks(2, func(_ int, r ranks.Reducer) error {
			e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New()}, nil)
			if err != nil {
				return err
			}
			return dataset.Guard(func() error {
				got, err := of(e)
				if err == nil && got != want {
					err = fmt.Errorf("found\n%s, want\n%s", got, want)
				}
				return err
			})
		}) {
			if err != nil {
				t.Errorf("%s: rank %d: %v", o.Learner.Definition().Name, rank, err)
			}
		}
	}
}
