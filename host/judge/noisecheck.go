package judge

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// Whether a confusion matrix helps.
const (
	Helps        = "helps"
	NoDifference = "no clear difference"
	Harms        = "harms"
	Turned       = "turned" // its axes are exchanged
)

// NoiseCheck is what labels say of the confusion matrix that they are said to be noisy by. All of
// it comes from examples that the models have not seen, and none from right labels.
type NoiseCheck struct {
	Verdict string `json:"verdict"` // Helps, NoDifference, Harms or Turned

	// LogLikelihood is how much likelier a noisy label is, on average of its logarithm, by
	// the training with the matrix than by the one that takes labels for right.
	LogLikelihood Difference `json:"log_likelihood_gain"`
	// Accuracy is how many more examples get their right class, as C⁻¹ has it.
	Accuracy Difference `json:"corrected_accuracy_gain"`

	Explained Explanation `json:"explained"`
	// Contradicted says that the matrix leaves labels unexplained that chance does not make.
	Contradicted bool `json:"-"`
	// Turned is how well the matrix with its axes exchanged explains the labels, its columns
	// scaled to 1.
	Turned Explanation `json:"turned"`

	Frequencies []frequency `json:"frequencies"` // of each class

	// The estimated errors of the same predictions if there were a tenth less noise, and a tenth
	// more; NaN if there cannot be.
	Milder   float64 `json:"-"`
	Stronger float64 `json:"-"`

	Warnings []string `json:"warnings,omitempty"`
}

// Difference is a mean over examples and its standard error.
type Difference struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
}

// frequency is that of a true class, as the labels' frequencies and C⁻¹ have it: one that is
// below 0 by far cannot be.
type frequency struct {
	Class         string  `json:"class"`
	Value         float64 `json:"value"`
	StandardError float64 `json:"standard_error"`
}

// How many standard errors make a difference, and an impossible frequency among many.
const (
	clear      = 2
	impossible = 4
)

// CheckNoise compares examples that were scored by models which have not seen them, once of
// trainings with the matrix, and once of trainings that took labels, which are y, for right.
// Errors: confusion.Matrix.Invert's, and model.ErrNoTemperature.
func CheckNoise(y []int32, noise *confusion.Matrix, with, without *HeldOut) (*NoiseCheck, error) {
	inverse, err := noise.Invert()
	if err != nil {
		return nil, err
	}
	p, err := with.Probabilities()
	if err != nil {
		return nil, fmt.Errorf("with the confusion matrix: %w", err)
	}
	plain, err := without.Probabilities()
	if err != nil {
		return nil, fmt.Errorf("without a confusion matrix: %w", err)
	}
	q := noise.Q()
	c := &NoiseCheck{}
	likelihood, accuracy := make([]float64, len(y)), make([]float64, len(y))
	counts, labels := make([]int64, q*q), make([]int64, q)
	for i, k := range y {
		noisy := 0.0
		for t, v := range p[i*q : (i+1)*q] {
			noisy += noise.P[int(k)*q+t] * float64(v)
		}
		likelihood[i] = logOf(noisy) - logOf(float64(plain[i*q+int(k)]))
		a := lists.Largest(with.Scores[i*q : (i+1)*q])
		b := lists.Largest(without.Scores[i*q : (i+1)*q])
		accuracy[i] = inverse.V[a*q+int(k)] - inverse.V[b*q+int(k)]
		counts[a*q+int(k)]++
		labels[k]++
	}
	c.LogLikelihood, c.Accuracy = differenceOf(likelihood), differenceOf(accuracy)
	c.Explained = explain(noise, counts)
	c.Contradicted = contradicted(&c.Explained)
	c.Turned = explain(turned(noise), counts)
	c.Verdict = c.verdict()
	c.frequencies(noise, inverse, labels, int64(len(y)))
	c.Milder = errorIf(noise, -nudge, counts, len(y))
	c.Stronger = errorIf(noise, nudge, counts, len(y))
	c.warn(noise, inverse.EstimatedError(counts, len(y)))
	return c, nil
}

// verdict says what c comes to. Labels held out decide; where they are as likely without the
// matrix, as those of a model that has learned the noise itself, the right classes do.
func (c *NoiseCheck) verdict() string {
	likelier := c.LogLikelihood.Mean / max(c.LogLikelihood.StandardError, math.SmallestNonzeroFloat64)
	switch {
	case c.Contradicted && explainsBetter(&c.Turned, &c.Explained):
		return Turned
	case likelier > clear, likelier >= -clear && !c.Contradicted &&
		c.Accuracy.Mean > clear*c.Accuracy.StandardError:
		return Helps
	case likelier < -clear && c.Accuracy.Mean <= 0:
		return Harms
	}
	return NoDifference
}

// explainsBetter says whether the turned matrix explains what the matrix itself, e, does not.
func explainsBetter(turned, e *Explanation) bool {
	return !contradicted(turned) || turned.Deviance < e.Deviance/4
}

// leastProbability keeps one label that was thought impossible from deciding everything.
const leastProbability = 1e-3

func logOf(p float64) float64 { return math.Log(max(p, leastProbability)) }

func differenceOf(v []float64) Difference {
	mean, deviation := lists.MeanError(len(v), func(i int) float64 { return v[i] })
	return Difference{mean, deviation}
}

// turned returns m with its axes exchanged.
func turned(m *confusion.Matrix) *confusion.Matrix {
	q := m.Q()
	t := &confusion.Matrix{Classes: m.Classes, P: make([]float64, q*q)}
	for r := range q {
		sum := lists.Sum(m.P[r*q : (r+1)*q])
		for k := range q {
			if sum > 0 {
				t.P[k*q+r] = m.P[r*q+k] / sum
			} else {
				t.P[k*q+r] = 1 / float64(q)
			}
		}
	}
	return t
}

func (c *NoiseCheck) frequencies(noise *confusion.Matrix, inverse *confusion.Inverse,
	labels []int64, n int64) {
	q := noise.Q()
	for r, name := range noise.Classes {
		mean, squares := 0.0, 0.0
		for k, v := range labels {
			share := float64(v) / float64(n)
			mean += inverse.V[r*q+k] * share
			squares += inverse.V[r*q+k] * inverse.V[r*q+k] * share
		}
		c.Frequencies = append(c.Frequencies, frequency{name, mean,
			math.Sqrt(max(0, squares-mean*mean) / float64(n))})
	}
}

// nudge is the share of the noise by which it is made milder and stronger.
const nudge = 0.1

// errorIf returns the estimated error of the same predictions if there were that share more noise;
// NaN if no such matrix has an inverse.
func errorIf(m *confusion.Matrix, share float64, counts []int64, n int) float64 {
	q := m.Q()
	other := &confusion.Matrix{Classes: m.Classes, P: make([]float64, q*q)}
	for t := range q {
		off := 0.0
		for k := range q {
			if k != t {
				other.P[k*q+t] = m.P[k*q+t] * (1 + share)
				off += other.P[k*q+t]
			}
		}
		if other.P[t*q+t] = 1 - off; off > 1 {
			return math.NaN()
		}
	}
	inverse, err := other.Invert()
	if err != nil {
		return math.NaN()
	}
	return inverse.EstimatedError(counts, n)
}

// warn says what cannot be.
func (c *NoiseCheck) warn(noise *confusion.Matrix, estimated float64) {
	say := func(format string, args ...any) {
		c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
	}
	name := func(k int) string { return noise.Classes[k] }
	if e := c.Explained; c.Contradicted {
		w := e.Worst
		say("the matrix does not explain %.1f %% of the labels (probability of that by chance %.2g): of "+
			"the examples predicted as %.60q, %.0f are labelled %.60q, and %.0f by the matrix at its best",
			100*e.Unexplained, e.P, name(w.Predicted), w.Found, name(w.Label), w.Explained)
		if t := c.Turned; explainsBetter(&t, &e) {
			say("with its axes exchanged the matrix explains all but %.1f %% of the labels: is it turned? "+
				"%s reads it so", 100*t.Unexplained, option.Named("confusion-axes", "true-rows"))
		}
	}
	for _, f := range c.Frequencies {
		if f.Value < -impossible*f.StandardError {
			say("class %.60q would have the frequency %.4f ± %.4f, and none is below 0: the matrix says "+
				"that other classes are labelled so more often than anything "+
				"is", f.Class, f.Value, f.StandardError)
		}
	}
	if estimated < 0 {
		say("the estimated error of examples held out is %.1f %%, and none is below 0: the matrix "+
			"claims more noise than there is, or there are few examples", 100*estimated)
	}
}
