package estimate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// mostUnsure is the largest standard error of P(label t | true class t) that tells something.
const mostUnsure = 0.15

// surely is by how many standard errors of its loss a model has to be better than the first.
const surely = 2

// FromLearned returns what learners have found out of the labels, each with another model: the
// first matrix, or the one under which labels held out are likeliest if they surely are. The
// variance of an entry is that of the best,
// and for each other one the squared distance to it, which counts the less, the worse the loss is:
// a half where that is one standard error worse.
//
// A true class is not identified if another label seems as likely as its own, or if the standard
// error of its own is above mostUnsure; the label that seems so is not identified either.
func FromLearned(classes []string, all ...*confusion.Learned) (*Estimate, error) {
	m, err := confusion.New(classes)
	if err != nil {
		return nil, err
	}
	q := m.Q()
	var best *confusion.Learned
	for _, l := range all {
		if l == nil || len(l.P) != q*q || len(l.Error) != q*q {
			return nil, fmt.Errorf("confusion estimate: found what was learned of other classes, wanted "+
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
		Assumes: "labels are right more often than any other label of a class, how they are wrong " +
			"depends on the class alone, and a model of the prepared features could know the classes"}
	e.identify()
	return e, e.Check()
}

// identify finds the classes that are not identified, and says so in the notes.
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
	e.doubt("the labels alone do not tell how these classes are labelled")
}

// DoubtFeatures says that no class is identified if n examples have d features and d is larger.
func (e *Estimate) DoubtFeatures(n, d int) {
	if d > n {
		e.IdentifyNone("there are more features than examples, and a model of these can take wrong " +
			"labels for classes")
	}
}

// IdentifyNone says of all classes that they are not identified, for a reason, a sentence.
func (e *Estimate) IdentifyNone(reason string) {
	e.Unidentified, e.Notes = lists.UpTo[int](e.Q()), nil
	e.doubt(reason)
}

// mostNamed is how many classes a note names.
const mostNamed = 10

// doubt notes which classes are not identified, and why.
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
