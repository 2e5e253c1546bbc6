package features

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/prepared"
)

// Prepare fits the steps to d and prepares it, as PrepareBy does. Of a table, maps of columns are
// fitted to its numbers alone: levels stay 0 or 1, and texts keep their weights.
func Prepare(d *dataset.Dataset, s dataset.Steps, how ...dataset.Memory) error {
	if d.Home != nil && d.Home.ReadOnly() && d.Prepared == nil {
		if err := prepared.CheckRoom(d, s.String()); err != nil {
			return err
		}
	}
	p, err := fit(d, s)
	if err != nil {
		return err
	}
	return PrepareBy(d, p, how...)
}

// fit finds the preparation of d by s.
func fit(d *dataset.Dataset, s dataset.Steps) (*dataset.Preparation, error) {
	if d.Prepared != nil {
		return nil, d.Errorf("found examples prepared by %s already, wanted raw ones", d.Prepared.Steps)
	}
	numbers := numbersOf(d.Encoding)
	if numbers == nil {
		if err := refuseFilling(s, d.Examples); err != nil {
			return nil, d.Errorf("%w", err)
		}
	}
	p, err := fitTo(s, d.Examples, numbers)
	if err != nil {
		return nil, d.Errorf("%w", err)
	}
	return p, nil
}

// PrepareRows is Prepare that leaves dense d its shape alone and returns its rows for
// WriteOptions.Rows, made of the raw ones on demand; nil if it prepared d itself.
func PrepareRows(d *dataset.Dataset, s dataset.Steps) (func(dst []float32, first int) error,
	error) {
	p, err := fit(d, s)
	if err != nil {
		return nil, err
	}
	if d.Sparse() || s == (dataset.Steps{}) {
		return nil, PrepareBy(d, p)
	}
	rows := rowsOf(p, d.Examples)
	d.Examples = dataset.Examples{N: d.N, D: p.Width()}
	d.Prepared = p
	return func(dst []float32, first int) error {
		if err := rows(dst, first); err != nil {
			return d.Errorf("%w", err)
		}
		return nil
	}, nil
}

// PrepareBy replaces d's examples by what p makes of them: in place if they were prepared so
// before, if p has no step or how allows; else a copy.
func PrepareBy(d *dataset.Dataset, p *dataset.Preparation, how ...dataset.Memory) error {
	switch {
	case d.Prepared != nil:
		if why := prepared.Difference(p, d.Prepared); why != "" {
			return d.Errorf("found examples prepared otherwise than wanted: %s; take the original data", why)
		}
		return nil
	case p.Steps == dataset.Steps{} && p.D == d.D:
		// Apply would copy them and change nothing.
	default:
		if d.Home != nil && d.Home.ReadOnly() {
			how = slices.DeleteFunc(slices.Clone(how),
				func(m dataset.Memory) bool { return m == dataset.InPlace })
		}
		x, err := Apply(p, d.Examples, how...)
		if err != nil {
			return d.Errorf("%w", err)
		}
		d.Examples = x
	}
	d.Prepared = p
	return nil
}
