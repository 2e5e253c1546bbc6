package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Evidence is what is known of the labels of n examples of Q classes, besides one class for each.
type Evidence struct {
	// Weight is how much each example counts, at least 0: 2 is the example twice, 0 leaves it out.
	// nil is 1 of each.
	Weight []float64

	// Classes has Q numbers for each example; nil if Dataset.Y says all. A row of ones and zeros is a
	// set: the class is one with a 1, and ones alone say nothing. Any other row is a distribution.
	// Dataset.Y then has a class that the row allows.
	Classes []float32

	// Likely says that each row of Classes has how likely what is known is with each class, the
	// largest being 1: a set of classes to degrees.
	Likely bool
}

// ErrEvidence marks evidence that does not fit the examples, or that no label can give.
var ErrEvidence = errors.New("what is known of labels")

// sumsTo is how far from 1 a distribution's sum may be.
const sumsTo = 1e-3

// Check returns an error unless e has numbers that mean something for labels y of q classes.
func (e *Evidence) Check(y []int32, q int) error {
	if err := CheckWeights(e.Weight, len(y)); err != nil {
		return err
	}
	if e.Classes == nil {
		return nil
	}
	if len(e.Classes) != len(y)*q {
		return fmt.Errorf("%w: got %d numbers, want %d for each of %d examples", ErrEvidence,
			len(e.Classes), q, len(y))
	}
	for i, k := range y {
		row := e.Classes[i*q : (i+1)*q]
		if err := e.checkRow(row); err != nil {
			return fmt.Errorf("%w: %w", ErrEvidence, &RowError{i, err})
		}
		if k < 0 || int(k) >= q || row[k] == 0 {
			return fmt.Errorf("%w: %w", ErrEvidence, &RowError{i,
				fmt.Errorf("got label %d, want a class that its row allows", k)})
		}
	}
	return nil
}

// checkRow returns an error unless a row is a set or a distribution.
func (e *Evidence) checkRow(row []float32) error {
	for k, v := range row {
		if !(v >= 0 && v <= 1+sumsTo) {
			return fmt.Errorf("probability %d: got %v, want 0 to 1", k+1, v)
		}
	}
	switch sum := sumOf(row); {
	case sum == 0:
		return errors.New("candidate classes: got none, want at least one")
	case e.Likely && slices.Max(row) != 1:
		return fmt.Errorf("likelihoods: got at most %v, want 1 as the largest", slices.Max(row))
	case e.set(row) || math.Abs(sum-1) <= sumsTo:
		return nil
	default:
		return fmt.Errorf("probabilities: got a sum of %.6g, want 1 (divide each row by its sum)", sum)
	}
}

func sumOf(row []float32) (sum float64) {
	for _, v := range row {
		sum += float64(v)
	}
	return sum
}

// RowError is what is wrong with an example, of SetEvidence with its row of the input, both counted
// from 0.
type RowError struct {
	Row int
	Err error
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %v", e.Row+1, e.Err) }

// Unwrap returns what is wrong.
func (e *RowError) Unwrap() error { return e.Err }

// CheckWeights returns an error unless weight, nil or n numbers, has finite ones of at least 0 and
// one above.
func CheckWeights(weight []float64, n int) error {
	if weight == nil {
		return nil
	}
	if len(weight) != n {
		return fmt.Errorf("%w: weights: got %d, want one for each of %d examples", ErrEvidence,
			len(weight), n)
	}
	for i, v := range weight {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%w: %w", ErrEvidence, &RowError{i,
				fmt.Errorf("got weight %v, want a number of at least 0", v)})
		}
	}
	if n > 0 && slices.Max(weight) == 0 {
		return fmt.Errorf("%w: weights: got 0 for all %d examples, want one above 0", ErrEvidence, n)
	}
	return nil
}

// isSet reports whether a row has ones and zeros alone.
func isSet(row []float32) bool {
	return !slices.ContainsFunc(row, func(v float32) bool { return v != 0 && v != 1 })
}

// set reports whether a row is a set of classes, or one to degrees.
func (e *Evidence) set(row []float32) bool { return e.Likely || isSet(row) }

// Sets returns how many rows of q classes are sets of several classes, how many of these have all,
// and how many rows are distributions.
func (e *Evidence) Sets(q int) (several, all, distributions int) {
	for at := 0; at < len(e.Classes); at += q {
		row := e.Classes[at : at+q]
		switch sum := sumOf(row); {
		case !e.set(row):
			distributions++
		case sum == float64(q):
			several, all = several+1, all+1
		case sum > 1:
			several++
		}
	}
	return several, all, distributions
}

// One reports whether one class of example i is known.
func (e *Evidence) One(i, q int) bool {
	if e.Classes == nil {
		return true
	}
	row := e.Classes[i*q : (i+1)*q]
	return e.set(row) && sumOf(row) == 1
}

// Distribution reports whether a distribution over classes is known of example i.
func (e *Evidence) Distribution(i, q int) bool {
	return e.Classes != nil && !e.set(e.Classes[i*q:(i+1)*q])
}

// Unknown reports whether nothing is known of the class of example i.
func (e *Evidence) Unknown(i, q int) bool {
	return e.Classes != nil && sumOf(e.Classes[i*q:(i+1)*q]) == float64(q)
}

// Pick returns the evidence of the examples that which names, in that order, without a part that
// says nothing; nil for none.
func (e *Evidence) Pick(which []int, q int) *Evidence {
	if e == nil {
		return nil
	}
	p := &Evidence{Likely: e.Likely}
	for _, i := range which {
		if e.Weight != nil {
			p.Weight = append(p.Weight, e.Weight[i])
		}
		if e.Classes != nil {
			p.Classes = append(p.Classes, e.Classes[i*q:(i+1)*q]...)
		}
	}
	if !slices.ContainsFunc(p.Weight, func(v float64) bool { return v != 1 }) {
		p.Weight = nil
	}
	if several, _, distributions := p.Sets(q); several+distributions == 0 {
		p.Classes = nil
	}
	if p.Weight == nil && p.Classes == nil {
		return nil
	}
	return p
}

// Times returns how often each of n examples stands in a table without weights; nil if weights are
// not whole.
func (e *Evidence) Times(n int) (times []int) {
	if e.Weight == nil {
		return slices.Repeat([]int{1}, n)
	}
	const near = 1e-6 // weights may have been float32
	for _, v := range e.Weight {
		whole := math.Round(v)
		if math.Abs(v-whole) > near*max(1, whole) || whole > math.MaxInt32 {
			return nil
		}
		times = append(times, int(whole))
	}
	return times
}

// Labels returns the labels that examples of labels y count as having, where classes are predicted:
// the prediction, if it is one of the candidates. Nil evidence changes none.
func (e *Evidence) Labels(predicted, y []int32, q int) []int32 {
	if e == nil || e.Classes == nil {
		return y
	}
	labels := slices.Clone(y)
	for i, k := range predicted {
		if e.Classes[i*q+int(k)] == 1 {
			labels[i] = k
		}
	}
	return labels
}

// Shares returns the rows of Classes divided by their sums; nil if there are none.
func (e *Evidence) Shares(q int) []float32 {
	shares := slices.Clone(e.Classes)
	for at := 0; at < len(shares); at += q {
		row := shares[at : at+q]
		sum := sumOf(row)
		for k, v := range row {
			row[k] = float32(float64(v) / sum)
		}
	}
	return shares
}

// hash returns the SHA-256, in hexadecimal, of the content hash of examples and of e.
func (e *Evidence) hash(content string) string {
	h := sha256.New()
	fmt.Fprintf(h, "uma-gpu evidence 1\n%s\n%d %d\n", content, len(e.Weight), len(e.Classes))
	binary.Write(h, binary.LittleEndian, e.Weight)  // to a hash, which takes all
	binary.Write(h, binary.LittleEndian, e.Classes) // to a hash, which takes all
	if e.Likely {
		fmt.Fprint(h, "likely")
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// SetEvidence gives d evidence, nil for none, and the Hash with it. A row of Classes whose
// Dataset.Y it does not allow gives d its likeliest class, the first of several. An error are
// numbers that mean nothing.
func (d *Dataset) SetEvidence(e *Evidence) error {
	if e != nil {
		q := len(d.Classes)
		if d.Y == nil {
			d.Y = make([]int32, d.N)
		}
		if e.Classes != nil && len(e.Classes) == d.N*q {
			d.Y = slices.Clone(d.Y)
			for i := range d.Y {
				if row := e.Classes[i*q : (i+1)*q]; row[d.Y[i]] == 0 || !isSet(row) {
					d.Y[i] = int32(lists.Largest(row))
				}
			}
		}
		err := e.Check(d.Y, q)
		if row := (*RowError)(nil); errors.As(err, &row) {
			row.Row = d.SourceRow(row.Row)
		}
		if err != nil {
			return err
		}
	}
	if d.Evidence = e; d.Prepared == nil {
		d.SHA256 = d.Hash()
	}
	return nil
}
