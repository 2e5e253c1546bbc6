package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/svm"
)

var kernelMeanUCI = &experiment{
	Name:  "kernel-mean-uci",
	Usage: "the mean classifier and others on two classes of small sets of UCI",
	Paper: "Symmetric noise on small sets of UCI (Section 7 of the kernel mean's paper)",
	About: "Two classes: the first half of a set's classes, by their names, against the others. " +
		"Labels are turned\nround at random. Two thirds of the examples train, 500 at most, the rest " +
		"tests, 2000 at most; each " +
		"run\ndraws anew. No way is told C. Linear are the mean, hinge and t-logistic loss (t = 2), " +
		"whose " +
		"penalties\nare the best of five by 3 folds of the noisy labels, and softmax, which looks for " +
		"its own; they " +
		"see\nstandardized features with a bias, of length 1. The kernel mean finds its gamma in noisy " +
		"labels too.",
	Axis: "noise rate", Sets: smallNames(), run: runKernelMeanUCI,
}

// smallSet is a file of examples of some classes.
type smallSet struct {
	name, path string
	options    file.Options
	heading    bool // its first line is about the file, in scikit-learn's way
}

var smallSets = []smallSet{
	{name: "banana", path: "banana/banana.dat.gz"},
	{name: "cancer", path: "small/sklearn_breast_cancer.csv.gz", heading: true},
	{name: "glass", path: "small/glass.data.gz",
		options: file.Options{Table: file.Table{Ignore: []string{"1"}}}},
	{name: "iris", path: "small/sklearn_iris.csv.gz", heading: true},
	{name: "letter", path: sets[1].train, options: sets[1].options},
	{name: "vehicle", path: "small/vehicle.csv.gz"},
	{name: "wine", path: "small/sklearn_wine_data.csv.gz", heading: true},
}

func smallNames() (names []string) {
	for _, s := range smallSets {
		names = append(names, s.name)
	}
	return names
}

const (
	smallTrain, smallTest = 500, 2000 // examples at most
	penaltyFolds          = 3
)

// penalties are λ of λ/2·‖w‖² + mean loss, the largest first, which is taken of equally good ones.
var penalties = []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5}

func runKernelMeanUCI(ctx context.Context, r *run) error {
	for _, s := range smallSets {
		if !slices.Contains(r.Sets, s.name) {
			continue
		}
		d, err := s.read(ctx, r.DataDir)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		d = halves(d)
		for level, rate := range noiseRates {
			found := map[string][]float64{}
			for k := range r.Runs {
				if err := r.twoClasses(ctx, d, rate, r.Seed+uint64(k), found); err != nil {
					return fmt.Errorf("%s, noise %v: %w", s.name, rate, err)
				}
			}
			for _, name := range []string{meanWay.name, meanWays[0].name, hinge, heavier, logistic.name} {
				row := Row{Data: s.name, Learner: name, Level: level, X: rate, Measure: ErrorRate}
				if err := r.write(row, found[name]); err != nil {
					return err
				}
			}
		}
		r.Note("%s: %d examples", s.name, d.N)
	}
	return nil
}

// read returns the examples of the file.
func (s smallSet) read(ctx context.Context, folder string) (_ *dataset.Dataset, err error) {
	path, o := filepath.Join(folder, s.path), s.options
	if !s.heading {
		return file.Read(ctx, path, o)
	}
	packed, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, packed.Close()) }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewReader(unpacked)
	if _, err := lines.ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s:1: found no line to pass over: %w", path, err)
	}
	o.Stdin, o.Format, o.Header = lines, "csv", "no"
	return file.Read(ctx, "-", o)
}

// halves returns d with two classes, the first half of its own and the others.
func halves(d *dataset.Dataset) *dataset.Dataset {
	two := &dataset.Dataset{Examples: d.Examples, Classes: []string{"first", "others"}}
	two.Path = d.Path
	for _, k := range d.Y {
		two.Y = append(two.Y, int32(min(1, int(k)/(len(d.Classes)/2))))
	}
	two.SHA256 = two.Hash()
	return two
}

// twoClasses draws examples of d, turns labels of the training examples round, and adds the test
// error of each way to found.
func (r *run) twoClasses(
	ctx context.Context, d *dataset.Dataset, rate float64, seed uint64, found map[string][]float64,
) error {
	n := min(smallTrain, 2*d.N/3)
	parts, err := dataset.SplitCounts(d, []int{n, min(smallTest, d.N-n)}, seed)
	if err != nil {
		return err
	}
	train, test := parts[0], parts[1]
	noise, err := confusion.Symmetric(train.Classes, rate)
	if err != nil {
		return err
	}
	if train.Y, err = noise.Inject(train.Y, seed); err != nil {
		return err
	}
	curved := trial{train: train, test: test, seed: seed}
	of := meanWays[0]
	of.kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Search: true}
	report, err := r.learn(ctx, of, curved)
	if err != nil {
		return fmt.Errorf("%s: %w", of.name, err)
	}
	found[of.name] = append(found[of.name], report.ErrorRate)

	flat, flatTest := *train, *test
	if err := host.Prepare(&flat, "standardize,bias,l2", false); err != nil {
		return err
	}
	if err := features.PrepareBy(&flatTest, flat.Prepared); err != nil {
		return err
	}
	t := trial{train: components(&flat, flat.Examples), test: components(&flatTest, flatTest.Examples),
		preparation: "none", seed: seed}
	for _, w := range []way{meanWay, logistic} {
		report, err := r.learn(ctx, w, t)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		found[w.name] = append(found[w.name], report.ErrorRate)
	}
	for name, fit := range map[string]penalized{hinge: r.hinge, heavier: r.heavier} {
		lambda, err := leastPenalty(ctx, t, fit)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		wrong, err := fit(ctx, t, lambda)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found[name] = append(found[name], wrong)
	}
	return nil
}

// penalized learns with a penalty, and returns the share of test examples that it gets wrong.
type penalized func(ctx context.Context, t trial, lambda float64) (float64, error)

// leastPenalty returns the penalty that errs least on the noisy labels of the parts of t.train
// held out.
func leastPenalty(ctx context.Context, t trial, fit penalized) (float64, error) {
	best, least := 0.0, math.Inf(1)
	for _, lambda := range penalties {
		wrong := 0.0
		for fold := range penaltyFolds {
			var in, out []int
			for i := range t.train.N {
				if i%penaltyFolds == fold {
					out = append(out, i)
				} else {
					in = append(in, i)
				}
			}
			part := t
			part.train, part.test = pick(t.train, in, t.train.Y), pick(t.train, out, t.train.Y)
			share, err := fit(ctx, part, lambda)
			if err != nil {
				return 0, err
			}
			wrong += float64(share * float64(len(out)))
		}
		if wrong < least {
			best, least = lambda, wrong
		}
	}
	return best, nil
}

// hinge is penalized for the hinge loss, the cost of whose learner is 1/(λ·n).
func (r *run) hinge(ctx context.Context, t trial, lambda float64) (float64, error) {
	report, err := r.learn(ctx, way{name: hinge, blind: true, params: func() learners.Params {
		p := svm.Defaults()
		p.Loss, p.Cost = svm.Hinge, 1/(lambda*float64(t.train.N))
		return p
	}}, t)
	return report.ErrorRate, err
}

// heavier is penalized for the t-logistic loss.
func (r *run) heavier(_ context.Context, t trial, lambda float64) (float64, error) {
	l := &tLogistic{n: t.train.N, d: t.train.D, lambda: lambda}
	row := make([]float32, l.d)
	for i, y := range t.train.Y {
		for _, v := range t.train.DenseRow(row, i) {
			l.x = append(l.x, float64(2*y-1)*float64(v))
		}
		l.counts = append(l.counts, 1)
	}
	w, wrong := l.minimum(make([]float64, l.d)), 0
	for i, y := range t.test.Y {
		score := 0.0
		for j, v := range t.test.DenseRow(row, i) {
			score += float64(w[j] * float64(v))
		}
		if (score > 0) != (y == 1) {
			wrong++
		}
	}
	return float64(wrong) / float64(t.test.N), nil
}
