package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Prepare fits the steps to the raw examples of d and puts the prepared ones in
// their place, as PrepareBy does. The errors are those of Fit and PrepareBy.
func (d *Dataset) Prepare(s Steps, how ...Memory) error {
	if d.Home != nil && d.Home.ReadOnly() && d.Prepared == nil {
		if err := d.Stored().Agree(d.roomToPrepare(s.String())); err != nil {
			return err
		}
	}
	p, err := d.fit(s)
	if err != nil {
		return err
	}
	return d.PrepareBy(p, how...)
}

// fit finds the preparation of d by s.
func (d *Dataset) fit(s Steps) (*Preparation, error) {
	if d.Prepared != nil {
		return nil, fmt.Errorf("%s: found examples prepared by %s already, wanted raw ones", d.Path,
			d.Prepared.Steps)
	}
	p, err := Fit(s, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	// Memory for a copy may be cleared before its first row is prepared: the pages of the file that
	// Fit has read are given back by then.
	store.LetGo(store.Bytes(d.X), false)
	if s.MaxAbs && d.Encoding.hasText() {
		d.Encoding.leaveTexts(p)
	}
	return p, nil
}

// PrepareRows is Prepare, but of dense examples it leaves d nothing but their shape and returns
// what WriteOptions.Rows takes: each time they are asked for, rows are prepared of the raw ones,
// which have to stay until then. It returns nil, and has prepared d, where that takes no copy or
// more than rows, and of sparse examples.
func (d *Dataset) PrepareRows(s Steps) (func(dst []float32, first int) error, error) {
	p, err := d.fit(s)
	if err != nil {
		return nil, err
	}
	if d.Sparse() || d.Narrow || s == (Steps{}) {
		return nil, d.PrepareBy(p)
	}
	rows, err := p.Rows(d.Examples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	d.Put(Examples{N: d.N, D: p.Width()}.Stored())
	d.Prepared = p
	return func(dst []float32, first int) error {
		if err := rows(dst, first); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		return nil
	}, nil
}

// roomToPrepare returns an error that says what to do if there is no memory for what this rank has of
// the examples of d, which lie in a file, once more, prepared by steps.
func (d *Dataset) roomToPrepare(steps string) error {
	if d.Sparse() || steps == "none" {
		return nil
	}
	if steps == "auto" {
		steps = d.DefaultSteps()
	}
	from, to := d.Stored().Own()
	err := memory.Check(memory.Product(to-from, d.D, 4),
		fmt.Sprintf("a copy of %d examples × %d features that is prepared by %s", to-from, d.D, steps))
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; a file that is prepared already need not fit: uma-gpu convert --data "+
		"%s --normalize %s --out %s, and then give that file", d.Path, err, d.Path, steps,
		strings.TrimSuffix(d.Path, ".umab")+".prepared.umab")
}

// PrepareBy makes the examples of d those that p gives, and Prepared p. They stay where they are,
// in a mapped file for example, if they were prepared so before or if p has no step; else they are
// a copy, or lie in their place if how says so, and d gives up the raw ones. It is an error if
// they were prepared in another way, and where Apply gives one.
func (d *Dataset) PrepareBy(p *Preparation, how ...Memory) error {
	if d.Narrow {
		how = append(how, WithCodes)
	}
	switch {
	case d.Prepared != nil:
		if why := p.differs(d.Prepared); why != "" {
			return fmt.Errorf("%s: found examples prepared otherwise than wanted: %s; take the original "+
				"data", d.Path, why)
		}
		return nil
	case p.Steps == Steps{} && p.D == d.D && !slices.Contains(how, WithCodes):
		// Apply would copy them and change nothing.
	default:
		if d.Home != nil && d.Home.ReadOnly() {
			how = slices.DeleteFunc(slices.Clone(how), func(m Memory) bool { return m == InPlace })
		}
		x, err := p.apply(d.Stored(), how)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		d.Put(x)
	}
	d.Prepared = p
	return nil
}
