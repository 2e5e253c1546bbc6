package crowd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Function is what its votes tell of a labelling function. Its JSON form is part of what
// confusion estimate --json prints.
type Function struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
	// Shares of the examples: it votes; so does another; another gives another class.
	Coverage float64 `json:"coverage"`
	Overlap  float64 `json:"overlap"`
	Conflict float64 `json:"conflict"`
	Right    float64 `json:"right"`            // share of its votes that are right, by the posteriors
	Copies   int     `json:"copies,omitempty"` // how many other functions give nearly the same votes
	// Confusion[k][t] = P(vote k | true class t), Q+1 rows: the last one abstains.
	Confusion [][]float64 `json:"confusion"`
}

// Labelling is what the votes of functions tell of examples, without their features. The consensus
// on an example that nobody votes on is dataset.Unlabelled; its posterior comes from abstaining
// alone.
type Labelling struct {
	Result
	Known     bool // Prior comes from right labels; else it is uniform. The fit leaves it as it is
	ByVote    bool // the posteriors are shares of the votes, as the model overruled too many
	Functions []Function
}

// ByFunctions is the Method of a Labelling.
const ByFunctions Method = "functions"

// Of a vote, the model holds: the function votes in this share of all examples; a vote k is odds
// for k, above chance, which functions share but for believed votes of their own; and who abstains
// tells as much as that makes it. Freer models did worse: matrices of each function make classes of
// the words by which it votes, and held-out votes are likelier under these (docs/weak.md).
const (
	fittings  = 15
	rightVote = 0.75 // of a vote beside another one, before any
	rightMass = 20   // votes that this counts as
	believed  = 1000 // votes of the mean function beside one's own
	alike     = 0.8  // least share of common votes, of all of two functions, of copies
	overChance,
	nearlyAll = 0.3, 0.95 // the least and the most that a vote is worth
	mostRate   = 0.95 // of a function in a class
	leastSame  = 0.8  // share of examples in which the model agrees with the vote
	enoughKnow = 10   // known classes that make a prior
)

// rule is a class that a function gives.
type rule struct {
	by, class int32
	count     float64
	weight    float64 // 1, or a part of it among copies
	worth     float64 // accuracy if classes are alike frequent
	own       float64 // posteriors of its class where others vote as well
	beside    float64 // votes where others vote as well
}

// labeller fits the model.
type labeller struct {
	a     *dataset.Annotations
	q     int
	prior []float64
	rules []rule
	at    [][]int32 // of each function, the rule of each class; -1 for none
	mean  float64   // worth of the mean rule
	log   []float64 // of each rule, Q numbers: its vote against its abstaining
	base  []float64 // Q: everybody abstains
	post  []float32
}

// FitFunctions finds how likely each true class is by the votes of labelling functions, and how
// good each function is. Annotators whose labels are right (Annotations.Right) are no functions:
// the examples that they label are taken for random ones and make the prior of the classes. Without
// at least ten, the prior is uniform. If the model then overrules the vote in a fifth of the
// examples, the prior is too far from the classes, and the labels are the votes.
func FitFunctions(ctx context.Context, a *dataset.Annotations) (*Labelling, error) {
	q, n := len(a.Classes), a.N()
	if err := a.Check(n, q); err != nil {
		return nil, err
	}
	l := &labeller{a: a, q: q}
	if err := l.findRules(); err != nil {
		return nil, err
	}
	counts, known, share := slices.Repeat([]float64{1}, q), 0, make([]float64, q)
	for i := range n {
		if class, ok := a.Known(i); ok {
			counts[class]++
			known++
		}
	}
	r := &Labelling{Known: known >= enoughKnow}
	if !r.Known {
		counts = slices.Repeat([]float64{1}, q)
	}
	l.fit(counts)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Result = Result{Classes: slices.Clone(a.Classes), Method: ByFunctions, Items: a.Items,
		Prior: l.prior, Posterior: l.post, Consensus: slices.Repeat([]int32{dataset.Unlabelled}, n),
		Rounds: fittings, Settled: true}
	agree, all := 0, 0
	for i := range n {
		_, labelled := a.Known(i)
		voted := l.shares(share, i)
		if labelled || voted {
			r.Consensus[i] = 0 // decided below
		}
		if voted && !labelled {
			all++
			row := l.post[i*q : (i+1)*q]
			if share[lists.Largest(row)] == slices.Max(share) {
				agree++
			}
		}
	}
	if r.ByVote = float64(agree) < leastSame*float64(all); r.ByVote {
		for i := range n {
			if _, labelled := a.Known(i); !labelled {
				l.shares(share, i)
				for k, v := range share {
					l.post[i*q+k] = float32(v)
				}
			}
		}
	}
	r.Functions = l.functions()
	for i, k := range r.Consensus {
		if k != dataset.Unlabelled {
			r.Consensus[i] = int32(lists.Largest(l.post[i*q : (i+1)*q]))
		}
	}
	return r, nil
}

// Evidence returns how likely the votes on each example are with each class, n×Q, the largest of an
// example being 1: ones where nobody votes. If ByVote, the rows are the shares of the votes.
func (r *Labelling) Evidence() []float32 {
	q := len(r.Classes)
	e := slices.Clone(r.Posterior)
	for i, class := range r.Consensus {
		row := e[i*q : (i+1)*q]
		switch {
		case class == dataset.Unlabelled:
			copy(row, slices.Repeat([]float32{1}, q))
		case !r.ByVote:
			for k, v := range row {
				row[k] = float32(float64(v) / r.Prior[k])
			}
			most := slices.Max(row)
			for k, v := range row {
				row[k] = v / most
			}
		}
	}
	return e
}

// findRules finds the classes that each function gives, and which functions are copies.
func (l *labeller) findRules() error {
	a, q := l.a, l.q
	if err := memory.Check(memory.Product(len(a.Names), q, 8*8), "votes of functions"); err != nil {
		return err
	}
	l.at = make([][]int32, len(a.Names))
	for j := range l.at {
		l.at[j] = slices.Repeat([]int32{-1}, q)
	}
	for k, j := range a.By {
		if a.Right != nil && a.Right[j] {
			continue
		}
		at := &l.at[j][a.Label[k]]
		if *at < 0 {
			*at = int32(len(l.rules))
			l.rules = append(l.rules, rule{by: j, class: a.Label[k]})
		}
		l.rules[*at].count++
	}
	m := len(l.rules)
	if m == 0 {
		return errors.New("functions: got no vote, want some")
	}
	if err := memory.Check(memory.Product(m, m, 4), "pairs of functions"); err != nil {
		return fmt.Errorf("functions: %w", err)
	}
	both := make([]int32, m*m)
	for i := range a.N() {
		fired := l.fired(i)
		for _, e := range fired {
			for _, f := range fired {
				both[int(e)*m+int(f)]++
			}
		}
	}
	for e := range l.rules {
		copies := 0
		for f := range l.rules {
			if l.copies(both, e, f) {
				copies++
			}
		}
		l.rules[e].weight = 1 / float64(copies)
	}
	return nil
}

// copies says whether two rules give nearly the same votes; each is a copy of itself.
func (l *labeller) copies(both []int32, e, f int) bool {
	x, y, m := l.rules[e], l.rules[f], len(l.rules)
	common := float64(both[e*m+f])
	return x.class == y.class && common >= float64(alike*(x.count+y.count-common))
}

// fired returns the rules that vote on example i.
func (l *labeller) fired(i int) (rules []int32) {
	by, label := l.a.Of(i)
	for k, j := range by {
		if e := l.at[j][label[k]]; e >= 0 {
			rules = append(rules, e)
		}
	}
	return rules
}

// shares writes the shares of the votes on example i, and says whether there are any; without any
// they are uniform.
func (l *labeller) shares(p []float64, i int) bool {
	clear(p)
	fired := l.fired(i)
	for _, e := range fired {
		p[l.rules[e].class]++
	}
	for k := range p {
		if fired == nil {
			p[k] = 1 / float64(l.q)
		} else {
			p[k] /= float64(len(fired))
		}
	}
	return fired != nil
}

// fit fits the model to the prior that counts of classes make.
func (l *labeller) fit(counts []float64) {
	total := lists.Sum(counts)
	l.prior = make([]float64, l.q)
	for k, v := range counts {
		l.prior[k] = v / total
	}
	l.mean = 0.8
	for e := range l.rules {
		l.rules[e].worth = l.mean
	}
	l.post = make([]float32, l.a.N()*l.q)
	for range fittings {
		l.expect()
		l.value()
	}
	l.expect()
}

// odds returns the factor that a vote of this worth is for its class.
func (l *labeller) odds(worth float64) float64 { return worth * float64(l.q-1) / (1 - worth) }

// right returns how often a vote of class k is right if it is of this worth.
func (l *labeller) right(k int32, worth float64) float64 {
	p := l.prior[k]
	own := float64(p * l.odds(worth))
	return own / (own + 1 - p)
}

// rates makes the logarithms of how often rules vote in each class. A rule of odds o votes o times
// as often in its class as in any other.
func (l *labeller) rates() {
	q, n := l.q, float64(l.a.N())
	l.log, l.base = make([]float64, len(l.rules)*q), make([]float64, q)
	votes := make([]float64, q)
	for _, at := range l.at {
		clear(votes)
		weight := 1.0
		for _, e := range at {
			if e < 0 {
				continue
			}
			r := &l.rules[e]
			weight = min(weight, r.weight)
			for t := range q {
				rate := l.rate(r, t, n)
				votes[t] += rate
				l.log[int(e)*q+t] = logOf(rate)
			}
		}
		for t := range q {
			abstains := logOf(1 - min(votes[t], 0.98))
			l.base[t] += float64(weight * abstains)
			for _, e := range at {
				if e >= 0 {
					v := &l.log[int(e)*q+t]
					*v = float64(l.rules[e].weight * (*v - abstains))
				}
			}
		}
	}
}

// rate returns P(the rule votes | true class t).
func (l *labeller) rate(r *rule, t int, n float64) float64 {
	p, odds := l.prior[r.class], l.odds(r.worth)
	rate := r.count / n / (float64(p*odds) + 1 - p)
	if t == int(r.class) {
		rate *= odds
	}
	return min(rate, mostRate)
}

func logOf(v float64) float64 { return float64(numerics.Log(float32(max(v, 0x1p-60)))) }

// expect is the E-step.
func (l *labeller) expect() {
	l.rates()
	q := l.q
	parallel.Ranges(l.a.N(), 1<<10, func(from, to int) {
		sum := make([]float64, q)
		for i := from; i < to; i++ {
			row := l.post[i*q : (i+1)*q]
			if class, known := l.a.Known(i); known {
				clear(row)
				row[class] = 1
				continue
			}
			for t, p := range l.prior {
				sum[t] = logOf(p) + l.base[t]
			}
			for _, e := range l.fired(i) {
				lists.Add(sum, l.log[int(e)*q:][:q])
			}
			most := slices.Max(sum)
			for t, v := range sum {
				row[t] = float32(v - most)
			}
			numerics.Softmax(row, row)
		}
	})
}

// value is the M-step: it finds what votes are worth, by examples on which others vote too.
func (l *labeller) value() {
	for e := range l.rules {
		l.rules[e].own, l.rules[e].beside = 0, 0
	}
	for i := range l.a.N() {
		fired := l.fired(i)
		if _, known := l.a.Known(i); len(fired) < 2 && !known {
			continue
		}
		for _, e := range fired {
			r := &l.rules[e]
			r.own += float64(l.post[i*l.q+int(r.class)])
			r.beside++
		}
	}
	own, beside := float64(rightVote*rightMass), float64(rightMass)
	for _, r := range l.rules {
		own += r.own
		beside += r.beside
	}
	least := 1/float64(l.q) + float64(overChance*(1-1/float64(l.q)))
	low, high := least, nearlyAll
	for range 30 { // how often votes are right grows with what they are worth
		middle := (low + high) / 2
		right, all := 0.0, 0.0
		for _, r := range l.rules {
			right += float64(r.beside * l.right(r.class, middle))
			all += r.beside
		}
		if right*beside < own*all {
			low = middle
		} else {
			high = middle
		}
	}
	l.mean = low
	for e := range l.rules {
		r := &l.rules[e]
		p := l.prior[r.class]
		t := (r.own + float64(believed*l.right(r.class, l.mean))) / (r.beside + believed)
		odds := t / (1 - t) * (1 - p) / p
		r.worth = min(max(odds/(odds+float64(l.q-1)), least), nearlyAll)
	}
}

// functions returns what the posteriors tell of each function.
func (l *labeller) functions() (list []Function) {
	a, q, n := l.a, l.q, float64(l.a.N())
	size := (q + 1) * q
	counts := make([]float64, len(a.Names)*size)
	stats := make([]Function, len(a.Names))
	classes := make([]float64, q)
	for i := range a.N() {
		row := l.post[i*q : (i+1)*q]
		for t, v := range row {
			classes[t] += float64(v)
		}
		fired := l.fired(i)
		for _, e := range fired {
			r := l.rules[e]
			f := &stats[r.by]
			f.Votes++
			f.Right += float64(row[r.class])
			for t, v := range row {
				counts[int(r.by)*size+int(r.class)*q+t] += float64(v)
			}
			if len(fired) > 1 {
				f.Overlap++
			}
			if slices.ContainsFunc(fired, func(o int32) bool { return l.rules[o].class != r.class }) {
				f.Conflict++
			}
		}
	}
	for _, r := range l.rules {
		stats[r.by].Copies = max(stats[r.by].Copies, int(1/r.weight+0.5)-1)
	}
	for j, name := range a.Names {
		if a.Right != nil && a.Right[j] {
			continue
		}
		f := stats[j]
		f.Name = name
		f.Confusion = slices.Collect(slices.Chunk(counts[j*size:(j+1)*size], q))
		for t := range q {
			abstains := 1.0
			for k := range q {
				v := &f.Confusion[k][t]
				*v /= max(classes[t], 1)
				abstains -= *v
			}
			f.Confusion[q][t] = max(0, abstains)
		}
		if f.Votes > 0 {
			f.Right /= float64(f.Votes)
		}
		f.Coverage, f.Overlap, f.Conflict = float64(f.Votes)/n, f.Overlap/n, f.Conflict/n
		list = append(list, f)
	}
	return list
}
