package crowd

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// Annotations are the labels that several annotators gave the same examples: each of n
// examples has at least one. An annotator may label an example again, and each label counts.
type Annotations struct {
	Classes []string // Q distinct names, in the order of the class indices
	Names   []string // of the annotators, distinct and in bytewise order
	// Start has n+1 places: the labels of example i are those from Start[i] to Start[i+1]
	// of By and Label.
	Start []int
	By    []int32 // the index in Names of who gave each label, in order within an example
	Label []int32 // each in 0..Q-1
	// Right says of each annotator whether all labels of this one are right, as those of an expert
	// who has checked some examples; nil if nobody's are. Two whose labels are right agree.
	Right []bool
}

// N returns the number of examples.
func (a *Annotations) N() int { return len(a.Start) - 1 }

// Of returns who labelled example i, and how. Both are a's own.
func (a *Annotations) Of(i int) (by, label []int32) {
	from, to := a.Start[i], a.Start[i+1]
	return a.By[from:to], a.Label[from:to]
}

// Known returns the true class of example i, if somebody whose labels are right gave it one.
func (a *Annotations) Known(i int) (class int32, known bool) {
	if a.Right == nil {
		return 0, false
	}
	by, label := a.Of(i)
	for k, who := range by {
		if a.Right[who] {
			return label[k], true
		}
	}
	return 0, false
}

// Pick returns the annotations of the examples that which names, in that order, of the same
// annotators. They share a's names and classes.
func (a *Annotations) Pick(which []int) *Annotations {
	p := &Annotations{Classes: a.Classes, Names: a.Names, Right: a.Right, Start: make([]int, 1,
		len(which)+1)}
	for _, i := range which {
		by, label := a.Of(i)
		p.By, p.Label = append(p.By, by...), append(p.Label, label...)
		p.Start = append(p.Start, len(p.By))
	}
	return p
}

// counts returns how many labels each annotator gave.
func (a *Annotations) counts() []int {
	counts := make([]int, len(a.Names))
	for _, k := range a.By {
		counts[k]++
	}
	return counts
}

// Check says what keeps a from being annotations of n examples with q classes.
func (a *Annotations) Check(n, q int) error {
	switch {
	case len(a.Classes) != q:
		return fmt.Errorf("annotations: found %d classes, wanted %d as the examples have", len(a.Classes),
			q)
	case len(a.Start) != n+1 || a.Start[0] != 0 || a.Start[n] != len(a.By) ||
		len(a.By) != len(a.Label):
		return fmt.Errorf("annotations: found those of %d examples (%d labels), wanted %d", a.N(),
			len(a.Label), n)
	case !slices.IsSorted(a.Names) || len(slices.Compact(slices.Clone(a.Names))) != len(a.Names):
		return fmt.Errorf("annotations: found annotators %s, wanted each once and in order",
			labelfile.Quoted(a.Names))
	case a.Right != nil && len(a.Right) != len(a.Names):
		return fmt.Errorf("annotations: found whether %d annotators are right, wanted it of %d",
			len(a.Right), len(a.Names))
	}
	for i := range n {
		if a.Start[i] >= a.Start[i+1] || a.Start[i+1] > len(a.By) {
			return fmt.Errorf("annotations: example %d (counted from 0) has no label, wanted one or more", i)
		}
		by, label := a.Of(i)
		for k := range by {
			if by[k] < 0 || int(by[k]) >= len(a.Names) || k > 0 && by[k] < by[k-1] {
				return fmt.Errorf("annotations: example %d (counted from 0) has labels of annotators %v, "+
					"wanted them in order, from 0 to %d", i, by, len(a.Names)-1)
			}
			if label[k] < 0 || int(label[k]) >= q {
				return fmt.Errorf("annotations: example %d (counted from 0) has label %d, wanted 0 to %d", i,
					label[k], q-1)
			}
			if class, known := a.Known(i); known && a.Right[by[k]] && label[k] != class {
				return fmt.Errorf("annotations: example %d (counted from 0) has labels %d and %d of "+
					"annotators whose labels are right, wanted one", i, class, label[k])
			}
		}
	}
	return nil
}

// voteStream keeps the ties of votes apart from what else is drawn from a seed.
const voteStream uint64 = 0x636f6e662d766f74 // "conf-vot" in ASCII

// Votes returns the label that most annotators gave each example, or its true class if that is
// known; among labels with as many votes the seed draws one.
func (a *Annotations) Votes(seed uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed, voteStream))
	votes := make([]int, len(a.Classes))
	y := make([]int32, a.N())
	for i := range y {
		class, known := a.Known(i)
		if known {
			y[i] = class
			continue
		}
		clear(votes)
		_, labels := a.Of(i)
		for _, k := range labels {
			votes[k]++
		}
		most, ties := slices.Max(votes), 0
		for k, v := range votes {
			if v != most {
				continue
			}
			if ties++; rng.IntN(ties) == 0 {
				y[i] = int32(k)
			}
		}
	}
	return y
}

// Arrange brings the classes into another order, of the same names.
func (a *Annotations) Arrange(classes []string) error {
	err := labelfile.Arrange(a.Classes, classes, a.Label)
	if err == nil && len(classes) != len(a.Classes) {
		err = fmt.Errorf("has %d classes, wanted %d", len(a.Classes), len(classes))
	}
	if err != nil {
		return fmt.Errorf("the table of annotations %w", err)
	}
	a.Classes = slices.Clone(classes)
	return nil
}

// Hash returns the SHA-256, in hexadecimal, of who labelled what how, free of the order in
// which a file has it.
func (a *Annotations) Hash() string {
	h := sha256.New() // whose Write returns no error
	text := func(names []string) {
		var b []byte
		b = binary.LittleEndian.AppendUint64(b, uint64(len(names)))
		for _, s := range names {
			b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
			b = append(b, s...)
		}
		h.Write(b)
	}
	text(a.Classes)
	text(a.Names)
	for k, right := range a.Right {
		if right {
			text([]string{a.Names[k]})
		}
	}
	var b []byte
	for i := range a.N() {
		by, label := a.Of(i)
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(by)))
		for k := range by {
			b = binary.LittleEndian.AppendUint32(b, uint32(by[k]))
			b = binary.LittleEndian.AppendUint32(b, uint32(label[k]))
		}
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
