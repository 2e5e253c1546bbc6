package estimate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// mostUnsure is the largest standard error of P(label t | true class t) of an identified class.
const mostUnsure = 0.15

// surely is the number of standard errors by which a model must beat the first.
const surely = 2

// FromLearned combines the noise that several models learned: the first matrix, or the one with a
// clearly lower loss on held-out labels. The variance of an entry is the best one plus its
// squared distances to the others, weighted by their loss: one half where that is one standard
// error worse.
//
// A true class is unidentified if another label is as likely as its own, or if the standard error
// of its own is above mostUnsure; that label is then unidentified, too.
func FromLearned(classes []string, all ...*confusion.Learned) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	var best *confusion.Learned
	for _, l := range all {
		if l == nil || len(l.P) != q*q || len(l.Error) != q*q {
			return nil, fmt.Errorf("confusion estimate: found a matrix of other classes, wanted "+
				"%d×%d", q, q)
		}
		if best == nil || l.Loss < best.Loss {
			best = l
		}
	}
	if best == nil {
		return nil, fmt.Errorf("confusion estimate: found nothing learned, wanted a matrix")
	}
	if first := all[0]; best.Loss+float64(surely*best.LossError) >= first.Loss {
		best = first
	}
	copy(m.P, best.P)
	m.Error = make([]float64, q*q)
	for k, v := range best.Error {
		variance := float64(v * v)
		for _, l := range all {
			worse := max(0, l.Loss-best.Loss) / max(best.LossError, math.SmallestNonzeroFloat64)
			apart := l.P[k] - best.P[k]
			variance += float64(apart*apart) / (1 + float64(worse*worse))
		}
		m.Error[k] = min(1, math.Sqrt(variance))
	}
	e := &Estimate{Matrix: *m, Method: "joint likelihood",
		Assumes: "in each class the right label is the most frequent, noise depends on the class " +
			"alone, and the features determine the classes"}
	e.identify()
	return e, e.Check()
}

// identify finds the unidentified classes and notes them.
func (e *Estimate) identify() {
	q := e.Q()
	for t := range q {
		own := t*q + t
		if e.Error[own] > mostUnsure {
			e.Unidentified = append(e.Unidentified, t)
		}
		top := -1 // the likeliest other label
		for k := range q {
			if k != t && (top < 0 || e.P[k*q+t] > e.P[top*q+t]) {
				top = k
			}
		}
		ahead := e.P[own] - e.P[top*q+t]
		if margin := e.Error[own] + e.Error[top*q+t]; ahead <= margin {
			e.Broken = e.Broken || ahead < -margin
			e.Unidentified = append(e.Unidentified, t, top)
		}
	}
	slices.Sort(e.Unidentified)
	e.Unidentified = slices.Compact(e.Unidentified)
	e.doubt("the labels alone do not identify the noise of these classes")
}

// DoubtFeatures marks all classes as unidentified if n examples have d > n features.
func (e *Estimate) DoubtFeatures(n, d int) {
	if d > n {
		e.IdentifyNone("with more features than examples, a model can fit wrong labels")
	}
}

// IdentifyNone marks all classes as unidentified, for a reason.
func (e *Estimate) IdentifyNone(reason string) {
	e.Unidentified, e.Notes = lists.UpTo[int](e.Q()), nil
	e.doubt(reason)
}

// mostNamed is the most classes that a note names.
const mostNamed = 10

// doubt notes the unidentified classes and the reason.
func (e *Estimate) doubt(reason string) {
	if len(e.Unidentified) == 0 {
		return
	}
	var names []string
	for _, t := range e.Unidentified[:min(mostNamed, len(e.Unidentified))] {
		names = append(names, fmt.Sprintf("%.60q", e.Classes[t]))
	}
	if more := len(e.Unidentified) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	e.Notes = append(e.Notes, fmt.Sprintf("not identified: check rows with the labels %s; %s",
		strings.Join(names, ", "), reason))
}
