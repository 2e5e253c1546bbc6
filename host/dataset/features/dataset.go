package features

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Prepare fits the steps to d and prepares it, as PrepareBy does. Of a table, maps of columns are
// fitted to its numbers alone: levels stay 0 or 1, and texts keep their weights.
func Prepare(d *dataset.Dataset, s dataset.Steps, how ...dataset.Memory) error {
	if d.ReadOnly && d.Prepared == nil {
		if err := CheckRoom(d, s.String()); err != nil {
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
		return inRows(d, rows(dst, first))
	}, nil
}

// inRows returns err, unless nil, with the row of the input and the path of d.
func inRows(d *dataset.Dataset, err error) error {
	if err == nil {
		return nil
	}
	if beyond, is := errors.AsType[*UnfiniteError](err); is {
		beyond.Row = d.SourceRow(beyond.Row)
	}
	return d.Errorf("%w", err)
}

// PrepareBy replaces d's examples by p's results: in place if they are already prepared by p, if p
// has no step or if how allows it; otherwise in a copy.
func PrepareBy(d *dataset.Dataset, p *dataset.Preparation, how ...dataset.Memory) error {
	switch {
	case d.Prepared != nil:
		if why := difference(p, d.Prepared); why != "" {
			return d.Errorf("found examples prepared otherwise than wanted: %s; take the original data", why)
		}
		return nil
	case p.Steps == dataset.Steps{} && p.D == d.D:
		// Apply would copy them and change nothing.
	default:
		if d.ReadOnly {
			how = slices.DeleteFunc(slices.Clone(how),
				func(m dataset.Memory) bool { return m == dataset.InPlace })
		}
		x, err := Apply(p, d.Examples, how...)
		if err != nil {
			return inRows(d, err)
		}
		d.Examples, d.ReadOnly = x, false
	}
	d.Prepared = p
	return nil
}

// difference says how p differs from other, "" if both give the same bits.
func difference(p, other *dataset.Preparation) string {
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	switch {
	case p.Steps != other.Steps:
		return fmt.Sprintf("by %s, wanted %s", other.Steps, p.Steps)
	case p.D != other.D:
		return fmt.Sprintf("from %d features, wanted %d", other.D, p.D)
	case !slices.EqualFunc(p.A, other.A, same) || !slices.EqualFunc(p.B, other.B, same):
		return fmt.Sprintf("%s was fitted to other data", p.Steps)
	}
	return ""
}

// CheckRoom returns an error with advice unless memory holds a copy of dense d prepared by steps.
func CheckRoom(d *dataset.Dataset, steps string) error {
	if d.Sparse() || steps == "none" {
		return nil
	}
	if steps == "auto" {
		steps = d.DefaultSteps()
	}
	err := memory.Check(memory.Product(d.N, d.D, 4),
		fmt.Sprintf("a copy of %d examples × %d features that is prepared by %s", d.N, d.D, steps))
	if err == nil {
		return nil
	}
	return d.Errorf("%w; a file that is prepared already need not fit: convert it first (%s %s %s)",
		err, quote.Option("data", d.Path), quote.Option("normalize", steps),
		quote.Option("out", strings.TrimSuffix(d.Path, filepath.Ext(d.Path))+".prepared.npz"))
}
