// Package classmean is the class-mean classifier for labels that a known confusion matrix C has
// corrupted: an example is of the class whose mean is nearest.
//
// The sums of the examples by noisy label, multiplied by C⁻¹, estimate the sums by true class, and
// C⁻¹ of the labels' counts how many examples each class has: no clean label, no parameter, one
// reading of the examples. Where W can hold the offset of the distance (see means) it decides as
// Rocchio's and scikit-learn's NearestCentroid do. It cannot where features have the mean 0 and no
// bias column: then the class of the largest product is taken, and a rival with an offset is
// better. Test error, 40 % of the labels moved to the next class, means of three seeds (standardize
// / standardize,bias / standardize,bias,l2): optdigits 0.182, 0.123, 0.126; letter 0.578, 0.454,
// 0.448. UMA makes 0.143 and 0.315 of the same (standardize,bias,l2, 1000 steps).
package classmean

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// params are the parameters of the class-mean classifier: none.
type params struct{}

// Defaults returns the parameters.
func Defaults() learners.Params { return &params{} }

func (*params) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "classmean",
		Summary: "the nearest class mean, from sums by noisy label that the inverse of C unmixes; one " +
			"reading of the data",
		Paper: "van Rooyen et al., Sparse robust classification via the kernel mean, equation 1; " +
			"nearest means: Rocchio, Relevance feedback in information retrieval (1971)",
		Step:     "the means of all classes; there is no second one",
		MaxSteps: 2,
		Weights:  []learners.Rule{learners.Last},
		New:      Defaults,
		Start: func(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
			return learners.BeginClassSums(problem, "classmean", nearest)
		},
	}
}

// nearest writes the weights of the nearest-mean classifier to w, which is 0.
func nearest(s *learners.ClassSums, w engine.Weights) error {
	sums, err := s.ByLabel()
	if err != nil {
		return err
	}
	m := make([]float32, w.D) // the columns of C⁻¹ sum to 1, so this is the mean whatever C is
	engine.UpdateVector(m, sums, slices.Repeat([]float32{1}, w.Q), s.Cells.FixedPoint())
	t, err := unit(s, m)
	if err != nil {
		return err
	}
	means(s, w, sums, m, t)
	return nil
}

// unit returns the t for which t·⟨m,x⟩ is nearest to 1 over all examples x, by least squares:
// Σ⟨m,x⟩ / Σ⟨m,x⟩², with scores by clause 1 and sums in float64 in the order of the examples.
func unit(s *learners.ClassSums, m []float32) (float64, error) {
	_, d, q := s.Cells.Shape()
	probe := engine.NewWeights(q, d)
	copy(probe.Row(0), m)
	if err := s.Cells.Rescore(probe, []int{0}); err != nil {
		return 0, err
	}
	var sum, squares float64
	err := learners.EachScores(s.Cells.Scorer, func(_ int, scores []float32) error {
		v := float64(scores[0])
		sum += v
		squares += v * v // exact, so that fused or not is the same
		return nil
	})
	if err != nil {
		return 0, err
	}
	if squares == 0 { // the examples have no mean to speak of
		return 0, nil
	}
	return sum / squares, nil
}

// means writes to w what scores by the distance to the means of the classes, m_q = z_q/π̂_q: z_q,
// the sum of class q over n, is clause 6's update vector of all examples, and π̂ clause 7's.
// Nearest is the mean for which ⟨m_q,x⟩ - ‖m_q‖²/2 is largest; W has no place for the second term.
// Where all examples have about the same product with their mean m, as with a bias column in any
// place, t·⟨m,x⟩ can stand for 1 (see unit). Row q is
//
//	m_q - m - (‖m_q‖² - ‖m‖²)/2 · t·m
//
// Taking the same off all rows changes no prediction; it keeps the scores near 0. Where nothing
// stands for 1, as with standardised features and no bias, t·m is about 0 and what is left is the
// largest product, which is as good only if the means are equally long.
func means(s *learners.ClassSums, w engine.Weights, sums []int64, m []float32, t float64) {
	mm, priors := learners.SquaredLength(m), s.Priors()
	for c := range w.Q {
		row := w.Row(c)
		s.Unmix(row, sums, c)
		scale := float32(1 / priors[c])
		for j := range row {
			row[j] *= scale
		}
		offset := float32(float64(learners.SquaredLength(row)-mm) / 2 * t)
		for j, v := range row {
			row[j] = numerics.FMA(-offset, m[j], v-m[j])
		}
	}
}
