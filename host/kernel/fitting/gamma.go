package fitting

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/learners"
)

// longestMean returns f with the γ, of 13 around its own, that sets the mean vectors of the
// classes farthest apart (Theorem 6 of the paper of the kernel mean): one reading of the examples,
// and no clean label.
func longestMean(ctx context.Context, p *learners.Problem, l Learning, f kernel.Function,
) (kernel.Function, error) {
	var functions []kernel.Function
	for power := -4; power <= 8; power++ {
		one := f
		one.Gamma = f.Gamma * float32(math.Ldexp(1, power))
		functions = append(functions, one)
	}
	inverse, err := p.Inverse()
	if err != nil {
		return f, err
	}
	lengths, within, err := means.Lengths(ctx, p.Engine, p.Rows(), p.Y, p.Q, inverse.V, functions,
		p.Seed)
	if err != nil {
		return f, err
	}
	best := lengths[0]
	for _, one := range lengths[1:] {
		if one.U > best.U {
			best = one
		}
	}
	l.Note("kernel: gamma %v, whose means are %.3g apart, is taken; the true ones are within %.2g of "+
		"that, in 95 samples of 100", best.Function.Gamma, math.Sqrt(max(0, best.U)), within)
	return best.Function, nil
}
