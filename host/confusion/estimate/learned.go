package estimate

import (
	"fmt"
	"slices"
	"strings"
)

// mostUnsure is the largest standard error of P(label t | true class t) of an identified class.
const mostUnsure = 0.15

// identify finds the unidentified classes and notes them: a true class is unidentified if another
// label is as likely as its own, or if the standard error of its own is above mostUnsure; that
// label is then unidentified, too.
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
