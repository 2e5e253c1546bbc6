package svm

import (
	"errors"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// examples are what the machines of a run share, and do not write to.
type examples struct {
	x      dataset.Examples
	y      []int32
	norms2 []float64 // ‖x‖² of each
	costs  []float64 // C by label
}

// newExamples takes examples as they are, or as sparse ones if most values are 0: then the passes
// take less time, and the same bits come of it.
func newExamples(x dataset.Examples, y []int32, costs []float64) *examples {
	e := &examples{x: x, y: y, costs: costs, norms2: make([]float64, x.N)}
	if !x.Sparse() && mostlyZero(x.X) {
		e.x = x.Compressed()
	}
	for i := range e.norms2 {
		_, values := e.x.Entries(i)
		e.norms2[i] = base.SquaredLength(values)
	}
	return e
}

// mostlyZero says whether no more than a third of v are not 0, which is what takes less memory as
// sparse examples and less time.
func mostlyZero(v []float32) bool {
	stored := 0
	for _, f := range v {
		if f != 0 {
			stored++
		}
	}
	return stored <= len(v)/3
}

// dot returns ⟨w,x_i⟩, summed in increasing order of the columns.
func (e *examples) dot(w []float64, i int) (sum float64) {
	if !e.x.Sparse() {
		for j, v := range e.x.Row(i) {
			sum += float64(w[j] * float64(v))
		}
		return sum
	}
	columns, values := e.x.SparseRow(i)
	for k, j := range columns {
		sum += float64(w[j] * float64(values[k]))
	}
	return sum
}

// add adds step·x_i to w.
func (e *examples) add(w []float64, i int, step float64) {
	if !e.x.Sparse() {
		for j, v := range e.x.Row(i) {
			w[j] += float64(step * float64(v))
		}
		return
	}
	columns, values := e.x.SparseRow(i)
	for k, j := range columns {
		w[j] += float64(step * float64(values[k]))
	}
}

// expect has the row of example i brought near to the processor, which will ask for it next.
func (e *examples) expect(i int32) {
	columns, values := e.x.Entries(int(i))
	lanes.Prefetch(lanes.Row{Columns: columns, Values: values})
}

// order is a permutation of the examples; all after the first active ones are left out.
type order struct {
	of     []int32
	active int64
}

func newOrder(n int) order {
	o := order{of: make([]int32, n), active: int64(n)}
	for i := range o.of {
		o.of[i] = int32(i)
	}
	return o
}

// shuffle shuffles the examples that are not left out.
func (o *order) shuffle(random *rand.Rand) {
	for s := range o.active {
		t := s + random.Int64N(o.active-s)
		o.of[s], o.of[t] = o.of[t], o.of[s]
	}
}

// leave leaves out the example at place s, where another one is now.
func (o *order) leave(s int64) {
	o.active--
	o.of[s], o.of[o.active] = o.of[o.active], o.of[s]
}

func (o *order) all()        { o.active = int64(len(o.of)) }
func (o *order) whole() bool { return o.active == int64(len(o.of)) }

// check says what no run would have saved.
func (o *order) check() error {
	if o.active < 0 || o.active > int64(len(o.of)) || !permutation(o.of) {
		return errors.New("found an invalid order of the examples, want a permutation")
	}
	return nil
}

// permutation says whether of has each of 0 … len(of)-1 once.
func permutation(of []int32) bool {
	seen := make([]bool, len(of))
	for _, i := range of {
		if i < 0 || int(i) >= len(of) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}
