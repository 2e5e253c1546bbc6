package means

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// ErrOptions is the kind of error of options that cannot be met; test with errors.Is.
var ErrOptions = errors.New("no such atoms")

// The ways to choose atoms. All are seeded.
const (
	Uniform = "uniform" // each set of examples is as likely
	// Clusters draws one of each of the parts into which farthest-first traversal (Gonzalez 1985)
	// cuts a class (Algorithms 1 and 2, Theorem 21).
	Clusters = "clusters"
	// Herding takes them one by one where a class's mean exceeds that of its atoms so far most (Chen,
	// Welling and Smola 2010).
	Herding = "herding"
)

// The weights of atoms.
const (
	Optimal = "optimal" // the nearest that the atoms' span has to each mean (Cortés and Scott 2016)
	// those of the choice: each class has its own atoms, whose weights are positive and sum to 1
	Own = "own"
)

// Auto is the value of Options.Atoms for as many as are worth it (see Fit).
const Auto = -1

// Options say what stands for the means.
type Options struct {
	Function kernel.Function
	Atoms    int // k, of all classes together; Auto; or 0 for every example, which is exact
	// Within asks, in the place of Atoms, for as few atoms of each class as Choice brings within that
	// length of its mean in feature space: by the bound that 95 draws of 100 keep where it draws
	// (Algorithm 2), by the distance itself where it herds. Optimal weights of the same atoms are
	// nearer still. 0 for Atoms to say.
	Within  float64
	Choice  string // Uniform (also ""), Clusters or Herding
	Weights string // Optimal (also "") or Own
	Seed    uint64
}

// check judges o for n examples and fills in what is left out.
func (o *Options) check(n int) error {
	if err := o.Function.Check(); err != nil {
		return err
	}
	wrong := func(format string, a ...any) error {
		return fmt.Errorf("kernel mean: %w: "+format, append([]any{ErrOptions}, a...)...)
	}
	if o.Choice == "" {
		o.Choice = Uniform
	}
	if o.Weights == "" {
		o.Weights = Optimal
	}
	switch o.Choice {
	case Uniform, Clusters, Herding:
	default:
		return wrong("found the choice %q, wanted %s, %s or %s", o.Choice, Uniform, Clusters, Herding)
	}
	switch {
	case o.Weights != Optimal && o.Weights != Own:
		return wrong("found the weights %q, wanted %s or %s", o.Weights, Optimal, Own)
	case o.Atoms < Auto || o.Atoms > n:
		return wrong("found %d atoms, wanted 1 to %d, as many as there are examples", o.Atoms, n)
	case o.Within < 0 || math.IsNaN(o.Within) || math.IsInf(o.Within, 0):
		return wrong("found atoms within %v of the means, wanted a length above 0, or 0 for none",
			o.Within)
	case o.Within > 0 && o.Atoms != 0:
		return wrong("found atoms within %v of the means and a number of them, wanted one of both",
			o.Within)
	case o.Atoms == Auto && o.Weights == Own:
		return wrong("found %s weights and a number of atoms that is to be found, wanted %s ones or a "+
			"number", Own, Optimal)
	}
	return nil
}
