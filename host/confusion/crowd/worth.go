package crowd

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Gains returns, for each annotator, how many consensus labels its votes on a are expected to
// correct: by how much more often than the most likely class of all other votes the consensus is
// right, by the posteriors and the annotator's matrix. It is 0 on examples of known class.
func (c *Result) Gains(a *dataset.Annotations) []float64 {
	q := len(c.Classes)
	gains, others := make([]float64, len(c.Annotators)), make([]float64, q)
	for i, class := range c.Consensus {
		by, label := a.Of(i)
		row := c.Posterior[i*q : (i+1)*q]
		for k, who := range by {
			if k > 0 && by[k-1] == who { // a further vote on the example
				continue
			}
			for t, v := range row {
				others[t] = float64(v)
				for at := k; at < len(by) && by[at] == who; at++ {
					others[t] /= max(c.Annotators[who].P[int(label[at])*q+t], leastRate)
				}
			}
			gains[who] += float64(row[class]) - float64(row[lists.Largest(others)])
		}
	}
	return gains
}

// Alike are two annotators that err alike on examples of known class.
type Alike struct {
	First, Second string
	Shared        int     // examples that both give the same wrong label
	Chance        float64 // expected number, if they erred independently
	Examples      int     // that both label
}

// Annotators err alike if they share this number of wrong labels, half of the wrong labels of one,
// and more than chance by surely standard deviations. By simulation the consensus is then worse
// with both than with either.
const leastShared = 5

// ErrAlike returns the pairs of annotators that err alike on the examples of known class, among
// the annotators with the most votes on these. Models of annotators count them as independent.
func ErrAlike(a *dataset.Annotations) (pairs []Alike) {
	known := lists.Where(a.N(), func(i int) bool { _, is := a.Known(i); return is })
	truth := lists.As[int32](known)
	for k, i := range known {
		truth[k], _ = a.Known(i)
	}
	votes := firstVotes(a.Pick(known))
	who := lists.Where(len(votes), func(k int) bool { return !a.Right[k] })
	slices.SortStableFunc(who, func(x, y int) int { return len(votes[y]) - len(votes[x]) })
	who = who[:min(mostVoters, len(who))]
	slices.Sort(who)
	for k, first := range who {
		for _, second := range who[k+1:] {
			is := Alike{First: a.Names[first], Second: a.Names[second]}
			classes, wrong := map[int32]float64{}, map[[2]int32]float64{} // of the second
			ones, others := 0, 0                                          // wrong labels
			both(votes[first], votes[second], func(example, one, other int32) {
				t := truth[example]
				is.Examples++
				if classes[t]++; other != t {
					wrong[[2]int32{t, other}]++
					others++
				}
				if one == other && one != t {
					is.Shared++
				}
			})
			both(votes[first], votes[second], func(example, one, _ int32) {
				if t := truth[example]; one != t {
					is.Chance += wrong[[2]int32{t, one}] / classes[t]
					ones++
				}
			})
			beyond := float64(is.Shared) - is.Chance
			if is.Shared >= leastShared && 2*is.Shared >= min(ones, others) &&
				beyond > surely*math.Sqrt(is.Chance) {
				pairs = append(pairs, is)
			}
		}
	}
	return pairs
}
