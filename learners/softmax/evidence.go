package softmax

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// What is known of an example may be a set of candidate classes S, or a distribution f over
// classes, through C if there is one. The loss of a set is, as for annotators, by the likelihood of
// each class t,
//
//	-log Σ_t p_t Σ_{k in S} C[k][t],
//
// and EM has the posterior of that (Jin & Ghahramani, Learning with multiple labels, NIPS 2002; of
// complementary labels, Ishida et al., NIPS 2017, S is all but one). Of a distribution over right
// classes the loss is -Σ_k f_k log p_k. Through C it has no such form: EM has the posteriors of
// each label k, f_k of each, and backward correction, which is linear, the mean of the rows of C⁻¹.

// classesOf returns what is known of classes, n×Q; nil if each example has one.
func classesOf(problem *learners.Problem) []float32 {
	if problem.Evidence == nil {
		return nil
	}
	return problem.Evidence.Classes
}

// checkEvidence returns an error if the correction cannot learn from what is known.
func (p *Params) checkEvidence(problem *learners.Problem) error {
	if problem.Evidence == nil {
		return nil
	}
	learns := p.LearnConfusion || problem.Annotations != nil
	switch {
	case learns:
		return p.wrong("learn_confusion", "a confusion matrix to learn from examples of several "+
			"classes, or of weights that are not whole", "one class of each, of a whole weight, or a "+
			"confusion matrix")
	case problem.Evidence.Classes == nil:
		return nil
	case p.ClassWeights != learners.Equal:
		return p.wrong("class_weights", string(p.ClassWeights)+" with several classes of an example",
			string(learners.Equal))
	}
	sets, _, distributions := problem.Evidence.Sets(problem.Q)
	switch {
	case p.Correction == EM:
	case sets > 0 && p.Correction == Backward:
		return p.wrong("correction", "backward with candidate classes", "forward or em")
	case sets > 0 && distributions > 0:
		return p.wrong("correction", p.Correction+" with candidate classes and probabilities", "em")
	case distributions > 0 && p.Correction == Forward && problem.Noise != nil:
		return p.wrong("correction", "forward with probabilities and a confusion matrix",
			"em or backward, or none if the probabilities are of true classes")
	}
	return nil
}

// logsOf returns the logarithms of how likely what is known of each example is with each true
// class, n×Q.
func logsOf(known []float32, c []float64, q int) []float32 {
	likely := make([]float64, len(known))
	for i := range len(known) / q {
		row := likely[i*q : (i+1)*q]
		for k, f := range known[i*q : (i+1)*q] {
			if f == 0 {
				continue
			}
			for t := range row {
				row[t] += float64(float64(f) * c[k*q+t])
			}
		}
	}
	return logRows(likely, q)
}

// mixed returns, for each example, the mean of the rows of values of its labels: n×Q.
func mixed(known, values []float32, q int) []float32 {
	all := make([]float32, len(known))
	for i := range len(known) / q {
		row, sums, total := known[i*q:(i+1)*q], make([]float64, q), 0.0
		for k, f := range row {
			total += float64(f)
			for r := range sums {
				sums[r] += float64(f) * float64(values[k*q+r]) // exact but for the sum
			}
		}
		for r, v := range sums {
			all[i*q+r] = float32(v / total)
		}
	}
	return all
}

// count returns how many examples there are, by weight.
func count(problem *learners.Problem) float64 {
	e := problem.Evidence
	if e == nil || e.Weight == nil {
		return float64(len(problem.Y))
	}
	sum := 0.0
	for _, v := range e.Weight {
		sum += v
	}
	return sum
}

// counts returns how many examples have each label, by weight.
func counts(problem *learners.Problem) []float64 {
	e := problem.Evidence
	if e == nil || e.Weight == nil {
		return learners.CountLabels(problem.Y, problem.Q)
	}
	counts := make([]float64, problem.Q)
	for i, k := range problem.Y {
		counts[k] += e.Weight[i]
	}
	return counts
}

// blend turns the probabilities p of an example into the posterior of its class: the mean over
// labels k, weighted by f_k, of the posteriors given k.
func blend(p, f []float32, c []float64) {
	q := len(p)
	sums := make([]float64, q)
	for k, share := range f {
		label := 0.0
		for t, v := range p {
			label += float64(c[k*q+t] * float64(v))
		}
		if share == 0 || label == 0 {
			continue
		}
		for t, v := range p {
			sums[t] += float64(float64(share)*float64(c[k*q+t]*float64(v))) / label
		}
	}
	total := 0.0
	for _, v := range sums {
		total += v
	}
	for t, v := range sums {
		if total > 0 {
			p[t] = float32(v / total)
		}
	}
}

// hit returns how much of what is known of an example are its likeliest classes by scores s.
func hit(known, s []float32) (share float64) {
	most := slices.Max(s)
	for k, v := range s {
		if v == most {
			share = max(share, float64(known[k]))
		}
	}
	return share
}

// crossEntropy returns -Σ_k f_k log(p_k/all).
func crossEntropy(f []float32, p []float64, all float64) (loss float64) {
	for k, share := range f {
		if share == 0 {
			continue
		}
		least := float64(numerics.MostLoss)
		if v := float32(p[k] / all); v >= 0x1p-126 {
			least = -float64(numerics.Log(v))
		}
		loss += float64(float64(share) * least)
	}
	return loss
}
