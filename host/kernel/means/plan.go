package means

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Plan is what a fit takes of the host's memory beside its examples, in bytes, and what it
// computes. What the engine takes while it projects a block of them is not in it.
type Plan struct {
	Atoms   int   `json:"atoms"`         // at most, in all
	Weights int64 `json:"weights_bytes"` // of all examples in the exact means, and of the atoms
	// while atoms are chosen: a copy of a class, kernel values that are kept, sums
	Choice int64 `json:"choice_bytes"`
	Factor int64 `json:"factor_bytes"` // of the atoms' kernel values, for optimal weights
	// Values is how many kernel values are computed, at most but for those of Choice with atoms, if
	// all classes are as large.
	Values int64 `json:"kernel_values"`
}

// Total returns the bytes of all that is there at once.
func (p Plan) Total() int64 { return memory.Sum(p.Weights, max(p.Choice, p.Factor)) }

// NewPlan says what Fit takes for n examples of d features and q classes. Errors: ErrOptions,
// those of Function.Check, and memory.ErrBudget if there is no room.
func NewPlan(n, d, q int, o Options) (Plan, error) {
	if err := o.check(n); err != nil {
		return Plan{}, err
	}
	p := Plan{Atoms: o.Atoms}
	switch {
	case o.Atoms == Auto:
		p.Atoms = min(candidates, n)
	case o.Atoms == 0:
		p.Atoms = n
	}
	p.Weights = memory.Sum(memory.Product(n, q, 4), memory.Product(p.Atoms, q, 4))
	if o.Atoms == 0 && o.Within == 0 {
		return p, memory.Check(p.Total(), "kernel means of all examples")
	}
	p.Values = memory.Sum(memory.Product(min(n, errorRows), n, 1), memory.Product(p.Atoms, n, 1))
	if o.Choice != Uniform {
		p.Choice = memory.Sum(pca.KernelRowsBytes(n, true), memory.Product(n, 40))
		if q > 1 {
			p.Choice = memory.Sum(p.Choice, memory.Product(n, d, 4))
		}
	}
	if o.Choice == Herding {
		p.Choice = memory.Sum(p.Choice, pairBytes(n))
		p.Values = memory.Sum(p.Values, memory.Product(n, n, 1)/int64(q))
	}
	if o.Weights == Optimal {
		p.Factor = memory.Product(p.Atoms, p.Atoms, 12)
	}
	return p, memory.Check(p.Total(), fmt.Sprintf("means of %d classes by %d of %d examples", q,
		p.Atoms, n))
}
