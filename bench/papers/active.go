package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/bench/papers/centre"
	"github.com/uma-gpu/uma-gpu/bench/papers/svm"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

var figure75 = &experiment{
	Name:  "fig7.5",
	Usage: "active learning by largest ball and centroid (figure 7.5 of Louche's thesis)",
	Paper: thesis + "Figure 7.5",
	About: `The pool has two classes. One example of each class is labelled at the start. Each
question asks for the label of the example nearest to the classifier. active-svm takes the centre of
the largest ball of the version space as classifier, active-bpm its centroid. A billiard finds the
centroid, where the thesis has expectation propagation. random and random-bpm ask about random
examples, and predict with the ball and the centroid. Rows are the test accuracy after each
question. The last row is the largest ball of all labels of the pool.

The ten largest topics of Reuters-21578 and the ten largest newsgroups,
each against the rest, pools of 500 and 1000, the mean of the topics (a run is one of all topics);
and banana, a pool of 400, with rbf of σ = 0.5. The thesis has 25 runs, 50 of banana. Its text tells
two numbers.`,
	Axis: "questions", Sets: []string{"reuters", "newsgroups", "banana"}, run: runFigure75,
}

const benchAbout = `60 % of the examples to ask about, the others to test on, features standardised,
20 random labels at the start; after each question a support vector machine with a kernel, C = 1,
rbf of γ = 1 / features, learns from all labels: the same for uniform, margin (their uncertainty
sampling, by that machine) and bpm, which asks where two classes contend in the centroid of a
version space. bpm-centroid has the questions of bpm and that centroid as its classifier,
uniform-centroid those of uniform. Theirs asks until the pool is empty; here it ends after 100
questions, and of the kernel there are 200 components. The rows are the area divided by the number
of questions; at level 0, 20, 50 and 100 the accuracy after that number of questions.
`

const benchPaper = "Lu et al., Re-Benchmarking Pool-Based Active Learning for Binary " +
	"Classification (2023), published results"

var activeBench = &experiment{
	Name: "active-benchmark", Paper: benchPaper,
	Usage: "area under the curve of accuracy, by a public benchmark's protocol",
	About: benchAbout + `Banana is theirs; ringnorm and twonorm (Breiman 1998) and checkerboard (4 by
4) are drawn, 2000 examples each.`,
	Axis: "questions", Sets: []string{"banana", "ringnorm", "twonorm", "checkerboard"},
	run: runActiveBench,
}

var activeBenchPacked = &experiment{
	Name: "active-benchmark-packed", Paper: benchPaper,
	Usage: "the same on eight more of its sets",
	About: benchAbout + `The sets are benchmark/NAME.csv below the folder of the data, which
bench/rframe.py makes of Debian's packages for R.`,
	Axis: "questions", Sets: []string{"breast", "clean1", "diabetes", "german", "ionosphere", "sonar",
		"spambase", "splice"}, run: runActiveBench,
}

// The curves of figure 7.5, and the strategies of the benchmark.
var (
	askers = []struct {
		name           string
		asks, predicts centre.Strategy
	}{
		{"active-bpm", centre.Centroid, centre.Centroid}, {"active-svm", centre.Ball, centre.Ball},
		{"random", centre.Random, centre.Ball}, {"random-bpm", centre.Random, centre.Centroid},
	}
	benchAskers = []centre.Strategy{centre.Random, centre.Margin, centre.Centroid}
	benchCurves = []string{"uniform", "margin", "bpm", "uniform" + withCentroid, "bpm" + withCentroid}
)

const (
	activeStream   = 0x616374697665 // "active"
	benchStart     = 20
	benchQuestions = 100
	withCentroid   = "-centroid" // behind the name of who asks, where the centroid predicts
	// mean of the accuracy from the first question to the last, 0 to 1
	area = "area_under_accuracy"
)

// fewSteps samples centroids by a quarter of what active does: on six topics, twice each,
// accuracies after 5, 10, 20 and 50 questions were 0.822, 0.917, 0.952 and 0.967, and 0.823,
// 0.893, 0.946 and 0.966 with 4096.
const fewSteps = 1024

// paperAreas are the published ones, of all questions there are.
var paperAreas = map[string]map[string]*float64{
	"banana":       {"uniform": new(0.8926), "margin": new(0.8787)},
	"ringnorm":     {"uniform": new(0.9776), "margin": new(0.9786)},
	"twonorm":      {"uniform": new(0.9753), "margin": new(0.9764)},
	"checkerboard": {"uniform": new(0.9781), "margin": new(0.9847)},
}

// inquiry is a pool to ask about, with its right labels, and the examples to test on.
type inquiry struct {
	*run
	*active.Pool
	right, testRight []int32
	test             dataset.Examples
}

// inquire prepares train and test alike.
func (r *run) inquire(ctx context.Context, train, test *dataset.Dataset, o host.Options,
) (q inquiry, err error) {
	q = inquiry{run: r, right: train.Y, testRight: test.Y}
	if q.Pool, err = active.NewPool(ctx, train, o); err == nil {
		q.test, err = applied(ctx, r.Engine, q.Pool, test.Examples)
	}
	return q, err
}

// applied returns raw examples prepared and mapped in the same way as the pool's.
func applied(ctx context.Context, e *engine.Engine, p *active.Pool, raw dataset.Examples,
) (dataset.Examples, error) {
	x, err := features.Apply(p.Preparation, raw)
	if err != nil || p.Kernel == nil {
		return x, err
	}
	return p.Kernel.Apply(ctx, e, x)
}

// ask asks questions about the pool, whose first labels alone are known. It calls next before
// each question and after the last.
func (q inquiry) ask(ctx context.Context, known, questions int,
	next func(q inquiry, asked int) ([]int, error)) error {
	pool := *q.Pool
	pool.Labels = slices.Repeat([]int32{active.Unknown}, pool.Examples.N)
	copy(pool.Labels, q.right[:known])
	q.Pool = &pool
	for n := range questions + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		asked, err := next(q, n)
		if err != nil {
			return err
		}
		for _, i := range asked {
			pool.Labels[i] = q.right[i]
		}
	}
	return nil
}

// accuracy returns the share of the test examples that w predicts right.
func (q inquiry) accuracy(w engine.Weights) (float64, error) {
	predicted, err := engine.Predict(q.Engine, w, q.test)
	return float64(agreeing(predicted, q.testRight)) / float64(len(predicted)), err
}

// duel is two classes to tell apart, a pool of training examples, and how to see them.
type duel struct {
	train, test *dataset.Dataset
	size        int // of the pool
	questions   int
	bounces     int // of the sampling of centroids
	kernel      *fitting.Options
	steps       string
}

func (d duel) always(uint64) duel { return d }

func runFigure75(ctx context.Context, r *run) error {
	for _, name := range r.Sets {
		s := set{train: "20news/20news.train.svm.gz", test: "20news/20news.test.svm.gz"}
		s.options.Features = 44577
		switch name {
		case "banana": // another split each run
			all, err := banana.readFile(ctx, r, banana.train)
			if err != nil {
				return err
			}
			split := func(seed uint64) duel {
				order := rand.New(rand.NewPCG(seed, activeStream)).Perm(all.N)
				return duel{train: pick(all, order[:400], all.Y), test: pick(all, order[400:], all.Y),
					size: 400, questions: 100, steps: "none", bounces: fewSteps,
					kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 2},
						Components: 399, Landmarks: fitting.AllLandmarks}}
			}
			if err := r.curves(ctx, name, split, []int32{1}); err != nil {
				return err
			}
			continue
		case "reuters":
			s.train, s.test = "reuters21578/reuters52.train.svm.gz", "reuters21578/reuters52.test.svm.gz"
			s.options.Features = 21967
		}
		train, test, err := s.readFiles(ctx, r)
		if err != nil {
			return err
		}
		for _, size := range []int{500, 1000} {
			d := duel{train: train, test: test, size: size, questions: 100, steps: "bias,l2",
				bounces: fewSteps}
			if err := r.curves(ctx, fmt.Sprintf("%s, pool %d", name, size), d.always,
				largestClasses(train, 10)); err != nil {
				return err
			}
		}
	}
	return nil
}

// told says whether a number of questions has a row: all up to 10, then every fifth.
func told(questions int) bool { return questions <= 10 || questions%5 == 0 }

// curves measures each topic against the rest, several at a time, and adds the mean of the topics.
func (r *run) curves(ctx context.Context, data string, of func(seed uint64) duel, topics []int32,
) error {
	return r.repeat(ctx, data, func(seed uint64) error {
		d := of(seed)
		found, failed := make([][][]float64, len(topics)), make([]error, len(topics))
		parallel.Tasks(len(topics), func(k int) {
			own := seed << 32
			if len(topics) > 1 {
				own |= uint64(topics[k])
			}
			found[k], failed[k] = r.duel(ctx, d, topics[k], own)
		})
		if err := errors.Join(failed...); err != nil {
			return err
		}
		for k, a := range askers {
			for level := range d.questions + 2 {
				row := Row{Data: data, Learner: a.name, Level: level, X: float64(level), Measure: Accuracy}
				if last := level == d.questions+1; last && a.asks == centre.Ball {
					row.Learner = "all labels"
				} else if last || !told(level) {
					continue
				}
				if a.asks == centre.Centroid && level == 10 && data != "banana" {
					row.Paper = new(0.9)
				} else if a.asks == centre.Centroid && level == 20 && data == "banana" {
					row.Paper = new(0.8)
				}
				mean := 0.0
				for _, f := range found {
					mean += f[k][level] / float64(len(topics))
				}
				r.add(row, mean)
			}
		}
		return nil
	})
}

// duel asks about a pool of d for class topic against the rest. It returns the accuracy of each
// asker after 0, 1, … questions, 0 where nothing is told, and last that of all labels.
func (r *run) duel(ctx context.Context, d duel, topic int32, seed uint64) ([][]float64, error) {
	two := func(d *dataset.Dataset) *dataset.Dataset {
		t := like(d, d.Examples, make([]int32, d.N))
		t.Classes = []string{"rest", "topic"}
		for i, class := range d.Y {
			if class == topic {
				t.Y[i] = 1
			}
		}
		return t
	}
	q, err := r.inquire(ctx, two(pick(d.train, d.pool(topic, seed), d.train.Y)), two(d.test),
		host.Options{Engine: r.Engine, Preparation: d.steps, Kernel: d.kernel})
	if err != nil {
		return nil, err
	}
	found := make([][]float64, len(askers))
	for k, a := range askers {
		list := make([]float64, d.questions+2)
		found[k] = list
		o := centre.Options{Strategy: a.predicts, Seed: seed, Steps: d.bounces}
		tell := func(q inquiry, n int) (w engine.Weights, err error) {
			if w, _, err = centre.Find(ctx, q.Pool, o); err == nil && (told(n) || n > d.questions) {
				list[n], err = q.accuracy(w)
			}
			return w, err
		}
		if err := q.ask(ctx, 2, d.questions, func(q inquiry, n int) ([]int, error) {
			if a.asks == a.predicts {
				w, err := tell(q, n)
				if err != nil {
					return nil, err
				}
				return centre.Ask(q.Pool, r.Engine, w, 1)
			}
			if told(n) {
				if _, err := tell(q, n); err != nil {
					return nil, err
				}
			}
			return q.Ask(r.Engine, nil, 1, seed)
		}); err != nil {
			return nil, err
		}
		if a.asks == centre.Ball {
			all := *q.Pool
			all.Labels, q.Pool = q.right, &all
			if _, err := tell(q, d.questions+1); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// pool draws size training examples, whose first is none of the topic and whose second is.
func (d duel) pool(topic int32, seed uint64) []int {
	order := rand.New(rand.NewPCG(seed, activeStream)).Perm(d.train.N)
	for place := range 2 {
		at := place + slices.IndexFunc(order[place:], func(i int) bool {
			return (d.train.Y[i] == topic) == (place == 1)
		})
		if at >= place {
			order[place], order[at] = order[at], order[place]
		}
	}
	return order[:d.size]
}

// largestClasses returns the n classes of the most examples.
func largestClasses(d *dataset.Dataset, n int) []int32 {
	counts, order := make([]int, len(d.Classes)), make([]int32, len(d.Classes))
	for k := range order {
		order[k] = int32(k)
	}
	for _, y := range d.Y {
		counts[y]++
	}
	slices.SortStableFunc(order, func(a, b int32) int { return counts[b] - counts[a] })
	return order[:min(n, len(order))]
}

func runActiveBench(ctx context.Context, r *run) error {
	for _, name := range r.Sets {
		if err := r.repeat(ctx, name, func(seed uint64) error {
			d, err := r.benchSet(ctx, name, seed)
			if err != nil {
				return err
			}
			curves, err := r.benchRun(ctx, d, seed, benchQuestions)
			if err != nil {
				return err
			}
			for _, learner := range benchCurves {
				r.add(Row{Data: name, Learner: learner, Level: benchQuestions, X: benchQuestions,
					Measure: area, Paper: paperAreas[name][learner]}, areaUnder(curves[learner]))
				for _, level := range []int{0, 20, 50, benchQuestions} {
					r.add(Row{Data: name, Learner: learner, Level: level, X: float64(level),
						Measure: Accuracy}, curves[learner][level])
				}
			}
			return nil
		}); err != nil {
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
	q, err := r.inquire(ctx, pick(d, order[:cut], d.Y), pick(d, order[cut:], d.Y),
		host.Options{Engine: r.Engine, Preparation: "standardize", Seed: seed, Kernel: &fitting.Options{
			Function:   kernel.Function{Kind: kernel.RBF, Gamma: 1 / float32(d.D)},
			Components: min(200, cut-1), Landmarks: min(500, cut)}})
	if err != nil {
		return nil, err
	}
	found := make([]map[string][]float64, len(benchAskers))
	failed := make([]error, len(benchAskers))
	parallel.Tasks(len(benchAskers), func(k int) {
		found[k] = map[string][]float64{}
		failed[k] = q.bench(ctx, benchCurves[k], benchAskers[k], seed, questions, found[k])
	})
	for _, curves := range found[1:] {
		maps.Copy(found[0], curves)
	}
	return found[0], errors.Join(failed...)
}

// bench asks by a strategy, and appends the accuracy to the curve of its machine, and to that of
// its centroid unless the strategy is margin.
func (q inquiry) bench(ctx context.Context, name string, asks centre.Strategy, seed uint64,
	questions int, curves map[string][]float64) error {
	machine := svm.Defaults()
	machine.Loss = svm.Hinge
	train := host.Options{Engine: q.Engine, Learner: machine, Seed: seed}
	o := centre.Options{Strategy: centre.Centroid, Seed: seed, Slack: centre.DefaultSlack,
		Steps: fewSteps}
	tell := func(name string, w engine.Weights) error {
		v, err := q.accuracy(w)
		curves[name] = append(curves[name], v)
		return err
	}
	return q.ask(ctx, benchStart, questions, func(q inquiry, _ int) ([]int, error) {
		t, err := q.Fit(ctx, nil, train)
		if err != nil {
			return nil, err
		}
		m := t.Model
		if err := tell(name, engine.Weights{Q: m.Q, D: m.D, W: m.W}); err != nil {
			return nil, err
		}
		if asks == centre.Margin {
			return q.Ask(q.Engine, m, 1, seed)
		}
		w, _, err := centre.Find(ctx, q.Pool, o)
		if err != nil {
			return nil, err
		}
		if err := tell(name+withCentroid, w); err != nil {
			return nil, err
		}
		if asks == centre.Random {
			return q.Ask(q.Engine, nil, 1, seed)
		}
		return centre.Ask(q.Pool, q.Engine, w, 1)
	})
}

func (r *run) benchSet(ctx context.Context, name string, seed uint64) (*dataset.Dataset, error) {
	switch name {
	case banana.name:
		return banana.readFile(ctx, r, banana.train)
	case "ringnorm", "twonorm", "checkerboard":
		return drawBench(name, 2000, seed), nil
	}
	return set{}.readFile(ctx, r, "benchmark/"+name+".csv")
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
