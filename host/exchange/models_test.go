package exchange

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/trees"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// blobs returns n examples of three classes in five features, one far from 0 and one often 0, the
// last example all zeros; names are the class names.
func blobs(n int, names ...string) *dataset.Dataset {
	random := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n*5), make([]int32, n)
	for i := range n {
		class := i % 3
		y[i] = int32(class)
		for j := range 5 {
			v := random.NormFloat64()
			switch {
			case j == class:
				v += 3
			case j == 3:
				v = 2020 + float64(class) + v
			case j == 4 && i%4 != 0:
				v = 0
			}
			x[i*5+j] = float32(v)
		}
	}
	clear(x[(n-1)*5:])
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 5, X: x}, Y: y, Classes: names,
		Features: []string{"u", "v", "w", "year", "rare"}}
	d.SHA256 = d.Hash()
	return d
}

// sparse returns d in sparse storage.
func sparse(d *dataset.Dataset) *dataset.Dataset {
	s := *d
	s.X, s.Starts = nil, []int64{0}
	for i := range d.N {
		for j, v := range d.Row(i) {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, int64(len(s.Values)))
	}
	return &s
}

// trial is a model and examples for it.
type trial struct {
	m    *model.Model
	data *dataset.Dataset
}

// trials returns models of each preparation, kernel function and storage, which are not to be
// changed.
var trials = sync.OnceValue(func() map[string]trial {
	letters, numbers := blobs(121, "cat", "dog", "<é>"), blobs(121, "-1", "0", "12")
	mapped := func(f kernel.Function) *fitting.Options {
		return &fitting.Options{Function: f, Components: 4, Landmarks: 30}
	}
	all := map[string]trial{}
	for name, o := range map[string]host.Options{
		"linear":          {},
		"linear, none":    {Preparation: "none"},
		"linear, l2":      {Preparation: "l2"},
		"linear, maxabs":  {Preparation: "maxabs,bias"},
		"linear, numbers": {},
		"linear, sparse":  {},
		"no temperature":  {Learner: uma.Defaults(), MaxSteps: 5},
		"rbf":             {Kernel: mapped(kernel.Function{Kind: kernel.RBF})},
		"rbf, sparse": {Kernel: mapped(kernel.Function{Kind: kernel.RBF, Gamma: 0.7}),
			Preparation: "maxabs"},
		"poly": {Kernel: mapped(kernel.Function{Kind: kernel.Poly, Gamma: 0.5, Coef0: 1,
			Degree: 3})},
		"kernel linear": {Kernel: mapped(kernel.Function{Kind: kernel.Linear}),
			Preparation: "standardize,bias"},
		"means": {Learner: kernelmean.Defaults(),
			Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}}},
	} {
		data := letters
		switch name {
		case "linear, numbers":
			data = numbers
		case "linear, sparse", "rbf, sparse":
			data = sparse(letters)
		}
		o.Engine, o.Tool = simd.New(), "test"
		trained, err := host.Train(context.Background(), data, nil, o)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		all[name] = trial{trained.Model, data}
	}
	noise := must(confusion.Pairwise(letters.Classes, 0.2))
	for _, mode := range []string{trees.Boost, trees.Forest} {
		p := trees.Defaults()
		p.Mode, p.Rounds, p.Leaves = mode, 5, 6
		o := host.Options{Engine: simd.New(), Tool: "test", Learner: p}
		all["trees, "+mode] = trial{must(host.Train(context.Background(), letters, noise, o)).Model,
			letters}
	}
	all["mixture"] = trial{model.Mix([]*model.Model{all["rbf"].m, all["trees, forest"].m,
		all["linear"].m}, []float64{0.5, 0.3, 0.2}), letters}
	bare := *all["no temperature"].m
	bare.Meta.Temperature = 0
	all["no temperature"] = trial{&bare, letters}
	return all
})

// answers returns what m itself says of the examples.
func (r trial) answers(t *testing.T) (labels []string, numbers []float32) {
	t.Helper()
	m, e, ctx := r.m, simd.New(), context.Background()
	labels = m.Names(must(m.Predict(ctx, e, r.data.Examples)))
	numbers = must(m.Scores(ctx, e, r.data.Examples))
	if m.Meta.Temperature != 0 {
		if err := m.ToProbabilities(numbers); err != nil {
			t.Fatal(err)
		}
	}
	return labels, numbers
}

func TestIntegers(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  bool
	}{
		{[]string{"0", "-7", "9223372036854775807"}, true}, {[]string{"0", "9223372036854775808"}, false},
		{[]string{"1", "02"}, false},
		{[]string{"1", "+2"}, false}, {[]string{"1", "a"}, false}, {[]string{"1", ""}, false},
		{[]string{"1", "1.0"}, false},
	} {
		list, got := integers(test.names)
		if got != test.want {
			t.Errorf("%q: got %v, want %v", test.names, got, test.want)
		}
		for i, v := range list {
			if strconv.FormatInt(v, 10) != test.names[i] {
				t.Errorf("%q became %d", test.names[i], v)
			}
		}
	}
}
