package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// The sets and the noises whose C is estimated.
var (
	estimated       = []string{"optdigits", "reuters9", "letter"}
	estimatedNoises = []noise{pairwise(0.4), symmetric(0.4), random(0.3), pairwise(0.2),
		symmetric(0.2)}
)

// estimator is a method to estimate C from noisy labels.
type estimator struct {
	name   string
	method outoffold.NoiseMethod // "" for the true C
	clean  bool                  // is told the right labels of 100 examples, too
}

var estimatorsOf = []estimator{
	{"true C", "", false}, {"identity", outoffold.NoNoise, false},
	{"confident joint", outoffold.ConfidentJoint, false},
	{"anchor points", outoffold.AnchorPoints, false},
	{"joint likelihood", outoffold.JointLikelihood, false},
	{"100 clean", outoffold.CleanCounts, true},
	{"100 clean, joint likelihood", outoffold.JointLikelihood, true},
	{"auto", outoffold.AutoNoise, false},
}

// estimateKey says what an estimate is of.
type estimateKey struct {
	Set    string `json:"set"`
	Noise  string `json:"noise"`
	Seed   uint64 `json:"seed"`
	Method string `json:"method"`
}

func (k estimateKey) id() estimateKey { return k }

// estimateResult is how good an estimate of C is.
type estimateResult struct {
	estimateKey
	Off   float64 `json:"mean_absolute_error"`       // per entry
	Z     float64 `json:"errors_per_standard_error"` // root of the mean square
	Error float64 `json:"test_error"`                // of softmax
	// with --inverse exact, as by default
	UMAError   float64                    `json:"uma_test_error"`
	Chosen     string                     `json:"chosen,omitempty"`
	Candidates []outoffold.NoiseCandidate `json:"candidates,omitempty"`
	Seconds    float64                    `json:"seconds"`
}

// estimators measures estimates of C, and prints a table of their errors and two of the test
// errors that they lead to.
func estimators(ctx context.Context, c *call) (err error) {
	data := c.flags.String("data", "", "`folder` of the data sets (required)")
	kept := c.flags.String("results", "",
		"`file` of results, a JSON object on each line; none if empty")
	seeds := c.flags.Int("seeds", 1, "corrupt labels and train with the seeds 1 to `k`")
	if err := c.parse(0, "data"); err != nil {
		return err
	}
	r, err := openResults[estimateKey, estimateResult](*kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	e := simd.New()
	defer e.Close() // nothing to lose
	for _, s := range sets {
		if !slices.Contains(estimated, s.name) {
			continue
		}
		for _, n := range estimatedNoises {
			for seed := range uint64(*seeds) {
				o := host.Options{Engine: e, Seed: seed + 1}
				if err := estimateAll(ctx, c, r, *data, s, n, o); err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, n.name, err)
				}
			}
		}
	}
	printEstimates(c.stdout, r.found)
	return nil
}

// estimateAll measures what is missing of a set under a noise with one seed.
func estimateAll(ctx context.Context, c *call, r *results[estimateKey, estimateResult], dir string,
	s set, n noise, o host.Options) error {
	train, test, err := s.read(ctx, dir, o.Seed)
	if err != nil {
		return err
	}
	noisy := *train
	y, truth, err := n.labels(ctx, dir, train, o.Seed)
	if err != nil {
		return err
	}
	noisy.Y, noisy.SHA256 = y, ""
	const clean = 100
	right := slices.Repeat([]int32{-1}, noisy.N)
	for i := range right {
		if i*clean/noisy.N != (i+1)*clean/noisy.N {
			right[i] = train.Y[i]
		}
	}
	for _, m := range estimatorsOf {
		v := estimateResult{estimateKey: estimateKey{s.name, n.name, o.Seed, m.name}}
		if _, known := r.found[v.id()]; known {
			continue
		}
		begin, told := time.Now(), truth
		if m.method != "" {
			options := outoffold.NoiseOptions{Options: o, Method: m.method}
			if m.clean {
				options.Right = right
			}
			found, err := outoffold.EstimateNoise(ctx, &noisy, options)
			if err != nil {
				return err
			}
			told, v.Chosen, v.Candidates = &found.Matrix, string(found.Chosen), found.Candidates
			v.Off, v.Z = offBy(found.P, found.Error, truth.P)
		}
		v.Seconds = time.Since(begin).Seconds()
		if v.Error, err = testError(ctx, &noisy, told, o, softmax.Defaults(), test); err != nil {
			return err
		}
		if v.UMAError, err = testError(ctx, &noisy, told, o, uma.Defaults(), test); err != nil {
			return err
		}
		if err := r.add(v); err != nil {
			return err
		}
		c.note("%s, %s, seed %d, %s: %.4f", s.name, n.name, o.Seed, m.name, v.Error)
	}
	return nil
}

// offBy returns the mean absolute error of p, and the root of the mean square of its errors in
// standard errors.
func offBy(p, standardErrors, truth []float64) (off, z float64) {
	for k, v := range p {
		d := math.Abs(v - truth[k])
		off += d / float64(len(p))
		if standardErrors[k] > 0 {
			z += d * d / (standardErrors[k] * standardErrors[k]) / float64(len(p))
		}
	}
	return off, math.Sqrt(z)
}

// testError returns the test error of a learner that is told c.
func testError(ctx context.Context, noisy *dataset.Dataset, c *confusion.Matrix, o host.Options,
	learner learners.Params, test *dataset.Dataset) (float64, error) {
	o.Learner = learner
	trained, err := host.Train(ctx, noisy, c, o)
	if err != nil {
		return 0, err
	}
	said, err := trained.Predict(ctx, o.Engine, test.Examples)
	if err != nil {
		return 0, err
	}
	return share(test.Y, said), nil
}

// printEstimates writes three tables of means over the seeds. The last line of a table of test
// errors counts the cases in which a method is within a point of the true C.
func printEstimates(w io.Writer, found map[estimateKey]estimateResult) {
	columns := []string{""}
	for _, m := range estimatorsOf {
		columns = append(columns, ">"+m.name)
	}
	columns = append(columns, "auto chose")
	for _, what := range []struct {
		title string
		of    func(estimateResult) float64
		test  bool
	}{
		{"mean absolute error per entry", func(v estimateResult) float64 { return v.Off }, false},
		{"test error, softmax", func(v estimateResult) float64 { return v.Error }, true},
		{"test error, UMA", func(v estimateResult) float64 { return v.UMAError }, true},
	} {
		columns[0] = what.title
		fmt.Fprint(w, head(columns...))
		near, of := make([]int, len(estimatorsOf)), 0
		for _, set := range estimated {
			for _, n := range estimatedNoises {
				cells, chosen, truth := []any{set + ", " + n.name}, "", 0.0
				for k, m := range estimatorsOf {
					var values []float64
					for id, v := range found {
						if id.Set == set && id.Noise == n.name && id.Method == m.name {
							values = append(values, what.of(v))
							if v.Candidates != nil {
								chosen = v.Chosen
							}
						}
					}
					slices.Sort(values) // so that the order of the map does not show in the mean
					v := stat.Mean(values, nil)
					if k == 0 {
						truth = v
					}
					if v <= truth+0.01 {
						near[k]++
					}
					cells = append(cells, fmt.Sprintf("%.4f", v))
				}
				of++
				fmt.Fprint(w, line(append(cells, chosen)...))
			}
		}
		if what.test {
			cells := []any{"within a point of the true C"}
			for _, n := range near {
				cells = append(cells, fmt.Sprintf("%d/%d", n, of))
			}
			fmt.Fprint(w, line(append(cells, "")...))
		}
		fmt.Fprintln(w)
	}
}
