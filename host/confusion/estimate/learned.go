package estimate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// mostUnsure is the largest standard error of P(label t | true class t) of an identified class.
const mostUnsure = 0.15

// FromLearned is the noise that a model learned together with its weights. A true class is
// unidentified if another label is as likely as its own, or if the standard error of its own is
// above mostUnsure; that label is then unidentified, too.
func FromLearned(classes []string, l *confusion.Learned) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	if q := m.Q(); l == nil || len(l.P) != q*q || len(l.Error) != q*q {
		return nil, fmt.Errorf("confusion estimate: found a matrix of other classes, wanted %d×%d", q, q)
	}
	m.P, m.Error = slices.Clone(l.P), slices.Clone(l.Error)
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
