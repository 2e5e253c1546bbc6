package host

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// longestMean returns f with the γ, of 13 around its own, that sets the mean vectors of the classes farthest
// apart (Theorem 6 of the paper of the kernel mean): one reading of the examples, and no clean label.
func (t *training) longestMean(ctx context.Context, f kernel.Function) (kernel.Function, error) {
	var functions []kernel.Function
	for power := -4; power <= 8; power++ {
		one := f
		one.Gamma = f.Gamma * float32(math.Ldexp(1, power))
		functions = append(functions, one)
	}
	p := t.problem
	lengths, within, err := means.Lengths(ctx, t.Engine, p.Rows(), p.Y, p.Q, t.inverse.V, functions, t.Seed)
	if err != nil {
		return f, err
	}
	best := lengths[0]
	for _, l := range lengths[1:] {
		if l.U > best.U {
			best = l
		}
	}
	t.note("kernel: gamma %v, whose means are %.3g apart, is taken; the true ones are within %.2g of that, in 95 "+
		"samples of 100", best.Function.Gamma, math.Sqrt(max(0, best.U)), within)
	return best.Function, nil
}
