package file

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// builder makes a data set of the examples of a file. A reader enters the values of an example,
// dense (x) or sparse (counts, columns, values), and accepts or rejects it.
type builder struct {
	faults
	src   *source
	o     Options
	notes []string

	labelling
	counters
	shape
	entered
	kept
}

// labelling is what stands beside the features.
type labelling struct {
	labels   *labels   // the label of each accepted example
	external *external // the labels, if they do not stand with the features
	ids      *ids      // the name of each accepted example; nil without Options.IDColumn
	weights  *weights  // how much each counts; nil without Options.WeightColumn
}

// counters say how many examples there are.
type counters struct {
	n          int   // accepted examples
	seen       int   // accepted and rejected ones
	before     int   // examples of the parts before this one, accepted and rejected ones
	passed     int64 // bytes of these parts
	settled    bool  // a block was given away: the next ones have its width, storage and classes
	subnormals int   // values that became +0
	source     []int // the data row of each accepted example; nil while none was rejected
}

// shape says what the columns of the features are.
type shape struct {
	width  int // columns: the largest one so far, or what the reader set
	widest int // line of the largest column, 0 if the file says the width itself
	// takes the values in place of x, columns and values; nil if all are numbers
	Encoder *encode.Encoder
	about   func(*dataset.Dataset) // enters what the reader knows of columns; nil if nothing
	// prepared is what made the examples of raw ones; nil if they are raw.
	prepared *dataset.Preparation
}

// entered are the examples in no segment yet, the unfinished one last: x, or columns and values.
type entered struct {
	x       []float32
	counts  []int32
	columns []int32
	values  []float32 // never +0
	rowFrom int       // where the unfinished example begins in x or values
	flushed int       // subnormals before the unfinished example
}

// kept are the examples in segments.
type kept struct {
	segments []segment
	scratch  *store.Scratch // of segments that are not in memory; nil if all are
	here     int            // the first segment that may be in memory
	stored   int            // values in segments other than +0
	home     *mappedFile    // in which the only segment lies; nil if it is in memory
}

func newBuilder(s *source, o Options) (*builder, error) {
	if o.parts != nil && o.parts.b != nil {
		return o.parts.b, o.parts.b.goOn(s, o)
	}
	b := &builder{faults: newFaults(o), src: s, o: o}
	if o.block != nil {
		b.source = []int{}
	}
	if o.IDColumn != "" {
		b.ids = &ids{}
	}
	if o.WeightColumn != "" {
		b.weights = &weights{}
	}
	var err error
	switch {
	case o.NoLabels:
	case o.given != nil:
		b.external = o.given
		b.labels = b.external.labels
	default:
		b.labels, err = newLabels(o.Classes, o.LabelRules)
	}
	if o.parts != nil {
		o.parts.b = b
	}
	return b, err
}

// number returns which example of its file the current one is, from 1.
func (b *builder) number() int { return b.seen - b.before + 1 }

// inline reports whether the label of an example stands with its features.
func (b *builder) inline() bool { return b.labels != nil && b.external == nil }

// setOther takes what stands in a column of the current example that is no feature.
func (b *builder) setOther(of role, text []byte) (fault string) {
	switch of {
	case label:
		return b.labels.set(text)
	case identity:
		return b.ids.set(text)
	case weight:
		return b.weights.set(text)
	}
	return ""
}

// advise adds to the error of a value that is missing what may stand for it.
func (b *builder) advise(err error, missing bool) error {
	if missing && b.o.Encode != nil {
		return fmt.Errorf("%w; %w", err, features.ErrMissing)
	}
	return err
}

// accept takes the entered example and its label; an error ends reading.
func (b *builder) accept(place int) error {
	if ok, err := b.admit(place); !ok {
		return err
	}
	if b.x != nil {
		b.rowFrom = len(b.x)
		if len(b.x) >= segmentValues && len(b.x)+b.width > cap(b.x) {
			b.sealDense()
			return b.sealed()
		}
		return nil
	}
	if b.Encoder != nil {
		b.columns, b.values = b.Encoder.AppendRow(b.columns, b.values)
		if err := b.Encoder.CheckGrowth(); err != nil {
			return b.fatal(fmt.Errorf("%s: %w", b.src.path, err))
		}
	}
	b.counts = append(b.counts, int32(len(b.values)-b.rowFrom))
	b.rowFrom = len(b.values)
	if len(b.values) >= segmentValues || len(b.counts) >= segmentRows {
		b.sealSparse()
		return b.sealed()
	}
	return nil
}

// sealed gives away what is a block, of a stream, and else looks at the memory.
func (b *builder) sealed() error {
	if b.o.block != nil {
		return b.giveAway(false)
	}
	if err := b.spill(); err != nil || b.scratch != nil {
		return err
	}
	return b.checkGrowth()
}

// checkGrowth returns an error, once in some segments, where memory would not hold many more.
func (b *builder) checkGrowth() error {
	const segments, bytes = 16, 16 * 8 * segmentValues
	if len(b.segments)%segments != 0 {
		return nil
	}
	if err := memory.Check(bytes, fmt.Sprintf("the next %d mebibytes after %d examples", bytes>>20,
		b.n)); err != nil {
		return b.fatal(fmt.Errorf("%s: %w", b.src.path, err))
	}
	return nil
}

// admit counts one more example and keeps its label; not ok means rejected, or err ends reading.
func (b *builder) admit(place int) (ok bool, err error) {
	if b.external != nil {
		fault, err := b.external.choose(b.seen)
		if err != nil {
			return false, b.fatal(err)
		}
		if fault != nil {
			return false, b.reject(fault, place)
		}
	}
	if b.n >= b.src.limits.rows {
		return false, b.fatal(b.src.errorf("found more than %d examples, which is more than can be "+
			"numbered; split the file", b.src.limits.rows))
	}
	if b.labels != nil {
		b.labels.commit()
		if err := b.labels.checkGrowth(); err != nil {
			return false, b.fatal(fmt.Errorf("%s: %w", b.src.path, err))
		}
	}
	if b.ids != nil {
		if err := b.ids.commit(); err != nil {
			return false, b.fatal(fmt.Errorf("%s: %w", b.src.path, err))
		}
	}
	if b.weights != nil {
		b.weights.values = append(b.weights.values, b.weights.pending)
	}
	if b.source != nil {
		b.source = append(b.source, b.seen)
	}
	b.n++
	b.seen++
	b.flushed = b.subnormals
	return true, nil
}

// lines calls line with every line of the file and accepts or rejects the examples that it enters.
func (b *builder) lines(line func(line []byte) (entered bool, err error)) error {
	for {
		text, err := b.src.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return b.fatal(err)
		}
		entered, err := line(text)
		if !entered {
			continue
		}
		if err := b.decide(err, b.src.line); err != nil {
			return err
		}
	}
}

// decide accepts the entered example, or rejects it because of fault.
func (b *builder) decide(fault error, place int) error {
	switch {
	case fault == nil:
		return b.accept(place)
	case b.o.lenient() && b.Encoder == nil && !b.o.survey.whole &&
		!b.o.survey.once:
		return errSurprise
	}
	return b.reject(fault, place)
}

// reject drops the entered example because of err; see faults.reject.
func (b *builder) reject(err error, place int) error {
	if b.source == nil {
		b.source = lists.UpTo[int](b.n)
	}
	b.seen++
	b.subnormals = b.flushed
	if b.x != nil {
		b.x = b.x[:b.rowFrom]
	} else {
		b.columns, b.values = b.columns[:b.rowFrom], b.values[:b.rowFrom]
	}
	return b.faults.reject(err, place)
}

func (b *builder) sealDense() {
	if len(b.x) == 0 {
		return
	}
	s, stored := denseSegment(b.x, b.width)
	b.segments, b.stored = append(b.segments, s), b.stored+stored
	b.rowFrom = 0
	if s.x == nil {
		b.x = b.x[:0]
		return
	}
	// As many whole rows as come close to the size of a segment.
	b.x = make([]float32, 0, (segmentValues+b.width-1)/b.width*b.width)
}

func (b *builder) sealSparse() {
	if len(b.counts) == 0 {
		return
	}
	width := 0
	for _, j := range b.columns {
		width = max(width, int(j)+1)
	}
	b.segments = append(b.segments, newSegment(b.counts, b.columns, b.values, width))
	b.stored += len(b.values)
	b.counts, b.columns, b.values, b.rowFrom = b.counts[:0], b.columns[:0], b.values[:0], 0
}

// errGivenAway ends the reading of a file whose examples go to the next part or were blocks of a
// stream.
var errGivenAway = errors.New("the examples are given away")

// finish makes the data set of all accepted examples.
func (b *builder) finish() (*dataset.Dataset, error) {
	if b.o.parts.goesOn() {
		b.seal()
		return nil, errGivenAway
	}
	if err := b.end(); err != nil {
		return nil, err
	}
	if b.o.lenient() && b.Encoder != nil && b.Encoder.Surprised() && !b.o.survey.whole &&
		!b.o.survey.once {
		return nil, errSurprise
	}
	if err := b.passedOver(b.seen); err != nil {
		return nil, err
	}
	if b.external != nil && b.seen < len(b.external.codes) {
		return nil, b.external.tooMany(b.src.path, b.seen)
	}
	if b.n == 0 && !b.settled {
		if len(b.skippedAt) > 0 {
			return nil, fmt.Errorf("%s: all %d examples were bad and skipped, wanted at least one good; "+
				"the first: %w", b.src.path, len(b.skippedAt), b.skippedErrs[0])
		}
		return nil, emptyFault(b.src, "")
	}
	b.seal()
	if b.o.block != nil {
		if err := b.giveAway(true); err != nil {
			return nil, err
		}
		return nil, errGivenAway
	}
	return b.dataset()
}

// seal puts the last examples into a segment.
func (b *builder) seal() {
	if b.x != nil {
		b.sealDense()
	} else {
		b.sealSparse()
	}
	b.x, b.counts, b.columns, b.values = nil, nil, nil, nil
}

// dataset makes the data set of the examples in segments.
func (b *builder) dataset() (*dataset.Dataset, error) {
	d := &dataset.Dataset{Found: dataset.Found{Subnormals: b.subnormals, Notes: b.notes,
		SkippedAt: b.skippedAt, SkippedErrs: b.skippedErrs}}
	if b.scratch != nil {
		d.Home = spilled{b.scratch}
	}
	if b.home != nil {
		d.Home = b.home
	}
	x, err := b.examples()
	d.Examples = x
	if err != nil {
		d.Close() // nothing was written: nothing to lose
		return nil, err
	}
	b.scratch.End()
	var classes []float32
	if b.labels != nil {
		if d.Classes, d.Y, classes, err = b.labels.finish(); err != nil {
			d.Close() // nothing was written: nothing to lose
			return nil, fmt.Errorf("%s: %w", b.src.path, err)
		}
	}
	if err := b.addEvidence(d, classes); err != nil {
		d.Close() // nothing was written: nothing to lose
		return nil, err
	}
	if d.Source = b.source; b.o.block != nil {
		b.source = []int{} // of the next block
	}
	if b.ids != nil {
		d.IDs, b.ids.texts = b.ids.texts, nil
	}
	if b.about != nil {
		b.about(d)
	}
	if b.Encoder != nil {
		b.Encoder.About(d)
	}
	return d, nil
}

// note keeps a remark for the user, once.
func (b *builder) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}
