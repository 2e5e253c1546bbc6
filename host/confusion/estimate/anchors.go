package estimate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// anchorShare is the share of anchors among the examples of a class, if classes are balanced.
const anchorShare = 0.02

// Anchors estimates C from out-of-fold probabilities of noisy labels, n×Q, by anchor points: an
// example certainly of class t has the label distribution of column t, and the examples most likely
// of t serve as anchors (Patrini et al., Making deep neural networks robust to label noise: a loss
// correction approach, CVPR 2017, Section 4.1; here the mean of several anchors).
func Anchors(classes []string, n int, rows blocks) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	most := max(1, min(n, int(anchorShare*float64(n)/float64(q))))
	a := anchors{q: q, most: most, best: make([][]anchor, q)}
	if err := inBlocks(rows, n, q, a.look); err != nil {
		return nil, fmt.Errorf("anchor points: %w", err)
	}
	m.Error = make([]float64, q*q)
	e := &Estimate{Matrix: *m, Method: "anchor points",
		Assumes: "each class has examples that certainly belong to it, and the model predicts their " +
			"label distribution"}
	for t, best := range a.best {
		slices.SortFunc(best, before)
		best = best[:min(len(best), most)]
		if len(best) == 0 {
			return nil, fmt.Errorf("anchor points: found no probabilities, wanted some")
		}
		for p := range q {
			sum, squares := 0.0, 0.0
			for _, x := range best {
				sum += float64(x.row[p])
			}
			mean := sum / float64(len(best))
			for _, x := range best {
				d := float64(x.row[p]) - mean
				squares += float64(d * d)
			}
			e.P[p*q+t] = mean
			// As for observed labels: probabilities of neighbours are not independent.
			w := (float64(mean*float64(len(best))) + 1) / (float64(len(best)) + 2)
			e.Error[p*q+t] = math.Sqrt(squares/float64(len(best)) + float64(w*(1-w))/float64(len(best)+1))
		}
		if top := best[0].row[t]; top < 0.5 {
			e.Notes = append(e.Notes,
				fmt.Sprintf("no example has label %.60q with a probability above %.2f: "+
					"it may have no anchor", classes[t], top))
		}
	}
	numerics.NormaliseColumns(e.P, q)
	return e, e.Check()
}

// anchor is an example, and its probabilities.
type anchor struct {
	value float32 // of the class that it may be an anchor of
	at    int
	row   []float32
}

// before puts the likeliest first, and the first of equals.
func before(a, b anchor) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at))
}

// anchors collects the best candidates per class.
type anchors struct {
	q, most int
	lock    sync.Mutex
	best    [][]anchor // of each class
}

// look considers a block of examples; first is the index of the first.
func (a *anchors) look(p []float32, first int) {
	own := make([][]anchor, a.q)
	least := make([]float32, a.q) // the least probability among the best
	for i := range len(p) / a.q {
		row := p[i*a.q : (i+1)*a.q]
		for t, v := range row {
			if len(own[t]) >= a.most && v <= least[t] {
				continue
			}
			own[t] = append(own[t], anchor{v, first + i, slices.Clone(row)})
			if len(own[t]) >= 2*a.most+16 {
				own[t] = a.keep(own[t])
				least[t] = own[t][a.most-1].value
			}
		}
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	for t := range own {
		a.best[t] = a.keep(append(a.best[t], own[t]...))
	}
}

func (a *anchors) keep(list []anchor) []anchor {
	slices.SortFunc(list, before)
	return list[:min(len(list), a.most)]
}
