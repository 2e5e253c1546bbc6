package audit

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// cells are a labelled data set.
type cells struct {
	*scorer
	r      engine.LoadedCells
	labels []int64 // examples of each

	assigns int               // so far
	alpha   float32           // of the last
	found   engine.Assignment // by the last
	current bool              // the other driver has the last assignment too
	moved   bool              // scores changed since the last assignment
	// Q×d: Σ q(x_i) of the examples of each label; nil as long as it is not known
	total    []int64
	sums     []int64 // room
	expected []int64 // room
}

// t is the data set on the other driver.
func (c *cells) t() engine.LoadedCells { return c.other.(engine.LoadedCells) }

func (c *cells) Rescore(w engine.Weights, classes []int) error {
	c.moved = c.moved || len(classes) > 0
	return c.scorer.Rescore(w, classes)
}

func (c *cells) Assign(alpha float32) (engine.Assignment, error) {
	a, err := c.r.Assign(alpha)
	if c.note(err) != nil {
		return a, err
	}
	c.assigns++
	c.alpha, c.current, c.moved = alpha, false, false
	c.found.Regions = append(c.found.Regions[:0], a.Regions...)
	c.found.Predicted = append(c.found.Predicted[:0], a.Predicted...)
	name := fmt.Sprintf("assignment %d", c.assigns)
	if err := c.compared(name, checkCounts(a, c.labels)); err != nil {
		return a, err
	}
	if err := c.audit(name, all, c.cost(), c.compare); err != nil || c.current {
		return a, err
	}
	return a, c.compared(name, c.addUp(a))
}

// checkCounts compares the counts of an assignment with the numbers of examples of each label.
func checkCounts(a engine.Assignment, labels []int64) error {
	q := len(labels)
	for k, want := range labels {
		got := int64(0)
		for p := range q {
			cell := p*q + k
			n, predicted := a.Regions[cell], a.Predicted[cell]
			if n < 0 || n > predicted {
				return differs(fmt.Sprintf("count of region %d, label %d", p, k), n, fmt.Sprintf("0 to %d",
					predicted))
			}
			if predicted > want {
				return differs(fmt.Sprintf("count of prediction %d, label %d", p, k), predicted,
					fmt.Sprintf("at most %d", want))
			}
			got += predicted
		}
		if got != want {
			return differs(fmt.Sprintf("count of examples with label %d", k), got, want)
		}
	}
	return nil
}

// compare assigns on the other driver, and compares counts and class sums.
func (c *cells) compare() error {
	if err := c.begin(); err != nil {
		return err
	}
	b, err := c.t().Assign(c.alpha)
	if err != nil {
		return err
	}
	q := c.w.Q
	for _, t := range []struct {
		name        string
		found, want []int64
	}{{"prediction", c.found.Predicted, b.Predicted}, {"region", c.found.Regions, b.Regions}} {
		if err := same(t.found, t.want, func(k int) string {
			return fmt.Sprintf("count of %s %d, label %d", t.name, k/q, k%q)
		}); err != nil {
			return err
		}
	}
	c.total = nil
	if lists.Sum(b.Regions) == int64(c.x.N) {
		c.total = make([]int64, q*c.x.D)
	}
	for p := range q {
		if err := c.readSums(p); err != nil {
			return err
		}
		if err := c.t().ClassSums(c.expected, p); err != nil {
			return err
		}
		if err := same(c.sums, c.expected, sumName(p, c.x.D)); err != nil {
			return err
		}
		for k := range c.total { // which is known if every example is in some region
			c.total[k] += c.expected[k]
		}
	}
	c.current = true
	return nil
}

// readSums reads the class sums of a region.
func (c *cells) readSums(p int) error {
	if c.sums == nil {
		c.sums, c.expected = make([]int64, c.w.Q*c.x.D), make([]int64, c.w.Q*c.x.D)
	}
	return c.r.ClassSums(c.sums, p)
}

// sumName returns the names of the class sums of a region, for d features.
func sumName(p, d int) func(k int) string {
	return func(k int) string {
		return fmt.Sprintf("class sum of region %d, label %d, feature %d", p, k/d, k%d)
	}
}

// addUp compares the class sums over all regions with what they have to add up to, if that is
// known and there is time.
func (c *cells) addUp(a engine.Assignment) error {
	if c.total == nil || lists.Sum(a.Regions) != int64(c.x.N) {
		return nil
	}
	q := c.w.Q
	return c.a.budget.audit(sums, 4*q*q*c.x.D, func() error {
		clear(c.expected)
		for p := range q {
			if err := c.readSums(p); err != nil {
				return err
			}
			lists.Add(c.expected, c.sums)
		}
		return same(c.expected, c.total, func(k int) string {
			return fmt.Sprintf("class sum over all regions of label %d, feature %d", k/c.x.D, k%c.x.D)
		})
	})
}

// ClassSums, Norms and UpdateVectors are compared if the other driver has the same assignment.
func (c *cells) ClassSums(dst []int64, p int) error {
	if err := c.note(c.r.ClassSums(dst, p)); err != nil || !c.current {
		return err
	}
	return again(c.scorer, "class sums", 4*len(dst), dst,
		func(want []int64) error { return c.t().ClassSums(want, p) }, sumName(p, c.x.D))
}

func (c *cells) Norms(dst, inv []float32) error {
	if err := c.note(c.r.Norms(dst, inv)); err != nil || !c.current {
		return err
	}
	return again(c.scorer, "norms", 8*c.w.Q*len(dst)*c.x.D, dst,
		func(want []float32) error { return c.t().Norms(want, inv) },
		func(k int) string { return fmt.Sprintf("norm of region %d, class %d", k/c.w.Q, k%c.w.Q) })
}

func (c *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	if err := c.note(c.r.UpdateVectors(dst, pairs, inv)); err != nil || !c.current {
		return err
	}
	return again(c.scorer, "update vectors", 8*c.w.Q*len(dst), dst,
		func(want []float32) error { return c.t().UpdateVectors(want, pairs, inv) },
		func(k int) string {
			z := pairs[k/c.x.D]
			return fmt.Sprintf("update vector of region %d, class %d: feature %d", z.P, z.Q, k%c.x.D)
		})
}

// Close audits the last assignment before it closes, unless the driver is closed or an operation
// has failed.
func (c *cells) Close() error {
	var err error
	if !c.a.closed && c.failed == nil && c.assigns > 0 && !c.current && !c.moved {
		err = c.audit("the last assignment", last, c.cost(), c.compare)
	}
	return errors.Join(err, c.scorer.Close())
}
