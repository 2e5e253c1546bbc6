package clean

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Hypothesis is a confusion matrix that may explain the labels.
type Hypothesis struct {
	Method string `json:"method"`
	// Loss is the mean of -log P(label) of held-out labels. Ahead is how much lower that is than of
	// labels as they are, and Error its standard error.
	Loss   float64 `json:"loss"`
	Ahead  float64 `json:"ahead"`
	Error  float64 `json:"standard_error"`
	Weight float64 `json:"weight"` // in the result; they sum to 1
}

// verdict is what all hypotheses together say.
type verdict struct {
	hypotheses []Hypothesis
	noise      *estimate.Estimate // the mean of the hypotheses
	// Each label is judged by two confusion matrices. even unmixes the predicted probabilities of
	// labels into probabilities of true classes; doubt is the likelihood of the label given the true
	// class. If noise is the identity, doubt is the confident joint, and even has one error rate, the
	// rate at which predictions and labels differ. If predictions agree with labels no more often
	// than by chance, even stays the identity and doubt has that error rate.
	doubt, even []float64
	shown       bool
}

// The rule. A hypothesis counts by its lead over labels as they are in standard errors, less a unit
// of log-likelihood for each rate of wrong labels, and less the standard errors by which its
// classes agree less with the labels; logarithms of weights are temper times that. Checked examples
// add the logarithms of their likelihood. A class whose own label is less than fullMargin more
// frequent than another one keeps its labels in proportion.
const (
	temper     = 2.0
	leastRate  = 0.02
	fullMargin = 0.1
	rareWrong  = 0.01 // rate of wrong labels, if labels are right
)

// The examples for each class below which no noise is estimated, and the classes above which none
// is: the time is cubic in them.
const (
	fewRows    = 4
	mostJudged = 200
)

// judge weighs the hypotheses by the out-of-fold probabilities of labels.
func (c *contest) judge(ctx context.Context, p []float32) (*verdict, error) {
	q := c.q
	if c.Given != nil {
		return taken(c), ctx.Err()
	}
	right, err := confusion.Symmetric(c.part.Classes, 0)
	if err != nil {
		return nil, err
	}
	right.Error = make([]float64, q*q)
	kept := &estimate.Estimate{Matrix: *right, Method: estimate.AllRight, Assumes: "labels are right"}
	list := []*estimate.Estimate{kept}
	if q <= mostJudged && (c.Probabilities != nil || len(c.rows) >= fewRows*q) {
		more, err := estimates(ctx, c, p)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	v, weights := weigh(ctx, c, p, list)
	if err := combine(c, v, p, list, weights); err != nil {
		return nil, err
	}
	return v, ctx.Err()
}

// estimates returns the confusion matrices that compete.
func estimates(ctx context.Context, c *contest, p []float32) (list []*estimate.Estimate,
	err error) {
	e := estimate.Evidence{Classes: c.part.Classes, Y: c.given, P: p, Known: c.truth}
	if c.near != nil {
		e.Near, e.Neighbours = c.near.Index, c.near.K
	}
	found, err := estimate.FromEvidence(ctx, e)
	if err != nil {
		return nil, err
	}
	for k, one := range found.Candidates {
		if k != found.Right {
			list = append(list, one.Estimate)
		}
	}
	joint, err := estimate.ConfidentJoint(c.part.Classes, c.part.Y, p, true)
	if err != nil {
		return nil, err
	}
	list = append(list, joint)
	return list, nil
}

// weigh returns the hypotheses. The first one is that labels are right.
func weigh(ctx context.Context, c *contest, p []float32, list []*estimate.Estimate) (*verdict,
	[]float64) {
	v := new(verdict)
	some := lists.Where(len(c.rows), func(i int) bool { return c.given[i] >= 0 && c.truth[i] < 0 })
	var losses []float64 // of labels as they are
	var unsure float64   // the entropy of classes under that
	slight := slightly
	if c.Probabilities != nil {
		slight = slightlySupplied
	}
	hits := engine.Predicted(p, c.q)
	logs := make([]float64, len(list))
	for k, e := range list {
		classes, _, loss := explain(ctx, c, p, e.P, some)
		h := Hypothesis{Method: e.Method, Loss: lists.Mean(loss)}
		logs[k] = ofChecked(c, e.P, k == 0)
		entropy := entropy(classes, c.q, some)
		if k == 0 {
			losses, unsure = loss, entropy
		} else {
			n := float64(len(some))
			h.Ahead, h.Error = ahead(losses, loss)
			lead := float64(n*h.Ahead) - float64(rates(e.P, c.q)) + float64(slight*(unsure-entropy))
			lead /= max(1, float64(n*h.Error))
			fewer, off := agreesLess(c, hits, engine.Predicted(classes, c.q), some)
			logs[k] += temper * (lead - max(0, fewer/max(off, 1/max(1, n))))
		}
		v.hypotheses = append(v.hypotheses, h)
	}
	// The estimates share what the best of them gets from labels as they are.
	weights := make([]float64, len(list))
	weights[0] = 1
	if len(list) > 1 {
		best := slices.Max(logs[1:])
		doubted := 1 / (1 + math.Exp(logs[0]-best))
		sum := 0.0
		for k, l := range logs[1:] {
			weights[k+1] = math.Exp(l - best)
			sum += weights[k+1]
		}
		for k := range logs[1:] {
			weights[k+1] *= doubted / sum
		}
		weights[0] = 1 - doubted
	}
	for k := range v.hypotheses {
		v.hypotheses[k].Weight = weights[k]
	}
	return v, weights
}

// Of hypotheses that explain the labels equally well, the one in which features tell the classes is
// right: a unit of entropy counts as slightly units of log-likelihood. Supplied probabilities may
// come from a model that predicts the noisy labels as well as any hypothesis does.
const (
	slightly         = 0.002
	slightlySupplied = 0.01
)

// entropy returns the sum of the entropies of the classes of some examples.
func entropy(p []float32, q int, some []int) (sum float64) {
	for _, i := range some {
		for _, v := range p[i*q : (i+1)*q] {
			sum -= float64(float64(v) * float64(numerics.Log(max(v, leastShare))))
		}
	}
	return sum
}

// rates counts the rates that tell a matrix from one without wrong labels, or from one rate of
// them, whichever is less.
func rates(m []float64, q int) int {
	mean := 0.0
	for at, v := range m {
		if at/q != at%q {
			mean += v / float64(q*(q-1))
		}
	}
	some, apart := 0, 1
	for at, v := range m {
		if at/q == at%q {
			continue
		}
		if v > leastRate {
			some++
		}
		if math.Abs(v-mean) > leastRate {
			apart++
		}
	}
	return min(some, apart)
}

// blend returns the mean of a and b in which a has the given share.
func blend(share, a, b float64) float64 { return float64(share*a) + float64((1-share)*b) }

// agreesLess returns by how much less often classes agree with some labels than others do, and the
// standard error.
func agreesLess(c *contest, with, classes []int32, some []int) (fewer, off float64) {
	y := lists.At(c.given, some)
	a, b := agreement(lists.At(with, some), y), agreement(lists.At(classes, some), y)
	return ahead(a, b)
}

// agreement has 1 where two labels are the same, else 0.
func agreement(a, b []int32) []float64 {
	is := make([]float64, len(a))
	for i, k := range a {
		if k == b[i] {
			is[i] = 1
		}
	}
	return is
}

// beyondChance returns from 0 to 1 how surely predictions agree with labels more often than by
// chance: 0 up to two standard errors, 1 from four on.
func beyondChance(hits, y []int32, q int) float64 {
	predicted, labels, n := make([]float64, q), make([]float64, q), float64(len(y))
	for i, k := range y {
		predicted[hits[i]]++
		labels[k]++
	}
	chance := 0.0
	for k, v := range predicted {
		chance += v / n * labels[k] / n
	}
	off := math.Sqrt(chance * (1 - chance) / n)
	excess := lists.Mean(agreement(hits, y)) - chance
	return max(0, min(1, (excess/max(off, 1/n)-2)/2))
}

// ofChecked returns the log-likelihood of the labels of checked examples.
func ofChecked(c *contest, m []float64, right bool) (sum float64) {
	for i, t := range c.truth {
		if y := c.given[i]; t >= 0 && y >= 0 {
			v := m[int(y)*c.q+int(t)]
			if right {
				if v = 1 - rareWrong; y != t {
					v = rareWrong / float64(c.q-1)
				}
			}
			sum -= surprise(max(v, rareWrong/2/float64(c.q)))
		}
	}
	return sum
}

// powers sharpen probabilities: what is unmixed is not surer than labels make it likely.
var powers = [...]float64{1, 1.25, 1.5, 2}

// explain returns the probabilities of the true classes, unmixed by the noise m and sharpened by
// the power that makes some labels likeliest, and their losses.
func explain(ctx context.Context, c *contest, p []float32, m []float64, some []int) (
	classes []float32, power float64, losses []float64) {
	q := c.q
	logs := unmixedLogs(ctx, p, m, q)
	for _, a := range powers {
		t := sharpened(logs, a, q)
		loss := make([]float64, len(some))
		parallel.Ranges(len(some), 1<<8, func(from, to int) {
			for k := from; k < to; k++ {
				i, v := some[k], 0.0
				row := m[int(c.given[i])*q : (int(c.given[i])+1)*q]
				for t, f := range t[i*q : (i+1)*q] {
					v += float64(row[t] * float64(f))
				}
				loss[k] = surprise(v)
			}
		})
		if losses == nil || lists.Sum(loss) < lists.Sum(losses) {
			classes, power, losses = t, a, loss
		}
	}
	return classes, power, losses
}

// power returns the power for probabilities p of the contest's labels under the noise m. Supplied
// ones stay as they are under a given matrix.
func (c *contest) power(ctx context.Context, p []float32, m []float64) float64 {
	if c.Given != nil && c.Probabilities != nil || c.q > mostJudged {
		return 1
	}
	some := lists.Where(len(c.rows), func(i int) bool { return c.given[i] >= 0 && c.truth[i] < 0 })
	_, power, _ := explain(ctx, c, p, m, some)
	return power
}

// unmixedLogs returns the logarithms of probabilities of labels, unmixed by the noise m.
func unmixedLogs(ctx context.Context, p []float32, m []float64, q int) []float32 {
	logs := slices.Clone(p)
	estimate.Unmix(ctx, logs, m, q)
	parallel.Ranges(len(logs), 1<<12, func(from, to int) {
		for at := from; at < to; at++ {
			logs[at] = numerics.Log(max(logs[at], leastShare))
		}
	})
	return logs
}

// sharpened returns normalised powers of probabilities, given their logarithms.
func sharpened(logs []float32, power float64, q int) []float32 {
	p := make([]float32, len(logs))
	parallel.Ranges(len(logs)/q, 1<<8, func(from, to int) {
		for at := from * q; at < to*q; at += q {
			for k, v := range logs[at : at+q] {
				p[at+k] = float32(power * float64(v))
			}
			numerics.Softmax(p[at:at+q], p[at:at+q])
		}
	})
	return p
}

// mostDoubted is the share of labels that are doubted at most where nothing shows that labels are
// wrong, and the probabilities are not supplied.
const mostDoubted = 1.0 / 3

// mostUnknown is by how much the share of right labels of an identified class may be off.
const mostUnknown = 0.1

// disagreements returns, for each class, the share of labels that are another one, of the examples
// for which the class is predicted or of the probabilities p of the class, whichever is larger; 1
// if none is predicted.
func disagreements(p []float32, hits, y []int32, q int) []float64 {
	other, n := make([]float64, q), make([]float64, q)
	unsure, all := make([]float64, q), make([]float64, q)
	for i, k := range hits {
		n[k]++
		if y[i] != k {
			other[k]++
		}
		for t, v := range p[i*q : (i+1)*q] {
			all[t] += float64(v)
			if int(y[i]) != t {
				unsure[t] += float64(v)
			}
		}
	}
	for k := range other {
		if n[k] == 0 {
			other[k] = 1
			continue
		}
		other[k] = max(other[k]/n[k], unsure[k]/all[k])
	}
	return other
}

// combine sets the noise of v, the mean of the estimates.
func combine(c *contest, v *verdict, p []float32, list []*estimate.Estimate, weights []float64,
) error {
	q, doubted := c.q, 1-weights[0]
	mean := make([]float64, q*q)
	for k, e := range list[1:] {
		for at, f := range e.P {
			mean[at] += float64(weights[k+1]*f) / max(doubted, math.SmallestNonzeroFloat64)
		}
	}
	hits := engine.Predicted(p, q)
	wrong := 1 - lists.Mean(agreement(hits, c.part.Y)) // at most
	switch wrong = min(wrong, 0.9*(1-1/float64(q))); {
	case q > mostJudged:
		wrong = 0
	case c.Probabilities == nil:
		wrong = min(wrong, mostDoubted)
	}
	able := beyondChance(hits, c.part.Y, q)
	disagreement := disagreements(p, hits, c.part.Y, q)
	heaviest := list[lists.Largest(weights)]
	m := confusion.Matrix{Classes: c.part.Classes, P: make([]float64, q*q),
		Error: make([]float64, q*q)}
	v.doubt, v.even = make([]float64, q*q), make([]float64, q*q)
	joint, err := estimate.ConfidentJoint(c.part.Classes, c.part.Y, p, true)
	if err != nil {
		return err
	}
	v.noise = &estimate.Estimate{Matrix: m, Method: "a mean of hypotheses",
		Assumes: "noise depends on the class alone, and the features determine most classes"}
	trusts := make([]float64, q) // in the estimates, of each class
	for t := range q {
		other := 0.0
		for y := range q {
			if y != t {
				other = max(other, mean[y*q+t])
			}
		}
		trust := doubted * min(1, max(0, (mean[t*q+t]-other)/fullMargin))
		for y := range q {
			at := y*q + t
			keep, miss := 0.0, wrong/float64(q-1)
			if y == t {
				keep, miss = 1, 1-wrong
			}
			m.P[at] = blend(trust, mean[at], keep)
			v.even[at] = blend(trust, mean[at], blend(able, miss, keep))
			v.doubt[at] = blend(trust, mean[at], blend(able, joint.P[at], miss))
			for k, e := range list {
				off := e.P[at] - m.P[at]
				m.Error[at] += weights[k] * (float64(off*off) + float64(e.Error[at]*e.Error[at]))
			}
			m.Error[at] = min(1, math.Sqrt(m.Error[at]))
		}
		trusts[t] = trust
	}
	missed := 0.0
	for _, y := range c.part.Y {
		missed += (1 - m.P[int(y)*q+int(y)]) / float64(len(c.part.Y))
	}
	v.shown = doubted > fullyShown && missed > leastShown
	for t, trust := range trusts {
		// What no noise explains may be noise all the same, if classes overlap as much.
		unknown := m.Error[t*q+t]
		if !v.shown {
			unknown = max(unknown, disagreement[t])
		}
		if unknown > mostUnknown || doubted > 0.5 && (trust < 0.5 || !heaviest.Identified(t)) {
			v.noise.Unidentified = append(v.noise.Unidentified, t)
		}
	}
	return count(c, v)
}

// count joins checked examples with the noise of v, their prior.
func count(c *contest, v *verdict) error {
	both := lists.Where(len(c.rows), func(i int) bool { return c.given[i] >= 0 && c.truth[i] >= 0 })
	if both == nil {
		return nil
	}
	counts, err := estimate.CountLabels(c.q, lists.At(c.given, both), lists.At(c.truth, both))
	if err != nil {
		return err
	}
	joined := *v.noise
	joined.P, joined.Error = slices.Clone(joined.P), slices.Clone(joined.Error)
	joined.Join(counts)
	for t := range c.q {
		n := 0.0
		for y := range c.q {
			n += counts[y*c.q+t]
		}
		left := estimate.FewExamples / (estimate.FewExamples + n) // what is checked is doubted less
		for y := range c.q {
			at := y*c.q + t
			v.doubt[at] = max(0, joined.P[at]+float64(left*(v.doubt[at]-v.noise.P[at])))
			v.even[at] = max(0, joined.P[at]+float64(left*(v.even[at]-v.noise.P[at])))
		}
	}
	joined.Method += ", with checked examples"
	numerics.NormaliseColumns(v.doubt, c.q)
	numerics.NormaliseColumns(v.even, c.q)
	v.noise = &joined
	wrong := lists.Count(both, func(i int) bool { return c.given[i] != c.truth[i] })
	low, _ := wilson(wrong, len(both))
	v.shown = v.shown || low >= leastShown
	return nil
}

// Labels are shown to be wrong by estimates with more than the weight fullyShown, which is a lead
// of half a standard error, and with more than the share leastShown of wrong labels.
const (
	fullyShown = 0.73
	leastShown = 0.01
)

// taken is the verdict of a given matrix.
func taken(c *contest) *verdict {
	m := c.givenMatrix()
	return &verdict{noise: &estimate.Estimate{Matrix: *m, Method: "given"}, doubt: m.P, even: m.P,
		shown: true}
}

// givenMatrix returns the given matrix with the classes of the contest.
func (c *contest) givenMatrix() *confusion.Matrix {
	m := &confusion.Matrix{Classes: c.part.Classes, P: make([]float64, c.q*c.q)}
	for y, from := range c.classes {
		for t, to := range c.classes {
			m.P[y*c.q+t] = c.Given.P[from*c.q+to]
		}
	}
	return m
}

// ahead returns by how much b is less than a on average, and the standard error of that.
func ahead(a, b []float64) (better, deviation float64) {
	return lists.MeanError(len(a), func(k int) float64 { return a[k] - b[k] })
}
