package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// sets are those of the paper.
var sets = []struct {
	name        string
	train, test string
	options     dataset.Options
}{
	{"optdigits", "optdigits/optdigits.tra.gz", "optdigits/optdigits.tes.gz", dataset.Options{}},
	{"reuters9", "reuters21578/reuters9.train.svm.gz", "reuters21578/reuters9.test.svm.gz",
		dataset.Options{Features: 19767}},
	{"letter", "letter/letter-recognition.data.gz", "", dataset.Options{Table: dataset.Table{LabelColumn: "first"}}},
}

// noises are injected, by name.
var noises = []struct {
	name string
	of   func(classes []string) (*confusion.Matrix, error)
}{
	{"pairwise 40 %", func(c []string) (*confusion.Matrix, error) { return confusion.Pairwise(c, 0.4) }},
	{"symmetric 40 %", func(c []string) (*confusion.Matrix, error) { return confusion.Symmetric(c, 0.4) }},
	{"random 30 %", func(c []string) (*confusion.Matrix, error) { return confusion.Random(c, 0.3, 1) }},
	{"pairwise 20 %", func(c []string) (*confusion.Matrix, error) { return confusion.Pairwise(c, 0.2) }},
	{"symmetric 20 %", func(c []string) (*confusion.Matrix, error) { return confusion.Symmetric(c, 0.2) }},
}

// result is a line of output.
type result struct {
	Set        string                     `json:"set"`
	Noise      string                     `json:"noise"`
	Seed       uint64                     `json:"seed"`
	Method     string                     `json:"method"`
	Off        float64                    `json:"mean_absolute_error"`       // per entry
	Z          float64                    `json:"errors_per_standard_error"` // root of the mean square
	Error      float64                    `json:"test_error"`                // of softmax
	UMAError   float64                    `json:"uma_test_error"`            // with --inverse exact, as by default
	Chosen     string                     `json:"chosen,omitempty"`
	Candidates []outoffold.NoiseCandidate `json:"candidates,omitempty"`
	Seconds    float64                    `json:"seconds"`
}

// estimators writes a JSON line for each set, noise and method.
func estimators(ctx context.Context, w io.Writer, dir, only, methods string, seeds int) error {
	for _, s := range sets {
		train, err := dataset.Read(ctx, filepath.Join(dir, s.train), s.options)
		if err != nil {
			return err
		}
		var test *dataset.Dataset
		if s.test == "" {
			parts, err := dataset.SplitCounts(train, []int{15000, 5000}, 1)
			if err != nil {
				return err
			}
			train, test = parts[0], parts[1]
		} else {
			o := s.options
			o.Classes, o.Features = train.Classes, train.D
			if test, err = dataset.Read(ctx, filepath.Join(dir, s.test), o); err != nil {
				return err
			}
		}
		for _, n := range noises {
			if only != "" && !strings.Contains(s.name+" "+n.name, only) {
				continue
			}
			for seed := range uint64(seeds) {
				if err := estimatorsOf(ctx, w, s.name, n.name, methods, n.of, train, test, seed+1); err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, n.name, err)
				}
			}
		}
	}
	return nil
}

func estimatorsOf(ctx context.Context, w io.Writer, set, noise, methods string,
	of func([]string) (*confusion.Matrix, error), train, test *dataset.Dataset, seed uint64) error {
	truth, err := of(train.Classes)
	if err != nil {
		return err
	}
	data := *train
	if data.Y, err = truth.Inject(train.Y, seed); err != nil {
		return err
	}
	data.SHA256 = ""
	e := simd.New()
	defer e.Close() // nothing to lose
	print := json.NewEncoder(w)
	o := host.Options{Engine: e, Seed: seed}
	const clean = 100
	right := make([]int32, data.N)
	for i := range right {
		right[i] = -1
		if i*clean/data.N != (i+1)*clean/data.N {
			right[i] = train.Y[i]
		}
	}
	errorsOf := map[string][2]float64{} // of softmax and of UMA, by method
	for _, m := range []struct {
		name   string
		method outoffold.NoiseMethod
		right  []int32
	}{
		{"true C", "", nil}, {"identity", outoffold.NoNoise, nil}, {"confident joint", outoffold.ConfidentJoint, nil},
		{"anchor points", outoffold.AnchorPoints, nil}, {"joint likelihood", outoffold.JointLikelihood, nil},
		{"100 clean", outoffold.CleanCounts, right}, {"100 clean, joint likelihood", outoffold.JointLikelihood, right},
		{"auto", outoffold.AutoNoise, nil},
	} {
		if !strings.Contains(m.name, methods) {
			continue
		}
		begin := time.Now()
		r := result{Set: set, Noise: noise, Seed: seed, Method: m.name}
		c := truth
		if m.method != "" {
			found, err := outoffold.EstimateNoise(ctx, &data,
				outoffold.NoiseOptions{Options: o, Method: m.method, Right: m.right})
			if err != nil {
				return err
			}
			c = &found.Matrix
			for k, v := range found.P {
				d := math.Abs(v - truth.P[k])
				r.Off += d / float64(len(found.P))
				if found.Error[k] > 0 {
					r.Z += d * d / (found.Error[k] * found.Error[k]) / float64(len(found.P))
				}
			}
			r.Z = math.Sqrt(r.Z)
			r.Chosen, r.Candidates = string(found.Chosen), found.Candidates
		}
		r.Seconds = time.Since(begin).Seconds()
		known, ok := errorsOf[r.Chosen]
		if m.name != "auto" || !ok {
			for k, learner := range []learners.Params{softmax.Defaults(), uma.Defaults()} {
				o.Learner = learner
				if known[k], err = testError(ctx, &data, c, o, test); err != nil {
					return err
				}
			}
			o.Learner = nil
		}
		if m.right == nil {
			errorsOf[string(m.method)] = known
		}
		r.Error, r.UMAError = known[0], known[1]
		if err := print.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// testError is that of a learner that is told c.
func testError(ctx context.Context, noisy *dataset.Dataset, c *confusion.Matrix, o host.Options,
	test *dataset.Dataset) (float64, error) {
	trained, err := host.Train(ctx, noisy, c, o)
	if err != nil {
		return 0, err
	}
	said, err := trained.Predict(ctx, o.Engine, test.Examples)
	if err != nil {
		return 0, err
	}
	wrong := 0
	for i, k := range said {
		if k != test.Y[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(test.N), nil
}
