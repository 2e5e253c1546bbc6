package crowd

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Contest is how the method was chosen: Subtypes, if the evidence and held-out labels are surely
// greater with subtypes of classes than without; else Mean.
type Contest struct {
	Chosen Method `json:"chosen"`
	// HeldOut is the mean logarithm of the probability of a held-out label; 0 if not tried.
	HeldOut map[Method]float64 `json:"held_out"`
	Weights map[Method]float64 `json:"weights"`  // in Mean: the likelihoods of a few held-out labels
	Bound   float64            `json:"evidence"` // bound of its log with subtypes less without
	// Lead is the mean log probability of held-out labels with subtypes less without, and Error its
	// standard error over examples. Both are 0 unless Bound is positive.
	Lead  float64 `json:"lead"`
	Error float64 `json:"standard_error"`
}

// surely is by how many standard errors subtypes must lead.
const surely = 3

// weighed is how many held-out labels weigh a model of Mean: the posteriors are averaged by the
// likelihoods of this number of labels (docs/confusion.md).
const weighed = 20

// heldFolds is how many parts the labels are held out in.
const heldFolds = 5

// Of so many labels one part is held out.
const manyLabels = 1 << 20

// heldRounds bounds the rounds of fits of a contest.
const heldRounds = 50

// mostWork bounds the labels times states of a fit with subtypes.
const mostWork = 1 << 26

// contest chooses the method.
func contest(ctx context.Context, a *dataset.Annotations) (*Contest, error) {
	q := len(a.Classes)
	c := &Contest{HeldOut: make(map[Method]float64), Weights: make(map[Method]float64)}
	// Known examples would get subtypes of their own.
	if a.Right == nil && (len(a.By)+len(a.Names)*q)*q*subtypes <= mostWork {
		one, err := fitSubtypes(ctx, a, 1, heldRounds)
		if err != nil {
			return nil, err
		}
		many, err := fitSubtypes(ctx, a, subtypes, 2*heldRounds)
		if err != nil {
			return nil, err
		}
		c.Bound = many.bound - one.bound
	}
	seen, lead, labels := colour(a), make([]float64, a.N()), 0.0
	folds := heldFolds
	if len(a.By) > manyLabels {
		folds = 1
	}
	for fold := range folds {
		rest, held := seen.part(a, fold)
		labels += float64(len(held.By))
		models, err := fitMatrices(ctx, rest, ofMean, heldRounds)
		if err != nil {
			return nil, err
		}
		for _, m := range models {
			m.heldOut(held, func(_ int, log float64) { c.HeldOut[m.method] += log })
		}
		if c.Bound <= 0 {
			continue
		}
		for k, each := range []int{1, subtypes} {
			m, err := fitSubtypes(ctx, rest, each, heldRounds)
			if err != nil {
				return nil, err
			}
			m.heldOut(held, func(i int, log float64) {
				lead[i] += float64(2*k-1) * log
				c.HeldOut[Subtypes] += float64(k) * log
			})
		}
	}
	squares := 0.0
	for method := range c.HeldOut {
		c.HeldOut[method] /= max(labels, 1)
	}
	for _, v := range lead {
		squares += float64(v * v)
	}
	c.Lead, c.Error = lists.Sum(lead)/max(labels, 1), math.Sqrt(squares)/max(labels, 1)
	if c.Chosen = Mean; c.Bound > 0 && c.Lead > surely*c.Error {
		c.Chosen = Subtypes
	}
	most, total := math.Inf(-1), 0.0
	for _, method := range ofMean {
		most = max(most, c.HeldOut[method])
	}
	for _, method := range ofMean {
		c.Weights[method] = math.Exp(float64(weighed * (c.HeldOut[method] - most)))
		total += c.Weights[method]
	}
	for _, method := range ofMean {
		c.Weights[method] /= total
	}
	return c, nil
}

// heldOut gives use the example of each held-out label, and the logarithm of its probability.
func (m *em) heldOut(held *dataset.Annotations, use func(i int, log float64)) {
	q, s := m.q, m.states
	p := make([]float64, s)
	for i := range held.N() {
		by, label := held.Of(i)
		if len(by) == 0 {
			continue
		}
		restBy, restLabel := m.a.Of(i)
		m.posteriorOf(p, restBy, restLabel)
		for k, who := range by {
			sum := 0.0
			for c, v := range p {
				at := (int(who)*q+int(label[k]))*s + c
				rate := m.matrices[at]
				if m.method == Subtypes {
					total := float64(priorRight + priorWrong*(q-1))
					for other := range q {
						total += float64(m.sums[(int(who)*q+other)*s+c]) / posteriorUnit
					}
					rate = m.concentration(at, int(label[k]), c*q/s) / total
				}
				sum += float64(v * rate)
			}
			use(i, math.Log(sum))
		}
	}
}
