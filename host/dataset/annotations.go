package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Annotations are labels of the same examples by several annotators: each of n examples has at
// least one, and an annotator may label an example more than once.
type Annotations struct {
	Classes []string // Q distinct names, in the order of the class indices
	Names   []string // of the annotators, distinct, in bytewise order
	// Start has n+1 offsets: example i has By[Start[i]:Start[i+1]] and Label[Start[i]:Start[i+1]].
	Start []int
	By    []int32 // index in Names of the annotator of each label, increasing within an example
	Label []int32 // each in 0..Q-1
	// Right marks annotators whose labels are all right, such as an expert who checked some examples;
	// nil for none. Two of them agree.
	Right []bool
	// Functions reports that the annotators are labelling functions, which give an example one label
	// or abstain; abstaining is evidence, and examples may have no label.
	Functions bool
	Items     []string // names of the examples in a table without data; nil for none
}

// N returns the number of examples.
func (a *Annotations) N() int { return len(a.Start) - 1 }

// Of returns the annotators and labels of example i. Both share a's memory.
func (a *Annotations) Of(i int) (by, label []int32) {
	from, to := a.Start[i], a.Start[i+1]
	return a.By[from:to], a.Label[from:to]
}

// Known returns the true class of example i, if an annotator whose labels are right gave it one.
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

// Pick returns the annotations of the given examples, in that order. It shares a's names and
// classes.
func (a *Annotations) Pick(which []int) *Annotations {
	p := &Annotations{Classes: a.Classes, Names: a.Names, Right: a.Right, Functions: a.Functions,
		Start: make([]int, 1, len(which)+1)}
	for _, i := range which {
		by, label := a.Of(i)
		p.By, p.Label = append(p.By, by...), append(p.Label, label...)
		p.Start = append(p.Start, len(p.By))
	}
	return p
}

// Counts returns how many labels each annotator gave.
func (a *Annotations) Counts() []int {
	counts := make([]int, len(a.Names))
	for _, k := range a.By {
		counts[k]++
	}
	return counts
}

// Check returns an error unless a are annotations of n examples with q classes.
func (a *Annotations) Check(n, q int) error {
	switch {
	case len(a.Classes) != q:
		return fmt.Errorf("annotations: found %d classes, wanted %d as the examples have", len(a.Classes),
			q)
	case len(a.Start) != n+1 || a.Start[0] != 0 || a.Start[n] != len(a.By) ||
		len(a.By) != len(a.Label):
		return fmt.Errorf("annotations: found annotations of %d examples (%d labels), wanted %d", a.N(),
			len(a.Label), n)
	case !slices.IsSorted(a.Names) || len(slices.Compact(slices.Clone(a.Names))) != len(a.Names):
		return fmt.Errorf("annotations: found annotators %.600q, wanted each once and in order", a.Names)
	case a.Right != nil && len(a.Right) != len(a.Names):
		return fmt.Errorf("annotations: found whether %d annotators are right, wanted it of %d",
			len(a.Right), len(a.Names))
	}
	for i := range n {
		if a.Start[i] > a.Start[i+1] || a.Start[i+1] > len(a.By) ||
			!a.Functions && a.Start[i] == a.Start[i+1] {
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

// voteStream separates ties of votes from other uses of a seed.
const voteStream uint64 = 0x636f6e662d766f74 // "conf-vot" in ASCII

// Votes returns the majority vote on each example, or its true class if known; the seed breaks
// ties.
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

// Hash returns the SHA-256 of the annotations in hexadecimal, independent of their order in a file.
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

// Labelled returns the examples that have a label, in order.
func (a *Annotations) Labelled() []int {
	return lists.Where(a.N(), func(i int) bool { return a.Start[i] < a.Start[i+1] })
}

// Repeats returns the number of labels beyond the first of an annotator for an example.
func (a *Annotations) Repeats() (count int) {
	for i := range a.N() {
		by, _ := a.Of(i)
		for k := 1; k < len(by); k++ {
			if by[k] == by[k-1] {
				count++
			}
		}
	}
	return count
}
