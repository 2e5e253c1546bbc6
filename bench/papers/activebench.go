package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners/svm"
)

const (
	benchPaper = "Lu et al., Re-Benchmarking Pool-Based Active Learning for Binary Classification " +
		"(2023), published results"
	benchAbout = "60 % of the examples to ask about, the others to test on, features standardised, " +
		"20 random labels\nat the start; after each question a support vector machine with a kernel, C " +
		"= 1, rbf of γ = 1 / " +
		"features,\nlearns from all labels: the same for uniform, margin (their uncertainty sampling, " +
		"by that machine) " +
		"and\nbpm, which asks where two classes contend in the centroid of a version space. " +
		"bpm-centroid has " +
		"the\nquestions of bpm and that centroid as its classifier, uniform-centroid those of uniform. " +
		"Theirs " +
		"asks\nuntil the pool is empty; here it ends after 100 questions, and of the kernel there are " +
		"200 " +
		"components.\nThe rows are the area divided by the number of questions; at level 0, 20, 50 and " +
		"100 the accuracy after\nthat number of questions.\n"
)

var activeBench = &experiment{
	Name:  "active-benchmark",
	Usage: "area under the curve of accuracy, by a public benchmark's protocol",
	Paper: benchPaper,
	About: benchAbout + "Banana is theirs; ringnorm and twonorm (Breiman 1998) and checkerboard (4 " +
		"by 4) are drawn,\n2000 examples each.",
	Axis: "questions", Sets: []string{"banana", "ringnorm", "twonorm", "checkerboard"},
	run: runActiveBench,
}

var activeBenchPacked = &experiment{
	Name: "active-benchmark-packed", Usage: "the same on eight more of its sets",
	Paper: benchPaper,
	About: benchAbout + "The sets are benchmark/NAME.csv below the folder of the data, which " +
		"bench/rframe.py makes of\nDebian's packages for R.",
	Axis: "questions", Sets: packedBench, run: runActiveBench,
}

var packedBench = []string{"breast", "clean1", "diabetes", "german", "ionosphere", "sonar",
	"spambase", "splice"}

// benchAsker is a strategy of the benchmark.
type benchAsker struct {
	name string
	asks active.Strategy
}

var benchAskers = []benchAsker{{"uniform", active.Random}, {"margin", active.Margin}, {"bpm",
	active.BPM}}

var benchCurves = []string{"uniform", "margin", "bpm", "uniform" + withCentroid, "bpm" +
	withCentroid}

const (
	benchStart     = 20
	benchQuestions = 100
	withCentroid   = "-centroid" // behind the name of who asks, where the centroid predicts
	// mean of the accuracy from the first question to the last, 0 to 1
	area = "area_under_accuracy"
)

// paperAreas are the published ones, of all questions there are.
var paperAreas = map[string]map[string]*float64{
	"banana":       {"uniform": number(0.8926), "margin": number(0.8787)},
	"ringnorm":     {"uniform": number(0.9776), "margin": number(0.9786)},
	"twonorm":      {"uniform": number(0.9753), "margin": number(0.9764)},
	"checkerboard": {"uniform": number(0.9781), "margin": number(0.9847)},
}

func runActiveBench(ctx context.Context, r *run) error {
	for _, name := range r.Sets {
		var t tally
		for k := range r.Runs {
			seed := r.Seed + uint64(k)
			d, err := r.benchSet(ctx, name, seed)
			if err != nil {
				return err
			}
			curves, err := r.benchRun(ctx, d, seed, benchQuestions)
			if err != nil {
				return err
			}
			for _, learner := range benchCurves {
				t.add(Row{Data: name, Learner: learner, Level: benchQuestions, X: benchQuestions, Measure: area,
					Paper: paperAreas[name][learner]}, areaUnder(curves[learner]))
				for _, level := range []int{0, 20, 50, benchQuestions} {
					t.add(Row{Data: name, Learner: learner, Level: level, X: float64(level), Measure: Accuracy},
						curves[learner][level])
				}
			}
			r.Note("%s: %s, run %d of %d", r.name, name, k+1, r.Runs)
		}
		if err := r.writeAll(t); err != nil {
			return err
		}
	}
	return nil
}

// areaUnder returns the area under a curve of equal steps by trapezia, divided by its length.
func areaUnder(curve []float64) (sum float64) {
	for k, v := range curve[1:] {
		sum += (v + curve[k]) / 2
	}
	return sum / float64(len(curve)-1)
}

// benchRun returns the accuracy of each curve after 0, 1, … questions.
func (r *run) benchRun(ctx context.Context, d *dataset.Dataset, seed uint64, questions int,
) (map[string][]float64, error) {
	order := rand.New(rand.NewPCG(seed, activeStream)).Perm(d.N)
	cut := d.N * 6 / 10
	train, test := pick(d, order[:cut], d.Y), pick(d, order[cut:], d.Y)
	kernel := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1 / float32(d.D)},
		Components: min(200, cut-1), Landmarks: min(500, cut)}
	pool, err := active.NewPool(ctx, train,
		host.Options{Engine: r.Engine, Preparation: "standardize", Kernel: kernel, Seed: seed})
	if err != nil {
		return nil, err
	}
	x, err := pool.Apply(ctx, r.Engine, test.Examples)
	if err != nil {
		return nil, err
	}
	found, failed := make([]map[string][]float64, len(benchAskers)), make([]error, len(benchAskers))
	parallel.Tasks(len(benchAskers), func(k int) {
		own := *pool
		own.Labels = slices.Clone(pool.Labels)
		copy(own.Labels, train.Y[:benchStart])
		b := bench{run: r, pool: &own, right: train.Y, test: x, testRight: test.Y, seed: seed}
		found[k], failed[k] = b.curves(ctx, benchAskers[k], questions)
	})
	all := map[string][]float64{}
	for _, curves := range found {
		for name, curve := range curves {
			all[name] = curve
		}
	}
	return all, errors.Join(failed...)
}

// bench is a strategy at work.
type bench struct {
	*run
	pool      *active.Pool
	right     []int32 // labels of the pool
	test      dataset.Examples
	testRight []int32
	seed      uint64
}

func (b *bench) curves(ctx context.Context, a benchAsker, questions int,
) (map[string][]float64, error) {
	machine := svm.Defaults()
	machine.Loss = svm.Hinge
	o := active.Options{Strategy: a.asks, K: 1, Seed: b.seed, Slack: active.DefaultSlack,
		Centroid: fewSteps, Train: host.Options{Engine: b.Engine, Learner: machine, Seed: b.seed}}
	centroid := o
	centroid.Strategy = active.BPM
	curves := map[string][]float64{}
	tell := func(name string, w engine.Weights) error {
		predicted, err := engine.Predict(b.Engine, w, b.test)
		right := 0
		for i, class := range predicted {
			if class == b.testRight[i] {
				right++
			}
		}
		curves[name] = append(curves[name], float64(right)/float64(len(predicted)))
		return err
	}
	for range questions + 1 {
		t, err := b.pool.Fit(ctx, nil, o.Train)
		if err != nil {
			return nil, err
		}
		if err := tell(a.name, engine.Weights{Q: t.Model.Q, D: t.Model.D, W: t.Model.W}); err != nil {
			return nil, err
		}
		var centre engine.Weights
		if a.asks != active.Margin {
			if centre, _, err = b.pool.Centre(centroid); err != nil {
				return nil, err
			}
			if err := tell(a.name+withCentroid, centre); err != nil {
				return nil, err
			}
		}
		var asked []int
		if a.asks == active.BPM {
			asked, err = b.pool.AskBy(o, centre)
		} else {
			asked, err = b.pool.Ask(ctx, o, t.Model)
		}
		if err != nil {
			return nil, err
		}
		for _, i := range asked {
			b.pool.Labels[i] = b.right[i]
		}
	}
	return curves, nil
}

// benchSet reads or draws a set.
func (r *run) benchSet(ctx context.Context, name string, seed uint64) (*dataset.Dataset, error) {
	switch {
	case name == "banana":
		return file.Read(ctx, filepath.Join(r.DataDir, "banana/banana.dat.gz"), file.Options{})
	case slices.Contains(packedBench, name):
		return file.Read(ctx, filepath.Join(r.DataDir, "benchmark", name+".csv"), file.Options{})
	}
	return drawBench(name, 2000, seed), nil
}

// drawBench draws n examples of two classes, each as probable as the other: ringnorm and twonorm
// of 20 features (Breiman, Arcing classifiers, 1998), and a checkerboard of 4 by 4 fields.
func drawBench(name string, n int, seed uint64) *dataset.Dataset {
	random := rand.New(rand.NewPCG(seed, activeStream+1))
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 20}, Classes: classNames(2)}
	if name == "checkerboard" {
		d.D = 2
		for range n {
			a, b := random.IntN(4), random.IntN(4)
			d.X = append(d.X, float32(float64(a)+random.Float64()), float32(float64(b)+random.Float64()))
			d.Y = append(d.Y, int32((a+b)%2))
		}
		return d
	}
	// In each feature a mean of 2/√20; ringnorm's first class has none, and four times the variance.
	const mean = 0.4472135954999579
	for range n {
		y := random.IntN(2)
		shift, width := mean, 1.0
		switch {
		case name == "twonorm" && y == 0:
			shift = -mean
		case name == "ringnorm" && y == 0:
			shift, width = 0, 2
		}
		for range d.D {
			d.X = append(d.X, float32(shift+float64(width*normal(random))))
		}
		d.Y = append(d.Y, int32(y))
	}
	return d
}
