package trees

import (
	"cmp"
	"context"
	"math"
)

// settle returns the parameters with all values chosen.
func settle(ctx context.Context, p Params, d *data, note func(string, ...any)) (Params, error) {
	if p.Mode == Auto {
		p.Mode = Boost
	}
	if p.Mode == Forest {
		p.Rounds, p.Leaves = cmp.Or(p.Rounds, 200), cmp.Or(p.Leaves, MostLeaves)
		p.Least = cmp.Or(p.Least, 3)
		p.Columns = cmp.Or(p.Columns, 1/math.Sqrt(float64(len(d.columns))))
		return p, nil
	}
	p.Rounds, p.Leaves, p.Least = cmp.Or(p.Rounds, 200), cmp.Or(p.Leaves, 8), cmp.Or(p.Least, 1)
	p.Rate, p.Rows, p.Columns = cmp.Or(p.Rate, 0.1), cmp.Or(p.Rows, 0.5), cmp.Or(p.Columns, 0.5)
	return p, nil
}
