package clean

import (
	"cmp"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// part is a candidate with its weight in the model.
type part struct {
	*candidate
	share float64
}

const (
	// stackRounds are the rounds of climb.
	stackRounds = 200
	// priorRows is the weight of the shares by unchecked rows, in checked rows.
	priorRows = 2.0
	// leastOwn is the least ratio of right labels to the most frequent wrong label of a class in a
	// trusted estimate: a lower one explains ignorance of the model by wrong labels.
	leastOwn = 0.8
	// leastTold is the least informativeness of labels in a trusted estimate: 1 if all are right, 0 if
	// random.
	leastTold = 0.15
	// leastPart is the least weight of a part.
	leastPart = 0.02
)

// stack weights the candidates by the likelihood of their mixture on held-out rows (Smyth &
// Wolpert, Linearly combining density estimators via stacking, Machine Learning 36 (1999)): of
// checked rows, if there are enough, with the weights by all others as a prior. The model is of one
// kind: linear, unless kernel candidates have more weight and are clearly better. The largest
// weight is first.
func stack(c *cases, said []*candidate) []part {
	var able []*candidate
	var known [][]float64
	for _, s := range said {
		if s.models != nil && trusted(c, s, said) {
			able, known = append(able, s), append(known, likelihoods(c, s, said))
		}
	}
	if len(able) == 0 {
		return nil
	}
	var kinds [2][]*candidate
	var likely [2][][]float64
	curved := 0.0
	for k, share := range mixture(c, known) {
		kind := 0
		if able[k].way.kernel {
			kind, curved = 1, curved+share
		}
		kinds[kind], likely[kind] = append(kinds[kind], able[k]), append(likely[kind], known[k])
	}
	kind := 0
	if len(kinds[0]) == 0 || len(kinds[1]) > 0 && curved > 0.5 && surelyLikelier(likely) {
		kind = 1
	}
	return kept(kinds[kind], mixture(c, likely[kind]))
}

// mixture returns the weights of candidates from their likelihoods of each row.
func mixture(c *cases, known [][]float64) []float64 {
	var checked, others []int
	for k, i := range c.rows {
		if c.right[i] >= 0 && len(c.known) >= LeastRight {
			checked = append(checked, k)
		} else {
			others = append(others, k)
		}
	}
	shares := climb(known, others, make([]float64, len(known)))
	if checked != nil {
		for s := range shares {
			shares[s] *= priorRows
		}
		shares = climb(known, checked, shares)
	}
	return shares
}

// surelyLikelier reports whether the best mixture of the second kind beats that of the first by
// more than a standard error.
func surelyLikelier(kinds [2][][]float64) bool {
	var losses [2][]float64
	for kind, known := range kinds {
		all := lists.UpTo[int](len(known[0]))
		shares := climb(known, all, make([]float64, len(known)))
		losses[kind] = make([]float64, len(all))
		for i := range all {
			for s, share := range shares {
				losses[kind][i] += float64(share * known[s][i])
			}
			losses[kind][i] = surprise(losses[kind][i])
		}
	}
	better, off := ahead(losses[0], losses[1])
	return better > off
}

// climb returns the maximum-likelihood weights of a mixture, with a prior in units of rows, by
// rounds of
//
//	share[s]  ←  prior[s] + Σ_i share[s]·f_s(i) / Σ_r share[r]·f_r(i)
//
// normalised, where f_s(i) is the likelihood of row i under s.
func climb(f [][]float64, rows []int, prior []float64) []float64 {
	shares := slices.Repeat([]float64{1 / float64(len(f))}, len(f))
	if len(rows) == 0 {
		return shares
	}
	next := make([]float64, len(f))
	for range stackRounds {
		copy(next, prior)
		for _, i := range rows {
			sum := 0.0
			for s, share := range shares {
				sum += float64(share * f[s][i])
			}
			for s, share := range shares {
				next[s] += float64(share*f[s][i]) / sum
			}
		}
		all := lists.Sum(next)
		for s, v := range next {
			shares[s] = v / all
		}
	}
	return shares
}

// kept returns the parts with weight, normalised, the largest first.
func kept(said []*candidate, shares []float64) (parts []part) {
	all := 0.0
	for k, s := range said {
		if shares[k] >= leastPart {
			parts = append(parts, part{s, shares[k]})
			all += shares[k]
		}
	}
	for k := range parts {
		parts[k].share /= all
	}
	slices.SortStableFunc(parts, func(a, b part) int { return -cmp.Compare(a.share, b.share) })
	return parts
}

// trusted reports whether a candidate may be part of the model. Some class of its noise must be
// identified. Without checked rows, right labels must be about as frequent as any wrong one and
// more frequent than chance, and its predictions must not agree clearly less with the labels than
// the best candidate that trusts them.
func trusted(c *cases, s *candidate, said []*candidate) bool {
	switch {
	case s.noise == nil:
		return true
	case len(s.noise.Unidentified) == c.q:
		return false
	case len(c.known) >= LeastRight:
		return true
	}
	told := -1.0
	for t := range c.q {
		own := s.noise.P[t*c.q+t]
		told += own
		for p := range c.q {
			if p != t && own < float64(leastOwn*s.noise.P[p*c.q+t]) {
				return false
			}
		}
	}
	if told <= leastTold*float64(c.q-1) {
		return false
	}
	var best []float64
	for _, other := range said {
		if other.noise == nil && other.models != nil && !other.way.weighty && other.way.noise != alone {
			if misses := misses(c, other); best == nil || lists.Mean(misses) < lists.Mean(best) {
				best = misses
			}
		}
	}
	if best == nil {
		return true
	}
	better, off := ahead(best, misses(c, s))
	return better > -off
}

// misses returns for each unchecked row 1 if its most likely class is not its label, else 0.
func misses(c *cases, s *candidate) (missed []float64) {
	for k, i := range c.rows {
		if row := s.p[k*c.q : (k+1)*c.q]; c.right[i] < 0 {
			v := 1.0
			if row[c.data.Y[i]] == slices.Max(row) {
				v = 0
			}
			missed = append(missed, v)
		}
	}
	return missed
}

// likelihoods returns a candidate's likelihood of the true class, if known, or noisy label of each
// row. A candidate without noise of its own uses that of others.
func likelihoods(c *cases, s *candidate, said []*candidate) []float64 {
	noise := s.noise
	if s.way.noise == alone || s.way.weighty {
		noise = counted(said)
	}
	all := make([]float64, len(c.rows))
	for k, i := range c.rows {
		row := s.p[k*c.q : (k+1)*c.q]
		v := 0.0
		if t := c.right[i]; t >= 0 {
			v = float64(row[t])
		} else {
			v = labelled(row, int(c.data.Y[i]), noise)
		}
		all[k] = max(v, leastProbability)
	}
	return all
}

// counted returns the noise of the first candidate that has an estimate; nil for none.
func counted(said []*candidate) *estimate.Estimate {
	for _, s := range said {
		if s.noise != nil {
			return s.noise
		}
	}
	return nil
}

// labelled returns the probability of the noisy label y given probabilities p of the true classes.
func labelled(p []float32, y int, noise *estimate.Estimate) float64 {
	if noise == nil {
		return float64(p[y])
	}
	sum := 0.0
	for t, f := range p {
		sum += float64(noise.P[y*len(p)+t] * float64(f))
	}
	return sum
}

// blend returns the normalised weighted geometric mean of probabilities, which is what the weighted
// sum of scores gives.
func blend(parts []part, of func(part) ([]float32, error), q int) ([]float32, error) {
	if len(parts) == 1 {
		return of(parts[0])
	}
	var sums []float64
	for _, s := range parts {
		p, err := of(s)
		if err != nil {
			return nil, err
		}
		if sums == nil {
			sums = make([]float64, len(p))
		}
		for at, v := range p {
			sums[at] += float64(s.share * float64(numerics.Log(max(v, 0x1p-100))))
		}
	}
	p := lists.As[float32](sums)
	for at := 0; at < len(p); at += q {
		numerics.Softmax(p[at:at+q], p[at:at+q])
	}
	return p, nil
}
