package crowd

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Agreement is how far voters agree beyond chance: 1 for always, 0 as by chance. Shares that
// nothing tells are nil.
type Agreement struct {
	Alpha  *float64         `json:"krippendorff_alpha"` // of all votes
	Fleiss *float64         `json:"fleiss_kappa"`       // nil unless examples have equally many votes
	Pairs  []PairAgreement  `json:"pairs"`              // the most examples in common first
	Voters []VoterAgreement `json:"voters"`
}

// PairAgreement is Cohen's kappa of two voters, by the first votes on the examples in common.
type PairAgreement struct {
	First    string   `json:"first"`
	Second   string   `json:"second"`
	Examples int      `json:"examples"` // in common
	Kappa    *float64 `json:"cohen_kappa"`
}

// VoterAgreement is how often a voter agrees with the consensus.
type VoterAgreement struct {
	Name    string     `json:"name"`
	Votes   int        `json:"votes"`
	Right   *float64   `json:"right"`    // share of its votes
	ByClass []*float64 `json:"by_class"` // by the class of the consensus
}

// MostPairs is how many pairs of voters Agree tells of, among the voters with the most votes.
const MostPairs = 1000

// Agree returns the agreement of the votes of a, with each other and with the consensus, a class of
// each example or dataset.Unlabelled.
func Agree(a *dataset.Annotations, consensus []int32) *Agreement {
	return &Agreement{Alpha: alpha(a), Fleiss: fleiss(a), Pairs: pairs(a),
		Voters: voters(a, consensus)}
}

// beyond returns the agreement beyond chance, nil if chance alone agrees always.
func beyond(found, chance float64) *float64 {
	if chance >= 1 {
		return nil
	}
	return new((found - chance) / (1 - chance))
}

// alpha returns Krippendorff's for nominal data (Krippendorff, Computing Krippendorff's
// alpha-reliability, 2011): of n votes on examples with two or more, n_k for class k, and m on an
// example, n_ik for class k,
//
//	1 - (n-1)·Σ_i (m² - Σ_k n_ik²)/(m-1) / (n² - Σ_k n_k²)
func alpha(a *dataset.Annotations) *float64 {
	votes, classes, apart := 0.0, make([]float64, len(a.Classes)), 0.0
	for i := range a.N() {
		_, labels := a.Of(i)
		m := float64(len(labels))
		if m < 2 {
			continue
		}
		votes += m
		same := 0.0
		for _, n := range counted(labels, classes) {
			same += float64(n * n)
		}
		apart += (m*m - same) / (m - 1)
	}
	chance := votes * votes
	for _, n := range classes {
		chance -= float64(n * n)
	}
	if chance == 0 { // no votes, or of one class
		return nil
	}
	return new(1 - (votes-1)*apart/chance)
}

// counted returns how often each class is in labels, and adds that to sums.
func counted(labels []int32, sums []float64) map[int32]float64 {
	counts := make(map[int32]float64, len(labels))
	for _, k := range labels {
		counts[k]++
		sums[k]++
	}
	return counts
}

// fleiss returns the kappa of Fleiss (Measuring nominal scale agreement among many raters, 1971);
// nil unless all examples with votes have equally many, and at least two.
func fleiss(a *dataset.Annotations) *float64 {
	m, examples, classes, same := 0, 0.0, make([]float64, len(a.Classes)), 0.0
	for i := range a.N() {
		_, labels := a.Of(i)
		switch {
		case len(labels) == 0:
			continue
		case len(labels) == 1 || m > 0 && len(labels) != m:
			return nil
		}
		m = len(labels)
		examples++
		for _, n := range counted(labels, classes) {
			same += float64(n * (n - 1))
		}
	}
	if examples == 0 {
		return nil
	}
	votes, chance := examples*float64(m), 0.0
	for _, n := range classes {
		chance += float64(n / votes * (n / votes))
	}
	return beyond(same/(votes*float64(m-1)), chance)
}

// mostVoters is how many voters Agree pairs: those with the most votes.
const mostVoters = 200

// pairs returns the pairs of voters with examples in common, at most MostPairs.
func pairs(a *dataset.Annotations) []PairAgreement {
	m, votes, list := len(a.Names), firstVotes(a), []PairAgreement{}
	most := make([]int, m) // the voters, those with the most votes first
	for k := range most {
		most[k] = k
	}
	slices.SortStableFunc(most, func(x, y int) int { return len(votes[y]) - len(votes[x]) })
	most = most[:min(mostVoters, m)]
	slices.Sort(most)
	for k, first := range most {
		for _, second := range most[k+1:] {
			n, kappa := cohen(votes[first], votes[second], len(a.Classes))
			if n > 0 {
				list = append(list, PairAgreement{a.Names[first], a.Names[second], n, kappa})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y PairAgreement) int { return y.Examples - x.Examples })
	return list[:min(MostPairs, len(list))]
}

// vote is a label of an example.
type vote struct{ example, label int32 }

// firstVotes returns the first vote of each voter on its examples, in their order.
func firstVotes(a *dataset.Annotations) [][]vote {
	votes := make([][]vote, len(a.Names))
	for i := range a.N() {
		by, labels := a.Of(i)
		for k, who := range by {
			if k == 0 || by[k-1] != who {
				votes[who] = append(votes[who], vote{int32(i), labels[k]})
			}
		}
	}
	return votes
}

// cohen returns how many examples two voters have in common, and the kappa of Cohen (A coefficient
// of agreement for nominal scales, 1960) for their votes on q classes.
func cohen(x, y []vote, q int) (examples int, kappa *float64) {
	first, second, same, n := make([]float64, q), make([]float64, q), 0.0, 0.0
	both(x, y, func(_, one, other int32) {
		first[one]++
		second[other]++
		if n++; one == other {
			same++
		}
	})
	if n == 0 {
		return 0, nil
	}
	chance := 0.0
	for k, v := range first {
		chance += float64(v / n * (second[k] / n))
	}
	return int(n), beyond(same/n, chance)
}

// both gives use the examples that two voters label, and their labels.
func both(x, y []vote, use func(example, one, other int32)) {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].example < y[0].example:
			x = x[1:]
		case x[0].example > y[0].example:
			y = y[1:]
		default:
			use(x[0].example, x[0].label, y[0].label)
			x, y = x[1:], y[1:]
		}
	}
}

// voters compares the votes with the consensus.
func voters(a *dataset.Annotations, consensus []int32) []VoterAgreement {
	q, m := len(a.Classes), len(a.Names)
	votes, right := make([]float64, m*q), make([]float64, m*q) // by voter and class of the consensus
	list := make([]VoterAgreement, m)
	for i, class := range consensus {
		by, labels := a.Of(i)
		for k, who := range by {
			if list[who].Votes++; class == dataset.Unlabelled {
				continue
			}
			at := int(who)*q + int(class)
			if votes[at]++; labels[k] == class {
				right[at]++
			}
		}
	}
	share := func(part, whole float64) *float64 {
		if whole == 0 {
			return nil
		}
		return new(part / whole)
	}
	for who, name := range a.Names {
		v := &list[who]
		v.Name = name
		all, hits := 0.0, 0.0
		for at := who * q; at < (who+1)*q; at++ {
			all, hits = all+votes[at], hits+right[at]
			v.ByClass = append(v.ByClass, share(right[at], votes[at]))
		}
		v.Right = share(hits, all)
	}
	return list
}
