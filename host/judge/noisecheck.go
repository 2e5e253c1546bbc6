package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Whether a confusion matrix helps.
const (
	Helps        = "helps"
	NoDifference = "no clear difference"
	Harms        = "harms"
	Turned       = "turned"   // its axes are exchanged
	Rejected     = "rejected" // the labels contradict it
)

// NoiseCheck compares out-of-fold predictions with and without a confusion matrix. It uses no right
// labels.
type NoiseCheck struct {
	Verdict string `json:"verdict"` // Helps, NoDifference, Harms, Turned or Rejected

	// LogLikelihood is the gain in mean log-likelihood of a noisy label by training with the matrix.
	LogLikelihood Difference `json:"log_likelihood_gain"`
	// Accuracy is the gain in accuracy, from -1 to 1, by the probabilities of the true classes given
	// the labels: by the matrix or, where they contradict it or are less likely with it, by the best
	// estimate of the noise.
	Accuracy Difference `json:"corrected_accuracy_gain"`

	Explained Explanation `json:"explained"`
	// Contradicted reports that the matrix leaves more labels unexplained than chance does.
	Contradicted bool `json:"-"`

	Warnings []string `json:"warnings,omitempty"`
}

// Difference is a mean over examples and its standard error.
type Difference struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
}

// clear is the number of standard errors of a clear difference.
const clear = 2

// fewRows is the number of examples for each class below which nothing can be said.
const fewRows = 5

// WithoutTraining returns the check of a matrix that needs no training: it has no inverse, or there
// are too few of the n examples with a label. Else it is nil.
func WithoutTraining(n int, noise *confusion.Matrix) *NoiseCheck {
	c := &NoiseCheck{Verdict: NoDifference, Explained: Explanation{P: 1}}
	if _, err := noise.Invert(); err != nil {
		c.Verdict, c.Contradicted, c.Warnings = Rejected, true, []string{err.Error()}
		return c
	}
	if least := fewRows * noise.Q(); n < least {
		c.Warnings = []string{fmt.Sprintf("too few rows: %d with a label, and %d are the least for %d "+
			"classes", n, least, noise.Q())}
		return c
	}
	return nil
}

// CheckNoise compares out-of-fold predictions of examples with noisy labels y, from trainings with
// the matrix and without. It reaches a verdict also where predictions are no better than chance.
func CheckNoise(ctx context.Context, y []int32, noise *confusion.Matrix, with, without *HeldOut) (
	*NoiseCheck, error) {
	c := &NoiseCheck{Verdict: NoDifference, Explained: Explanation{P: 1}}
	p, err := with.Probabilities()
	var plain []float32
	if err == nil {
		plain, err = without.Probabilities()
	}
	if errors.Is(err, model.ErrNoTemperature) {
		c.Warnings = []string{"the features tell labels held out no better than chance, so they say " +
			"nothing of the matrix"}
		return c, nil
	} else if err != nil {
		return nil, err
	}
	judged := estimate.Evidence{Classes: noise.Classes, Y: y, P: plain, Given: noise}
	contest, err := estimate.FromEvidence(ctx, judged)
	if err != nil {
		return nil, err
	}
	q := noise.Q()
	likelihood, accuracy := make([]float64, len(y)), make([]float64, len(y))
	counts, posterior := make([]int64, q*q), make([]float64, q)
	for i, k := range y {
		noisy := 0.0
		for t, v := range p[i*q : (i+1)*q] {
			noisy += float64(noise.P[int(k)*q+t] * float64(v))
		}
		likelihood[i] = logOf(noisy) - logOf(float64(plain[i*q+int(k)]))
		counts[lists.Largest(with.Scores[i*q:(i+1)*q])*q+int(k)]++
	}
	c.LogLikelihood = differenceOf(likelihood)
	// What labels say of the true classes: by the matrix, unless something explains them better.
	rates, prior := noise.P, p
	if contest.Rejected() || c.LogLikelihood.Mean < 0 {
		rates, prior = contest.Candidates[contest.Chosen].P, contest.True
	}
	for i, k := range y {
		sum := 0.0
		for t, v := range prior[i*q : (i+1)*q] {
			posterior[t] = float64(rates[int(k)*q+t] * float64(v))
			sum += posterior[t]
		}
		a := lists.Largest(with.Scores[i*q : (i+1)*q])
		b := lists.Largest(without.Scores[i*q : (i+1)*q])
		if sum > 0 {
			accuracy[i] = (posterior[a] - posterior[b]) / sum
		}
	}
	c.Accuracy = differenceOf(accuracy)
	c.Explained = explain(noise, counts)
	c.Contradicted = contradicted(&c.Explained) || contest.Rejected()
	c.Verdict = c.verdict()
	if judged.Given = turned(noise); c.Contradicted && mostlyRight(judged.Given) {
		other, err := estimate.FromEvidence(ctx, judged)
		if err != nil {
			return nil, err
		}
		if !other.Rejected() && other.Lost() < turnedLoss*contest.Lost() {
			c.Verdict = Turned
		}
	}
	c.warn(noise, contest)
	if never := neverPredicted(counts, noise.Classes); len(never) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("with the matrix no example is predicted as %s, "+
			"though some are labelled so", strings.Join(never, ", ")))
	}
	return c, nil
}

// turnedLoss is the most of the log-likelihood lost by the matrix that is lost by its transpose, if
// it is turned.
const turnedLoss = 0.25

// mostlyRight reports whether the most frequent label of each class is its own: other matrices name
// classes anew, and may explain any labels.
func mostlyRight(m *confusion.Matrix) bool {
	q := m.Q()
	for at, v := range m.P {
		if class := at % q; v > m.P[class*q+class] {
			return false
		}
	}
	return true
}

// verdict decides by held-out labels; where these are no less likely with the matrix, but not
// surely likelier, as for a model that learns the noise itself, by the corrected accuracy.
func (c *NoiseCheck) verdict() string {
	likelier := c.LogLikelihood.Mean / max(c.LogLikelihood.StandardError, math.SmallestNonzeroFloat64)
	switch {
	case likelier > clear, likelier >= 0 && !c.Contradicted &&
		c.Accuracy.Mean > clear*c.Accuracy.StandardError:
		return Helps
	case likelier < -clear && c.Accuracy.Mean <= clear*c.Accuracy.StandardError,
		likelier < 0 && c.Accuracy.Mean < -clear*c.Accuracy.StandardError:
		return Harms
	case c.Contradicted:
		return Rejected
	}
	return NoDifference
}

// leastProbability limits the influence of one label that was deemed impossible.
const leastProbability = 1e-3

func logOf(p float64) float64 { return math.Log(max(p, leastProbability)) }

func differenceOf(v []float64) Difference {
	mean, deviation := lists.MeanError(len(v), func(i int) float64 { return v[i] })
	return Difference{mean, deviation}
}

// turned returns the transpose of m with normalised columns.
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

// warn lists contradictions.
func (c *NoiseCheck) warn(noise *confusion.Matrix, contest *estimate.Contest) {
	say := func(format string, args ...any) {
		c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
	}
	name := func(k int) string { return noise.Classes[k] }
	if e := c.Explained; c.Contradicted {
		w := e.Worst
		say("the matrix does not explain %.1f %% of the labels (probability of that by chance %.2g): of "+
			"the examples predicted as %.60q, %.0f are labelled %.60q, and %.0f by the matrix at its best",
			100*e.Unexplained, e.P, name(w.Predicted), w.Found, name(w.Label), w.Explained)
		if c.Verdict == Turned {
			say("with its axes exchanged the matrix makes the labels likelier: is it turned? %s reads it so",
				quote.Option("confusion-axes", "true-rows"))
		}
	}
	if best := contest.Candidates[contest.Chosen]; contest.Rejected() {
		own, claimed := 0.0, 0.0
		for t := range noise.Q() {
			own += best.P[t*noise.Q()+t] / float64(noise.Q())
			claimed += noise.P[t*noise.Q()+t] / float64(noise.Q())
		}
		say("the labels contradict the matrix: in the mean of the classes it says that %.1f %% of the "+
			"labels are right, and they fit %.1f %%; estimate it from them", 100*claimed, 100*own)
	}
}
