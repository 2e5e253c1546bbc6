package trees

import (
	"cmp"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// split parts the examples of a node in two.
type split struct {
	gain    float64 // above 0; 0 for no split
	feature int
	left    engine.BinSet
}

// criterion scores the splits of a tree by sums over bins, of bins × width.
type criterion interface {
	// width is how many sums a bin has.
	width() int
	// order returns the bins of a category that have examples, in the order in which they are cut.
	order(sums, totals []int64) []int
	// best returns the best cut between bins from 1 on, with bin 0 on either side: of equals the
	// lowest, with bin 0 on the right. An empty bin 0 goes to the larger side. totals are the sums of
	// all bins.
	best(sums, totals []int64, category bool) split
	// luck is what each level of a category beyond freeLevels adds to the gain by chance.
	luck(totals []int64) float64
}

// freeLevels is how many levels of a category gain no more by chance than numbers do.
const freeLevels = 6

// bestOf returns the best split of a feature, whose bins have these sums.
func bestOf(c criterion, sums, totals []int64, category bool) split {
	if !category {
		return c.best(sums, totals, false)
	}
	w := c.width()
	order := c.order(sums, totals)
	sorted := make([]int64, w, w+w*len(order)) // without missing values, which are a level here
	for _, b := range order {
		sorted = append(sorted, sums[w*b:w*(b+1)]...)
	}
	s := c.best(sorted, totals, true)
	if more := len(order) - freeLevels; more > 0 {
		s.gain -= float64(float64(more) * c.luck(totals))
	}
	if s.gain <= 0 {
		return split{}
	}
	// Levels without examples are as missing values.
	found := split{gain: s.gain, left: upTo(len(sums)/w-1, true)}
	if !s.left.Has(0) {
		found.left = engine.BinSet{}
	}
	for k, b := range order {
		if s.left.Has(uint8(k + 1)) {
			found.left[b/64] |= 1 << (b % 64)
		} else {
			found.left[b/64] &^= 1 << (b % 64)
		}
	}
	return found
}

// unit is what 1 in the sums of gradients stands for.
const unit = 0x1p-18

// gradients scores by how much one Newton step in each part lowers the loss.
type gradients struct {
	l2    float64 // λ
	least float64 // h in a part at least
}

func (c *gradients) width() int { return 2 }

// rounding is the share of a node's score below which a gain is but an error of rounding.
const rounding = 1e-9

// levelled is what is added to λ for a category, and to h where its levels are sorted, lest levels
// of few examples come first and last by chance.
const levelled = 10

func (c *gradients) order(sums, _ []int64) []int {
	slopes := make([]float64, len(sums)/2)
	var order []int
	for b := range slopes {
		if g, h := sums[2*b], sums[2*b+1]; h != 0 || g != 0 {
			order = append(order, b)
			slopes[b] = float64(g) * unit / (float64(float64(h)*unit) + levelled)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(slopes[a], slopes[b]) })
	return order
}

func (c *gradients) best(sums, totals []int64, category bool) split {
	l2 := c.l2
	if category {
		l2 += levelled
	}
	g, h := totals[0], totals[1]
	g0, h0 := sums[0], sums[1]
	gaps := g0 != 0 || h0 != 0
	whole := score(g, h, l2)
	least := max(1, int64(math.Ceil(c.least/unit)))
	best, at, missing := float64(rounding*whole), 0, false
	gl, hl := int64(0), int64(0)
	for b := 2; b < len(sums); b += 2 {
		gl += sums[b]
		hl += sums[b+1]
		if hl >= least && h-hl >= least {
			gain := score(gl, hl, l2) + score(g-gl, h-hl, l2) - whole
			if gain > best {
				best, at, missing = gain, b/2, !gaps && 2*hl > h
			}
		}
		if gaps && hl+h0 >= least && h-hl-h0 >= least {
			gain := score(gl+g0, hl+h0, l2) + score(g-gl-g0, h-hl-h0, l2) - whole
			if gain > best {
				best, at, missing = gain, b/2, true
			}
		}
	}
	if at == 0 {
		return split{}
	}
	return split{gain: best, left: upTo(at, missing)}
}

// luck returns the gain that chance gives each level, in units of the score. The sum of a level's
// gradients has variance h, and a cut between sorted levels gains 2/π of it.
func (c *gradients) luck([]int64) float64 { return 0.64 }

// score is G²/(H+λ), twice what a Newton step gains.
func score(g, h int64, l2 float64) float64 {
	v := float64(g) * unit
	return float64(v*v) / (float64(float64(h)*unit) + l2)
}

// counts scores by how pure the parts are: by Σ_k n_k²/n, Gini's index but for signs.
type counts struct {
	q     int
	least int64 // examples in a part
}

func (c *counts) width() int { return c.q }

func (c *counts) order(sums, totals []int64) []int {
	most := 0
	for k, n := range totals {
		if n > totals[most] {
			most = k
		}
	}
	shares := make([]float64, len(sums)/c.q)
	var order []int
	for b := range shares {
		if n := total(sums[b*c.q : (b+1)*c.q]); n > 0 {
			order = append(order, b)
			shares[b] = float64(sums[b*c.q+most]) / float64(n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[a], shares[b]) })
	return order
}

func (c *counts) best(sums, totals []int64, _ bool) split {
	q := c.q
	spare := make([]int64, 2*q)
	left, more := spare[:q], spare[q:]
	missing := sums[:q]
	n, n0, nl := total(totals), total(missing), int64(0)
	whole := purity(totals, n)
	best, at, withMissing := float64(rounding*whole), 0, false
	for b := q; b+q <= len(sums); b += q {
		if sums[b]|sums[b+1] == 0 && (q == 2 || total(sums[b+2:b+q]) == 0) {
			continue // most bins of most nodes
		}
		for k, v := range sums[b : b+q] {
			nl += v
			left[k] += v
		}
		if nl >= c.least && n-nl >= c.least {
			if gain := parted(left, totals, nl, n) - whole; gain > best {
				best, at, withMissing = gain, b/q, n0 == 0 && 2*nl > n
			}
		}
		if n0 > 0 && nl+n0 >= c.least && n-nl-n0 >= c.least {
			for k, v := range missing {
				more[k] = left[k] + v
			}
			if gain := parted(more, totals, nl+n0, n) - whole; gain > best {
				best, at, withMissing = gain, b/q, true
			}
		}
	}
	if at == 0 {
		return split{}
	}
	return split{gain: best, left: upTo(at, withMissing)}
}

// luck: levels of few examples are pure by chance.
func (c *counts) luck(totals []int64) float64 {
	n := total(totals)
	return 2 * (1 - float64(purity(totals, n)/float64(n)))
}

// purity returns Σ_k n_k²/n.
func purity(counts []int64, n int64) float64 {
	sum := 0.0
	for _, v := range counts {
		sum += float64(float64(v) * float64(v))
	}
	return sum / float64(n)
}

// parted returns the purity of nl examples on the left, and of the others of n.
func parted(left, totals []int64, nl, n int64) float64 {
	suml, sumr := 0.0, 0.0
	for k, v := range left {
		l, r := float64(v), float64(totals[k]-v)
		suml += float64(l * l)
		sumr += float64(r * r)
	}
	return suml/float64(nl) + sumr/float64(n-nl)
}

func total(counts []int64) (n int64) {
	for _, v := range counts {
		n += v
	}
	return n
}

// upTo is the set of bins 1 to last, and bin 0 if missing is set.
func upTo(last int, missing bool) (s engine.BinSet) {
	for w := range s {
		if n := last + 1 - 64*w; n >= 64 {
			s[w] = ^uint64(0)
		} else if n > 0 {
			s[w] = 1<<n - 1
		}
	}
	if !missing {
		s[0] &^= 1
	}
	return s
}
