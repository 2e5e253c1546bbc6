package crowd_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// people are annotators with matrices of their own, and labels that they gave.
func people(t *testing.T, items, each, annotators, q int, seed uint64) (
	a *dataset.Annotations, of []*confusion.Matrix, right []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	a = &dataset.Annotations{Classes: names(q), Start: make([]int, 1, items+1)}
	for k := range annotators {
		m, err := confusion.Random(a.Classes, 0.1+0.8*rng.Float64(), seed+uint64(k))
		if err != nil {
			t.Fatal(err)
		}
		a.Names, of = append(a.Names, string(rune('A'+k/26))+string(rune('a'+k%26))), append(of, m)
	}
	for i := range items {
		right = append(right, int32(i%q))
		who := rng.Perm(annotators)[:each]
		slices.Sort(who)
		for _, k := range who {
			a.By, a.Label = append(a.By, int32(k)), append(a.Label, draw(of[k].P, q, i%q, rng.Float64()))
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a, of, right
}

func shareRight(a, b []int32) float64 {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return float64(same) / float64(len(a))
}

// betaBinomial returns the power of two for which counts are likeliest if rates are drawn from a
// beta distribution of that strength.
func betaBinomial(mean float64, right, count map[int]float64) float64 {
	gamma := func(x float64) float64 {
		v, _ := math.Lgamma(x)
		return v
	}
	beta := func(x, y float64) float64 { return gamma(x) + gamma(y) - gamma(x+y) }
	best, most := 0.0, math.Inf(-1)
	for s := 1.0; s < 100; s *= 2 {
		sum := 0.0
		for who := range count {
			sum += beta(s*mean+right[who], s*(1-mean)+count[who]-right[who]) -
				beta(s*mean, s*(1-mean))
		}
		if sum > most {
			best, most = s, sum
		}
	}
	return best
}

// twinEM is the algorithm in sums of logarithms, round by round: of one rate for each annotator,
// which is joined with labels at the mean rate, and then of the rates of Dawid and Skene. Both are
// joined with two labels of each class by an annotator with one rate.
func twinEM(a *dataset.Annotations, rounds int, smoothing float64) (posterior [][]float64) {
	q := len(a.Classes)
	for i := range a.N() {
		p := make([]float64, q)
		_, labels := a.Of(i)
		for _, k := range labels {
			p[k] += 1 / float64(len(labels))
		}
		posterior = append(posterior, p)
	}
	for round := range 2 * rounds {
		coin := round < rounds
		rate, right := map[[3]int]float64{}, map[int]float64{}
		sum, count := map[[2]int]float64{}, map[int]float64{}
		prior, all := make([]float64, q), 0.0
		for i, p := range posterior {
			by, labels := a.Of(i)
			for k, who := range by {
				right[int(who)] += p[labels[k]]
				count[int(who)]++
				all += p[labels[k]] / float64(len(a.By))
			}
			for t := range q {
				prior[t] += p[t]
				for k := range by {
					rate[[3]int{int(by[k]), int(labels[k]), t}] += p[t]
					sum[[2]int{int(by[k]), t}] += p[t]
				}
			}
		}
		strength := betaBinomial(all, right, count)
		of := func(who, k, t int) float64 {
			n, r := rate[[3]int{who, k, t}], (right[who]+strength*all)/(count[who]+strength)
			if k != t {
				r = (1 - r) / float64(q-1)
			}
			if coin {
				n = sum[[2]int{who, t}] * r
			}
			return (n + smoothing + 2*r) / (sum[[2]int{who, t}] + smoothing*float64(q) + 2)
		}
		for i := range posterior {
			by, labels := a.Of(i)
			p := make([]float64, q)
			for t := range q {
				if !coin {
					p[t] = math.Log((prior[t] + smoothing) / (float64(a.N()) + smoothing*float64(q)))
				}
				for k := range by {
					p[t] += math.Log(of(int(by[k]), int(labels[k]), t))
				}
			}
			most, total := slices.Max(p), 0.0
			for t := range p {
				p[t] = math.Exp(p[t] - most)
				total += p[t]
			}
			for t := range p {
				p[t] /= total
			}
			posterior[i] = p
		}
	}
	return posterior
}

// The posteriors equal another implementation's, which computes in logarithms.
func TestCrowdTwin(t *testing.T) {
	a, _, _ := people(t, 120, 4, 9, 3, 3)
	for _, rounds := range []int{1, 2, 12} {
		c, err := crowd.Fit(t.Context(), a, crowd.Options{Method: crowd.DawidSkene, Rounds: rounds})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range twinEM(a, rounds, 0.01) {
			for k, v := range p {
				if got := float64(c.Posterior[i*3+k]); math.Abs(got-v) > 1e-5 {
					t.Fatalf("%d rounds: P(class %d) of example %d is %v, wanted %v", rounds, k, i, got, v)
				}
			}
		}
	}
}

// Annotators' matrices are found, the consensus beats the votes, and standard errors are about
// as large as the errors.
func TestCrowdFindsMatrices(t *testing.T) {
	a, of, right := people(t, 6000, 5, 25, 4, 1)
	accuracy := map[crowd.Method]float64{}
	for _, method := range crowd.Methods {
		c, err := crowd.Fit(t.Context(), a, crowd.Options{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		accuracy[method] = shareRight(c.Consensus, right)
		if method != crowd.DawidSkene {
			continue
		}
		squares, n, off := 0.0, 0.0, 0.0
		for k, annotator := range c.Annotators {
			off += meanError(annotator.P, of[k].P) / float64(len(of))
			for j, v := range annotator.P {
				z := (v - of[k].P[j]) / annotator.Error[j]
				squares, n = squares+z*z, n+1
			}
		}
		if !(off < 0.02) || !(squares/n > 0.5 && squares/n < 1.5) || !c.Settled {
			t.Errorf("matrices are %v off, mean square of errors over standard errors %v", off, squares/n)
		}
		e, err := estimate.FromCrowd(c, c.Consensus)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := estimate.FromLabels(a.Classes, c.Consensus, right, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := meanError(e.P, truth.P); !(d < 0.01) {
			t.Errorf("the matrix of the consensus is %v off", d)
		}
		if votes, err := estimate.FromCrowd(c, a.Votes(1)); err != nil || !(votes.P[0] < e.P[0]) {
			t.Errorf("votes are right for %v of class 0, the consensus for %v: %v", votes.P[0], e.P[0], err)
		}
	}
	if !(accuracy[crowd.Majority] < accuracy[crowd.OneCoin] &&
		accuracy[crowd.OneCoin] < accuracy[crowd.DawidSkene]) {
		t.Errorf("right: %v, wanted Dawid-Skene best and majority worst", accuracy)
	}
}

// crowdOfOneMind are examples that two annotators label, who both take most of class 0 for class
// 1, and a chief checks every tenth.
func crowdOfOneMind(n int) (a *dataset.Annotations, right []int32) {
	rng := rand.New(rand.NewPCG(5, 6))
	a = &dataset.Annotations{Classes: []string{"x", "y"}, Names: []string{"a", "b", "chief"},
		Start: []int{0}}
	for i := range n {
		class := int32(i % 2)
		right = append(right, class)
		for k := range 2 {
			label := class
			if rng.Float64() < []float64{0.7, 0.1}[class] {
				label = 1 - class
			}
			a.By, a.Label = append(a.By, int32(k)), append(a.Label, label)
		}
		if i%20 < 2 {
			a.By, a.Label = append(a.By, 2), append(a.Label, class)
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a, right
}

// Examples whose class is known have that class, and count for how the others err.
func TestCrowdKnown(t *testing.T) {
	a, right := crowdOfOneMind(4000)
	for _, method := range []crowd.Method{crowd.Majority, crowd.OneCoin, crowd.TwoCoin,
		crowd.DawidSkene, ""} {
		shares := map[bool]float64{}
		for _, known := range []bool{false, true} {
			if a.Right = nil; known {
				a.Right = []bool{false, false, true}
			}
			c, err := crowd.Fit(t.Context(), a, crowd.Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			shares[known] = shareRight(c.Consensus, right)
			if !known {
				continue
			}
			for i := range right {
				if class, known := a.Known(i); known && (c.Consensus[i] != class ||
					c.Posterior[2*i+int(class)] != 1) {
					t.Fatalf("%s: example %d, which is of class %d, is taken for %d (%v)", method, i, class,
						c.Consensus[i], c.Posterior[2*i:2*i+2])
				}
			}
			if chief := c.Annotators[2]; min(chief.P[0], chief.P[3]) < 0.999 {
				t.Errorf("%s: the chief is right for %.4f", method, min(chief.P[0], chief.P[3]))
			}
		}
		// A rate for each class finds the chief out; the others believe three people alike.
		alike := method == crowd.Majority || method == crowd.OneCoin
		if shares[true] < shares[false] || alike && shares[true] < shares[false]+0.015 {
			t.Errorf("%s is right for %.3f, and for %.3f of what nobody has checked", method, shares[true],
				shares[false])
		}
	}
}

// Annotators who gave few labels of a class are known by what they and all others gave: the entries
// of matrices of their own labels alone are 0.17 off.
func TestCrowdFewLabels(t *testing.T) {
	off := 0.0
	for seed := range uint64(8) {
		a, of, _ := people(t, 150, 4, 40, 4, 50*seed)
		c, err := crowd.Fit(t.Context(), a, crowd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, annotator := range c.Annotators {
			off += meanError(annotator.P, of[k].P) / float64(8*len(of))
		}
	}
	if !(off < 0.13) {
		t.Errorf("matrices are %v off", off)
	}
}

func TestCrowdSameBits(t *testing.T) {
	a, _, _ := people(t, 5000, 3, 12, 3, 2)
	for _, method := range crowd.Methods {
		o := crowd.Options{Method: method, Rounds: 4}
		before := runtime.GOMAXPROCS(1)
		one, err := crowd.Fit(t.Context(), a, o)
		runtime.GOMAXPROCS(3)
		three, err3 := crowd.Fit(t.Context(), a, o)
		runtime.GOMAXPROCS(before)
		if err != nil || err3 != nil {
			t.Fatal(err, err3)
		}
		if !slices.Equal(one.Posterior, three.Posterior) || !slices.Equal(one.Consensus,
			three.Consensus) || !slices.Equal(one.Annotators[5].P, three.Annotators[5].P) ||
			!slices.Equal(one.Annotators[5].Error, three.Annotators[5].Error) {
			t.Errorf("%s: other bits with other processors", method)
		}
	}
}

// However many labels an example has, no product becomes 0.
func TestCrowdManyLabels(t *testing.T) {
	a, _, right := people(t, 40, 600, 600, 2, 6)
	c, err := crowd.Fit(t.Context(), a, crowd.Options{})
	if err != nil || shareRight(c.Consensus, right) < 1 {
		t.Errorf("right: %v, %v", shareRight(c.Consensus, right), err)
	}
	for _, v := range c.Posterior {
		if v != v {
			t.Fatal("a posterior is NaN")
		}
	}
}

// shuffled returns the annotations with examples, annotators and classes in another order, and
// where each example and class went.
func shuffled(a *dataset.Annotations, seed uint64) (b *dataset.Annotations, rows, classes []int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows, classes = rng.Perm(a.N()), rng.Perm(len(a.Classes))
	people := rng.Perm(len(a.Names))
	b = &dataset.Annotations{Classes: a.Classes, Names: a.Names, Start: []int{0}}
	back := make([]int, a.N())
	for i, to := range rows {
		back[to] = i
	}
	for _, i := range back {
		by, label := a.Of(i)
		given := make(map[int32]int32)
		for k, who := range by {
			given[int32(people[who])] = int32(classes[label[k]])
		}
		for _, who := range slices.Sorted(maps.Keys(given)) {
			b.By, b.Label = append(b.By, who), append(b.Label, given[who])
		}
		b.Start = append(b.Start, len(b.By))
	}
	return b, rows, classes
}

// hard are labels of two classes, a third of whose examples most of a group of annotators, another
// for each class, takes for the other class.
func hard(n int) (a *dataset.Annotations, right []int32) {
	const annotators, each = 30, 12
	rng := rand.New(rand.NewPCG(8, 9))
	a = &dataset.Annotations{Classes: names(2), Start: []int{0}}
	var group [2][annotators]bool
	for k := range annotators {
		a.Names = append(a.Names, string(rune('A'+k)))
		group[0][k], group[1][k] = rng.Float64() < 0.6, rng.Float64() < 0.6
	}
	for range n {
		class, easy := int32(rng.IntN(2)), rng.Float64() > 0.3
		who := rng.Perm(annotators)[:each]
		slices.Sort(who)
		for _, k := range who {
			share, label := 0.2, class
			if easy {
				share = 0.85
			} else if group[class][k] {
				share = 0.9
			}
			if rng.Float64() > share {
				label = 1 - class
			}
			a.By, a.Label = append(a.By, int32(k)), append(a.Label, label)
		}
		right, a.Start = append(right, class), append(a.Start, len(a.By))
	}
	return a, right
}

// Held-out labels choose subtypes where annotators err on the same examples, and no subtypes where
// they err independently. The labels do not depend on names and order.
func TestCrowdContest(t *testing.T) {
	twoClasses, right := hard(1000)
	independent, _, truth := people(t, 900, 4, 25, 4, 4)
	for _, c := range []struct {
		votes *dataset.Annotations
		right []int32
		want  crowd.Method
	}{{twoClasses, right, crowd.Subtypes}, {independent, truth, crowd.Mean}} {
		found, err := crowd.Fit(t.Context(), c.votes, crowd.Options{})
		if err != nil || found.Method != c.want {
			t.Fatalf("chose %v, wanted %s: %+v", err, c.want, found.Contest)
		}
		other, err := crowd.Fit(t.Context(), c.votes, crowd.Options{Method: crowd.DawidSkene})
		if err != nil {
			t.Fatal(err)
		}
		is, was := shareRight(found.Consensus, c.right), shareRight(other.Consensus, c.right)
		if is < was-0.005 || c.want == crowd.Subtypes && is < was+0.015 {
			t.Errorf("%s is right for %.3f, Dawid-Skene for %.3f", found.Method, is, was)
		}
		mixed, rows, classes := shuffled(c.votes, 3)
		again, err := crowd.Fit(t.Context(), mixed, crowd.Options{})
		if err != nil || again.Method != found.Method {
			t.Fatalf("in another order chose %v, %v", again.Method, err)
		}
		for i, k := range found.Consensus {
			if again.Consensus[rows[i]] != int32(classes[k]) {
				t.Fatalf("%s: example %d has another label in another order", found.Method, i)
			}
		}
	}
}

// Saved matrices label as the fit did, and annotators that they do not know count as the mean one.
func TestCrowdLabel(t *testing.T) {
	a, _, right := people(t, 2000, 5, 25, 4, 1)
	fitted, err := crowd.Fit(t.Context(), a, crowd.Options{Method: crowd.DawidSkene})
	if err != nil {
		t.Fatal(err)
	}
	again, err := fitted.Label(a)
	if err != nil || shareRight(again.Consensus, fitted.Consensus) < 0.999 {
		t.Errorf("%v: %v of the labels are the fit's", err, shareRight(again.Consensus, fitted.Consensus))
	}
	strangers := *a
	strangers.Names = make([]string, len(a.Names))
	for k, name := range a.Names {
		strangers.Names[k] = "new " + name
	}
	plain, err := fitted.Label(&strangers)
	if err != nil || !(shareRight(plain.Consensus, right) < shareRight(again.Consensus, right)) {
		t.Errorf("strangers are right for %v, %v", shareRight(plain.Consensus, right), err)
	}
	more, sure := fitted.More(), fitted.More()
	for i := range fitted.Posterior {
		fitted.Posterior[i] = 0
	}
	for i, k := range fitted.Consensus {
		fitted.Posterior[i*4+int(k)] = 1
	}
	if sure = fitted.More(); more.Open == 0 || more.Gain <= 0 || sure.Open > 0 || sure.Gain > 0 {
		t.Errorf("more labels change %+v, and %+v where all is certain", more, sure)
	}
}

func TestCrowdErrors(t *testing.T) {
	a, _, _ := people(t, 30, 3, 5, 3, 1)
	good, err := crowd.Fit(t.Context(), a, crowd.Options{Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]crowd.Options{
		`"best"`:    {Method: "best"},
		"-1 rounds": {Rounds: -1},
	} {
		if _, err := crowd.Fit(t.Context(), a, o); !facts.Told(err, want) {
			t.Errorf("%v, wanted %q", err, want)
		}
	}
	empty := &dataset.Annotations{Classes: abc, Start: []int{0}}
	if _, err := crowd.Fit(t.Context(), empty, crowd.Options{}); err == nil {
		t.Error("no example: wanted an error")
	}
	if _, err := estimate.FromCrowd(good, []int32{1}); !facts.Told(err, "1 labels") {
		t.Errorf("one label: %v", err)
	}
	if _, err := estimate.FromCrowd(good, slices.Repeat([]int32{3}, 30)); !facts.Told(err, "label 3") {
		t.Errorf("label 3: %v", err)
	}
	e, err := estimate.FromCrowd(good, a.Votes(0))
	if err != nil || e.Assumes == "" ||
		!strings.Contains(strings.Join(e.Notes, ";"), "2 rounds were not enough to converge") {
		t.Errorf("%+v, %v", e, err)
	}
}
