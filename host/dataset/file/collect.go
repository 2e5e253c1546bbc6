package file

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/mapped"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// collector collects the examples of a file. The reader of a format enters the values
// of an example into pile or encoder, and its label, and then accepts or rejects it.
type collector struct {
	name   string  // of the data, for messages
	format string  // of the last file
	src    *source // the current file
	o      Options // how it is read, as its columns have settled
	asked  Options // how it was to be read

	labels   *labels   // of the accepted examples; nil without
	external *external // the labels, if they come from another file or array
	ids      *ids      // nil without Options.IDColumn
	weights  *weights  // nil without Options.WeightColumn
	source   []int     // the data row of each accepted example; nil while it is its number
	faults   faults

	n, seen int // accepted examples; all so far, rejected ones too

	pile     pile            // the values, unless they lie in home
	encoder  *encode.Encoder // makes marks of the cells of a table; nil if all are numbers
	home     *mapped.File    // in which the only segment lies; nil if it is in memory
	prepared *dataset.Preparation

	notes    []string
	remarks  remarks
	describe func(*dataset.Dataset) // enters what the reader knows of the columns
}

// begin begins the file.
func (c *collector) begin(s *source, o Options) (err error) {
	c.src, c.o, c.faults = s, o, newFaults(o)
	if o.IDColumn != "" {
		c.ids = &ids{}
	}
	if o.WeightColumn != "" {
		c.weights = &weights{}
	}
	switch {
	case o.NoLabels:
	case o.given != nil:
		c.external, c.labels = o.given, o.given.labels
	default:
		c.labels, err = newLabels(o.Classes, o.LabelRules)
	}
	return err
}

// number returns which example of its file the current one is, from 1.
func (c *collector) number() int { return c.seen + 1 }

// inline reports whether labels come with the features.
func (c *collector) inline() bool { return c.labels != nil && c.external == nil }

// setOther takes the text in a column of the current example that is no feature.
func (c *collector) setOther(r role, text []byte) (fault string) {
	switch r {
	case label:
		return c.labels.set(text)
	case identity:
		return c.ids.set(text)
	case weight:
		return c.weights.set(text)
	}
	return ""
}

// decide accepts the entered example, or rejects it because of fault.
func (c *collector) decide(fault error, place int) error {
	switch {
	case fault == nil:
		return c.accept(place)
	case c.o.lenient() && c.encoder == nil && !c.o.survey.whole && c.src.same != nil:
		return errSurprise
	}
	return c.reject(fault, place)
}

// accept takes the entered example and its label; an error ends reading.
func (c *collector) accept(place int) error {
	if ok, err := c.admit(place); !ok {
		return err
	}
	if c.encoder != nil {
		c.pile.columns, c.pile.values = c.encoder.AppendRow(c.pile.columns, c.pile.values)
		if err := c.encoder.CheckGrowth(); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if !c.pile.keep() {
		return nil
	}
	if c.o.Aside {
		if err := c.pile.moveAside(c.src.path); err != nil {
			return err
		}
		return nil
	}
	const segments, bytes = 16, 16 * 8 * segmentValues
	if len(c.pile.segments)%segments != 0 {
		return nil
	}
	if err := memory.Check(bytes, fmt.Sprintf("the next %d mebibytes after %d examples", bytes>>20,
		c.n)); err != nil {
		return fmt.Errorf("%s: %w", c.src.path, err)
	}
	return nil
}

// admit counts one more example and keeps its label; not ok means rejected, or err ends reading.
func (c *collector) admit(place int) (ok bool, err error) {
	if c.external != nil {
		fault, err := c.external.choose(c.seen)
		if err != nil {
			return false, err
		}
		if fault != nil {
			return false, c.reject(fault, place)
		}
	}
	if c.n >= c.src.limits.rows {
		return false, c.src.errorf("found more than %d examples, which is more than can "+
			"be numbered; split the file", c.src.limits.rows)
	}
	if c.labels != nil {
		c.labels.commit()
		err = c.labels.checkGrowth()
	}
	if c.ids != nil && err == nil {
		err = c.ids.commit()
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.src.path, err)
	}
	if c.weights != nil {
		c.weights.values = append(c.weights.values, c.weights.pending)
	}
	if c.source != nil {
		c.source = append(c.source, c.seen)
	}
	c.n++
	c.seen++
	return true, nil
}

// reject drops the entered example because of err; what it returns ends reading.
func (c *collector) reject(err error, place int) error {
	if c.source == nil {
		c.source = lists.UpTo[int](c.n)
	}
	c.seen++
	c.pile.drop()
	return c.faults.reject(err, place)
}

// note keeps a remark for the user, once.
func (c *collector) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// finish returns the data set of all accepted examples.
func (c *collector) finish() (*dataset.Dataset, error) {
	if c.o.lenient() && c.encoder != nil && c.encoder.Surprised() && !c.o.survey.whole &&
		c.src.same != nil {
		return nil, errSurprise
	}
	if c.external != nil && c.seen < len(c.external.codes) {
		return nil, c.external.tooMany(c.src.path, c.seen)
	}
	if c.n == 0 {
		if bad := len(c.faults.skippedAt); bad > 0 {
			return nil, fmt.Errorf("%s: all %d examples were skipped, wanted at least one good; the "+
				"first: %w", c.src.path, bad, c.faults.skippedErrs[0])
		}
		return nil, emptyFault(c.src, "")
	}
	c.pile.seal()
	return c.dataset()
}

// dataset makes the data set of the examples in segments.
func (c *collector) dataset() (d *dataset.Dataset, err error) {
	d = &dataset.Dataset{Found: dataset.Found{Subnormals: c.pile.subnormals, Notes: c.notes,
		SkippedAt: c.faults.skippedAt, SkippedErrs: c.faults.skippedErrs}, Source: c.source}
	if c.home != nil {
		d.Home, d.ReadOnly = c.home, true
	}
	if c.pile.aside != nil {
		d.Home = c.pile.aside
	}
	defer func() {
		if err != nil {
			d.Close() // only read
			d = nil
		}
	}()
	if d.Examples, err = c.examples(); err != nil {
		return d, err
	}
	var evidence dataset.Evidence
	if c.labels != nil {
		if d.Classes, d.Y, evidence.Classes, err = c.labels.finish(); err != nil {
			return d, fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if c.weights != nil {
		evidence.Weight, c.weights.values = c.weights.values, nil
		if err := dataset.CheckWeights(evidence.Weight, d.N); err != nil {
			return d, fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if evidence.Weight != nil || evidence.Classes != nil {
		d.Evidence = &evidence
	}
	if c.ids != nil {
		d.IDs, c.ids.texts = c.ids.texts, nil
	}
	if c.describe != nil {
		c.describe(d)
	}
	if c.encoder != nil {
		c.encoder.About(d)
	}
	return d, nil
}

// examples joins the segments in the form that Options.Storage asks for.
func (c *collector) examples() (e dataset.Examples, err error) {
	auto := c.o.Storage == "" || c.o.Storage == "auto"
	e = dataset.Examples{N: c.n, D: c.pile.width}
	stored := c.pile.stored
	if c.encoder != nil {
		marks := dataset.Examples{N: c.n, D: c.encoder.Width()}
		if marks.Starts, marks.Columns, marks.Values, err = c.pile.sparse(c.n); err != nil {
			return e, err
		}
		if e, err = c.encoder.Encode(c.src.ctx, c.pile.aside, marks); err != nil {
			return e, err
		}
		stored = len(e.Values)
	}
	sparse := c.o.Storage == "sparse" || auto && c.home == nil && c.prepared == nil &&
		(c.encoder != nil && c.encoder.HasText() || sparseIsBetter(stored, e.N, e.D))
	switch {
	case sparse && c.encoder != nil:
		return e, nil
	case sparse:
		e.Starts, e.Columns, e.Values, err = c.pile.sparse(c.n)
		return e, err
	case c.home != nil:
		e.X = c.pile.segments[0].x
		return e, nil
	}
	if err := c.checkDense(e.N, e.D); err != nil {
		return e, err
	}
	whole := c.encoder == nil && c.pile.whole()
	if !whole && c.pile.aside == nil {
		what := fmt.Sprintf("dense storage of %d examples × %d features", e.N, e.D)
		if err := memory.Check(memory.Product(e.N, e.D, 4), what); err != nil {
			return e, fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if c.encoder != nil {
		dense := dataset.Examples{N: e.N, D: e.D}
		dense.X, err = mapped.Make[float32](c.pile.aside, e.N*e.D)
		for i := 0; i < e.N && err == nil; i++ {
			e.DenseRow(dense.Row(i), i)
		}
		return dense, err
	}
	e.X, err = c.pile.dense(e.N, e.D)
	return e, err
}

// sparseIsBetter is the rule of Options.Storage for "auto".
func sparseIsBetter(stored, n, d int) bool { return 8*float64(stored) < float64(n)*float64(d) }

// checkDense refuses dense storage out of all proportion to the file.
func (c *collector) checkDense(n, d int) error {
	limit, size := c.src.limits.dense, c.src.text
	if size <= math.MaxInt64/c.src.limits.perByte {
		limit = max(limit, c.src.limits.perByte*size)
	}
	if float64(n)*float64(d)*4 <= float64(limit) && d <= math.MaxInt/4/n {
		return nil
	}
	where := ""
	if c.pile.widest > 0 {
		where = fmt.Sprintf(" (is the index in line %d right?)", c.pile.widest)
	}
	return fmt.Errorf("%s: dense storage of %d examples × %d features%s would need %.0f bytes for a "+
		"file of %d bytes, wanted at most %d; ask for sparse storage",
		c.src.path, n, d, where, float64(n)*float64(d)*4, size, limit)
}

// errSurprise says that a table does not go on as it began.
var errSurprise = errors.New("the table does not go on as it began")
