package app

import (
	"fmt"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// CheckTraining refuses what training on n examples of d features in q classes cannot hold
// in the host's memory besides the examples and their class sums, which the engine
// judges itself: weights (current, kept and their sum), tables of pairs of classes
// (confusion matrix, inverse, counts, norms), and on a processor the scores.
func CheckTraining(where engine.Device, n, d, q int) error {
	need := memory.Sum(memory.Product(q, d, 24), memory.Product(q, q, 48))
	if where.Kind == "cpu" {
		need = memory.Sum(need, memory.Product(n, q, 4), memory.Product(n, 16))
	}
	return memory.Check(need, fmt.Sprintf("training on %d examples × %d features in %d classes", n, d,
		q))
}

// CheckPredicting is checkTraining for what predicting and judging take, with all scores in
// memory if so.
func CheckPredicting(where engine.Device, n, q int, scored bool) error {
	need := memory.Product(q, q, 16) // of eval; a model holds as much
	if scored {
		need = memory.Sum(need, memory.Product(n, q, 8)) // as they came, and together
	}
	if where.Kind == "cpu" {
		need = memory.Sum(need, memory.Product(n, q, 4))
	}
	return memory.Check(need, fmt.Sprintf("predicting %d examples in %d classes", n, q))
}

// ClassNames returns the names 0, 1, … of q classes.
func ClassNames(q int) ([]string, error) {
	// A string and, with what it leaves of an allocation, its digits.
	if err := memory.Check(memory.Product(q, 32), fmt.Sprintf("a list of %d classes", q)); err != nil {
		return nil, err
	}
	names := make([]string, q)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names, nil
}
