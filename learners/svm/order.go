package svm

import (
	"errors"
	"math/rand/v2"
)

// order is a permutation of the examples; all behind the first active ones are left out.
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
		return errors.New("found an order of the examples that is none")
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
