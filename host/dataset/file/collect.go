package file

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// collector collects the examples of a file. The reader of a format enters the values of an example
// into pile or cells, and its label, and then decides whether it is good.
type collector struct {
	src    *source
	format string
	asked  Options // how the file was to be read
	o      Options // the same, as its columns have settled
	known  lesson  // of readings before
	survey survey  // of the fields of a table

	labels  *labels    // of the accepted examples; nil without
	given   *labelList // where they come from another file or array
	growth  memory.Growth
	ids     []string  // of the accepted examples, with Options.IDColumn
	id      string    // of the current one
	weights []float64 // of the accepted examples, with Options.WeightColumn
	weight  float64   // of the current one
	source  []int     // the data row of each accepted example; nil while it is its number

	n, seen     int   // accepted examples; all so far, rejected ones too
	bad         int   // malformed ones
	skippedAt   []int // the places of rejected ones, and the first errors
	skippedErrs []error

	pile     pile            // the values, unless they lie in home
	numbers  numbers         // how they become float32
	encoded  bool            // cells become examples now, which were counted
	cells    *cells          // the features of a table; nil if all are numbers
	home     *osfile.Mapping // in which the only segment lies; nil if it is in memory
	prepared *dataset.Preparation
	encoding *dataset.Encoding

	remarks  remarks
	column   func(k int) string     // describes the column of number k; nil for its position
	describe func(*dataset.Dataset) // enters what the reader knows of the columns
}

// begin prepares for the labels of the examples.
func (c *collector) begin() (err error) {
	if !c.o.NoLabels {
		c.labels, err = newLabels(c.o.Classes, c.o.LabelRules)
	}
	return err
}

// number returns which example of its file the current one is, from 1.
func (c *collector) number() int { return c.seen + 1 }

// inline reports whether labels come with the features.
func (c *collector) inline() bool { return !c.o.NoLabels && c.given == nil }

// setOther takes the text in a column of the current example that is no feature.
func (c *collector) setOther(r role, text []byte) error {
	switch r {
	case label:
		err := c.labels.set(text)
		if c.o.MayLackLabels && c.o.FeatureNames != nil && c.o.LabelColumn == "" &&
			(c.labels.none() || err != nil && c.n == 0) { // so the model does not know the last column
			known := c.known
			known.unlabelled = true
			return &known
		}
		return err
	case identity:
		c.id = string(decimal.Trim(text))
		if fault := dataset.ClassFault(c.id); fault != "" && c.id != "" {
			return fmt.Errorf("id %s %s", quote.Text(c.id), fault)
		}
	case weight:
		v, err := strconv.ParseFloat(string(decimal.Trim(text)), 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("found the weight %s, wanted a number of at least 0 (0 leaves it out)",
				quote.Text(string(decimal.Trim(text))))
		}
		c.weight = v
	}
	return nil
}

// decide accepts the entered example, or rejects it because of fault; an error ends reading.
func (c *collector) decide(fault error, place int) error {
	if again, is := errors.AsType[*lesson](fault); is {
		return again
	}
	if fault != nil && c.o.lenient() && c.cells == nil && !c.known.whole &&
		!errors.Is(fault, errHeaderAgain) {
		return c.known.asWhole()
	}
	if fault == nil && c.given != nil {
		if c.seen >= len(c.given.codes) {
			return fmt.Errorf("%s: found %d labels, wanted one for each example, and there are more "+
				"examples; are the files a pair?", c.given.name, len(c.given.codes))
		}
		fault = c.given.choose(c.labels, c.seen)
	}
	if fault != nil {
		return c.reject(fault, place)
	}
	if err := c.admit(); err != nil {
		return err
	}
	if c.cells != nil {
		if c.numbers.rest = 0; c.o.Exact {
			c.numbers.rest = c.cells.rest()
			c.numbers.keepRest(c.n - 1)
		}
		if err := c.cells.keep(); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
		c.moveAside(c.cells.bytes)
		c.cells.room = c.pile.room
		return nil
	}
	return c.keep()
}

// keep ends an example in pile.
func (c *collector) keep() error {
	c.numbers.watch()
	if c.o.Exact && !c.encoded {
		c.numbers.keepRest(c.n - 1)
	}
	full, err := c.pile.keep()
	if err != nil || !full {
		return err
	}
	const segments, bytes = 16, 16 * 8 * segmentValues
	if c.moveAside(c.pile.bytes); c.o.Aside || len(c.pile.segments)%segments != 0 {
		return nil
	}
	if err := memory.Check(bytes, fmt.Sprintf("the next %d mebibytes after %d examples", bytes>>20,
		c.n)); err != nil {
		return fmt.Errorf("%s: %w", c.src.path, err)
	}
	return nil
}

// asideBytes is how much is kept in memory before more goes to temporary files; tests take less.
var asideBytes = 64 << 20

// moveAside has later values lie in temporary files, if that is wanted and worth it.
func (c *collector) moveAside(bytes int) {
	if c.o.Aside && c.pile.room == nil && bytes >= asideBytes {
		c.pile.room = osfile.NewScratch(c.src.path)
	}
}

// admit counts one more example and keeps what is no feature; an error ends reading.
func (c *collector) admit() error {
	if c.n >= c.src.limits.rows {
		return c.src.errorf("found more than %d examples, which is more than can be numbered; split "+
			"the file", c.src.limits.rows)
	}
	if c.labels != nil {
		c.labels.commit()
		if err := c.labels.growth.Check(1<<20, "a list of more than %d names of classes",
			len(c.labels.names)); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if c.o.IDColumn != "" {
		c.ids = append(c.ids, c.id)
		c.growth.Bytes += len(c.id) + 32
		if err := c.growth.Check(1<<22, "a list of more than %d ids", len(c.ids)); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if c.o.WeightColumn != "" {
		c.weights = append(c.weights, c.weight)
	}
	if c.source != nil {
		c.source = append(c.source, c.seen)
	}
	c.n++
	c.seen++
	return nil
}

// reject drops the entered example because of err; what it returns ends reading.
func (c *collector) reject(err error, place int) error {
	if !errors.Is(err, errHeaderAgain) {
		if c.bad++; c.bad > c.o.SkipBad {
			return tooManyBad(c, err)
		}
	}
	if c.source == nil {
		c.source = lists.UpTo[int](c.n)
	}
	c.seen++
	c.pile.drop()
	const listed = 10
	c.skippedAt = append(c.skippedAt, place)
	if len(c.skippedErrs) < listed {
		c.skippedErrs = append(c.skippedErrs, err)
	}
	return nil
}

// tooManyBad adds to the error of a malformed row how to skip it, or how many were skipped before.
func tooManyBad(c *collector, err error) error {
	switch {
	case errors.Is(err, features.ErrMissing) || c.o.SkipBad < 0:
		return err // it is not malformed, or may not lack
	case c.o.SkipBad == 0:
		return fmt.Errorf("%w; correct the row, or allow malformed ones to be skipped (%s)", err,
			quote.Option("skip-bad", "1"))
	}
	return fmt.Errorf("%w; %d rows are malformed so far, more than %s allows; correct them, or allow "+
		"more", err, c.bad, quote.Option("skip-bad", strconv.Itoa(c.o.SkipBad)))
}

// finish returns the data set of all accepted examples.
func (c *collector) finish(ctx context.Context) (d *dataset.Dataset, err error) {
	switch {
	case c.o.lenient() && c.cells != nil && c.cells.surprised() && !c.known.whole:
		return nil, c.known.asWhole()
	case c.n > 0 && learnOrigins(c) != nil:
		return nil, learnOrigins(c)
	case c.given != nil && c.seen < len(c.given.codes):
		return nil, fmt.Errorf("%s: found %d labels, wanted %d, one for each example of %s; are the "+
			"files a pair? (does the label file begin with a header? then name the column)",
			c.given.name, len(c.given.codes), c.seen, c.src.path)
	case c.n == 0 && len(c.skippedAt) > 0:
		return nil, fmt.Errorf("%s: all %d examples were skipped, wanted at least one good; the first: "+
			"%w", c.src.path, len(c.skippedAt), c.skippedErrs[0])
	case c.n == 0:
		return nil, emptyFault(c.src, "")
	}
	d = &dataset.Dataset{Source: c.source, IDs: c.ids, Found: dataset.Found{Path: c.src.path,
		Format: c.format, Rows: c.seen, SkippedAt: c.skippedAt,
		SkippedErrs: c.skippedErrs}}
	if c.home != nil {
		d.Home, d.ReadOnly = c.home, true
	}
	if err = c.fill(ctx, d); err == nil {
		err = c.judge(ctx, d)
	}
	if c.pile.room != nil {
		d.Home = c.pile.room
	}
	return d, err
}

// fill enters the values, the labels and what is known of them in d.
func (c *collector) fill(ctx context.Context, d *dataset.Dataset) (err error) {
	if c.cells != nil {
		if err := c.encode(ctx, d); err != nil {
			return err
		}
	}
	if err := c.pile.seal(); err != nil {
		return err
	}
	d.Subnormals, d.Rest = c.pile.subnormals, c.numbers.rests
	if d.Examples, err = c.examples(); err != nil {
		return err
	}
	evidence := dataset.Evidence{Weight: c.weights}
	if c.labels != nil {
		if d.Classes, d.Y, evidence.Classes, err = c.labels.finish(); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if err := dataset.CheckWeights(evidence.Weight, d.N); err != nil {
		return fmt.Errorf("%s: %w", c.src.path, err)
	}
	if evidence.Weight != nil || evidence.Classes != nil {
		d.Evidence = &evidence
	}
	if c.describe != nil {
		c.describe(d)
	}
	if c.encoding == nil && d.Encoding == nil {
		c.encoding = plainEncoding(c, d)
	}
	noteNumbers(c, d)
	if c.encoding != nil {
		d.Encoding, d.Features = c.encoding, c.encoding.FeatureNames()
	}
	return nil
}

// judge says what is worth knowing of d, and makes it fit what was asked for.
func (c *collector) judge(ctx context.Context, d *dataset.Dataset) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.Y != nil && c.asked.Classes == nil && len(d.Classes) == 1 {
		return fmt.Errorf("%s: found only one class, %s, in %d examples, wanted at least two; is it the "+
			"right label column?", d.Path, quote.Text(d.Classes[0]), d.N)
	}
	if err := remark(d, &c.remarks, c.asked); err != nil {
		return err
	}
	judgeIDs(d)
	err := d.MatchFeatures(c.asked.FeatureNames)
	if c.encoding == nil && c.numbers.row != nil && d.Encoding == nil {
		d.Encoding = c.o.Encoding // of a model, whose features these are now
	}
	if err == nil && d.Prepared == nil { // else the file says it
		d.SHA256, err = d.HashContext(ctx)
	} else if err == nil {
		if err = d.Validate(); err != nil {
			err = fmt.Errorf("%s: %w; convert the data again", d.Path, err)
		}
	}
	return err
}

// encode makes features of the cells of all rows, which go into pile.
func (c *collector) encode(ctx context.Context, d *dataset.Dataset) error {
	t, err := c.cells.table()
	if err != nil {
		return err
	}
	var notes []string
	if c.encoding = c.o.Encoding; c.encoding == nil {
		if c.encoding, notes, err = features.Learn(t, *c.o.Encode); err != nil {
			return fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	if c.encoding.Width() == 0 && c.o.lenient() && !c.known.whole {
		return c.known.asWhole() // rows further on may hold values
	}
	if c.encoding.Width() == 0 {
		return fmt.Errorf("%s: %s", c.src.path, withoutFeatures(&c.remarks, notes))
	}
	p := &c.pile
	p.subnormals += c.cells.tiny
	p.width, c.encoded = c.encoding.Width(), true
	silent, err := features.Encode(ctx, t, c.encoding, func(columns []int32, values []float32) error {
		p.columns, p.values = append(p.columns, columns...), append(p.values, values...)
		return c.keep()
	})
	c.numbers.spans, c.numbers.origins = c.cells.spans, c.known.origins
	c.cells.about(d, c.src.path)
	c.cells, d.Missing = nil, features.Missing(t) // the cells hold the table
	if c.o.Encoding != nil {
		more, strange := features.Unfamiliar(t, c.encoding,
			func(i int) int { return d.SourceRow(i) + 1 })
		notes = append(notes, more...)
		for _, warning := range strange {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s (%s refuses them)", c.src.path, warning,
				quote.Option("unseen", "error")))
		}
	}
	for _, note := range append(notes, silent...) {
		d.Notes = append(d.Notes, c.src.path+": "+note)
	}
	return err
}

// withoutFeatures says what is wrong with a table whose columns are all set aside, as its remarks
// and notes say.
func withoutFeatures(r *remarks, notes []string) string {
	return fmt.Sprintf("found no feature: %s; wanted a column of numbers, dates, categories or text",
		strings.Join(slices.Concat(r.notes, notes), "; "))
}

// examples joins the segments in the form that Options.Storage asks for.
func (c *collector) examples() (e dataset.Examples, err error) {
	e = dataset.Examples{N: c.n, D: c.pile.width}
	auto := c.o.Storage == "" || c.o.Storage == "auto"
	switch {
	case c.o.Storage == "sparse" || auto && c.home == nil && c.prepared == nil &&
		(c.encoding.HasText() || features.SparseIsBetter(c.pile.stored, e.N, e.D)):
		return c.pile.sparse(e.N, e.D)
	case c.home != nil:
		e.X = c.pile.segments[0].X
		return e, nil
	}
	if err := c.checkDense(e.N, e.D); err != nil {
		return e, err
	}
	if !c.pile.whole() && c.pile.room == nil {
		what := fmt.Sprintf("dense storage of %d examples × %d features", e.N, e.D)
		if err := memory.Check(memory.Product(e.N, e.D, 4), what); err != nil {
			return e, fmt.Errorf("%s: %w", c.src.path, err)
		}
	}
	e.X, err = c.pile.dense(e.N, e.D)
	return e, err
}

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
