package features

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// Far is how many times the greatest absolute value of a column exceeds the range of its values
// where they get an origin. Below, float32 keeps 20 bits of the range.
const Far = 16

// Span watches the numbers of a column, to find an origin for values that float32 does not hold,
// and values that it does not tell apart.
type Span struct {
	min, max float64
	seen     bool
	near     bool // float32 tells the values apart: more values do not change that
	inexact  bool // a value that came before that is no float32
	early    []float64
}

// SpansOf returns a Span for each of d columns.
func SpansOf(d int) []Span {
	spans := make([]Span, d)
	for j := range spans {
		spans[j] = SpanOf(d)
	}
	return spans
}

// SpanOf returns the Span of one of d columns.
func SpanOf(d int) Span {
	const watched = 1 << 14 // values of all columns among which equal ones are looked for
	return Span{early: make([]float64, 0, max(2, watched/d))}
}

// Add takes the next value, NaN for none. It reports whether more values can change anything.
func (s *Span) Add(v float64) (watches bool) {
	if v != v {
		return true
	}
	if len(s.early) < cap(s.early) {
		s.early = append(s.early, v)
	}
	if !s.near {
		if !s.seen {
			s.min, s.max, s.seen = v, v, true
		}
		s.min, s.max = min(s.min, v), max(s.max, v)
		s.inexact = s.inexact || float64(float32(v)) != v
		// Once it is so it stays so: a farther value widens the range by as much.
		s.near = max(-s.min, s.max) <= Far*(s.max-s.min)
	}
	return !s.near || len(s.early) < cap(s.early)
}

// Origin returns a number amid the values if they are far from zero and not all float32, else 0;
// also of values whose differences are too small for a normal float32. A difference of two integers
// stays an integer.
func (s *Span) Origin() float64 {
	const least = 0x1p-126
	width := s.max - s.min
	if s.near || !s.inexact || width < least {
		return 0
	}
	_, exponent := math.Frexp(width)
	unit := math.Ldexp(1, exponent-1) // at most width
	unit = max(unit/4, min(unit, 1))
	return math.Floor((s.min+width/2)/unit) * unit
}

// Origins returns the origin of each column, nil if all are 0.
func Origins(spans []Span) []float64 {
	var origins []float64
	for j := range spans {
		if origin := spans[j].Origin(); origin != 0 {
			if origins == nil {
				origins = make([]float64, len(spans))
			}
			origins[j] = origin
		}
	}
	return origins
}

// merged returns two values among the early ones that become one float32 behind origin.
func (s *Span) merged(origin float64) (a, b float64, found bool) {
	values := slices.Sorted(slices.Values(s.early))
	for k := 1; k < len(values); k++ {
		a, b := values[k-1], values[k]
		tiny := max(-a, b) < decimal.MinNormal // which Dataset.Subnormals counts
		if a != b && float32(a-origin) == float32(b-origin) && !tiny {
			return a, b, true
		}
	}
	return 0, 0, false
}

// OriginNotes say which columns have an origin, and which have different values that become equal
// by rounding, as far as that is known. column describes one; origins are nil if all are 0.
func OriginNotes(spans []Span, origins []float64, column func(j int) string) (notes []string) {
	merged, more := "", 0
	for j := range spans {
		origin := 0.0
		if origins != nil {
			origin = origins[j]
		}
		if origin != 0 {
			notes = append(notes, fmt.Sprintf("%s: its numbers are far from 0 and no float32; %s is "+
				"subtracted before they are rounded", column(j), digits(origin)))
		}
		a, b, found := spans[j].merged(origin)
		switch {
		case found && merged == "":
			merged = fmt.Sprintf("%s: the different values %s and %s become equal by rounding to float32",
				column(j), digits(a), digits(b))
		case found:
			more++
		}
	}
	if more > 0 {
		merged += fmt.Sprintf(", and values of %d more columns", more)
	}
	if merged != "" {
		notes = append(notes, merged)
	}
	return notes
}

func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Rounded returns v behind an origin as float32, +0 if it is subnormal there.
func Rounded(v, origin float64) float32 {
	f := float32(v - origin)
	// Not by comparisons with f, whose sign no processor can predict.
	size := math.Float32bits(f) &^ (1 << 31)
	if size < math.Float32bits(decimal.MinNormal) && size != 0 {
		return 0
	}
	return f
}

// Plain returns the encoding of columns of numbers that are features as they are, behind their
// origins. means stand for missing values; without, these are errors. Of names, origins and means
// each may be nil, but not all.
func Plain(names []string, origins []float64, means []float32) *dataset.Encoding {
	e := &dataset.Encoding{Missing: dataset.MissingError,
		Columns: make([]dataset.Column, max(len(names), len(origins), len(means)))}
	if means != nil {
		e.Missing = dataset.MissingMean
	}
	for j := range e.Columns {
		c := &e.Columns[j]
		c.Kind = dataset.KindNumber
		if names != nil {
			c.Name = names[j]
		}
		if origins != nil {
			c.Origin = origins[j]
		}
		if means != nil {
			c.Mean = &means[j]
		}
	}
	return e
}

// WithMeans returns e with the means of x, as a weight repeats or leaves out rows, if it is plain
// and has means.
func WithMeans(e *dataset.Encoding, x dataset.Examples) *dataset.Encoding {
	if e == nil || !e.Plain() || e.Missing != dataset.MissingMean {
		return e
	}
	again := Plain(e.ColumnNames(), e.Origins(), Means(x))
	SetCommas(again, e.Commas())
	return again
}

// SetCommas says in e which columns have decimal commas; nil for none.
func SetCommas(e *dataset.Encoding, commas []bool) {
	for k, is := range commas {
		e.Columns[k].Commas = is
	}
}

// Means returns the mean of each column, summed in the order of the examples.
func Means(e dataset.Examples) []float32 {
	var sums []float64
	if e.Sparse() {
		sums = make([]float64, e.D)
		for k, j := range e.Columns {
			sums[j] += float64(e.Values[k])
		}
	} else {
		sums = columnSums(e, nil)
	}
	means, subnormals := make([]float32, e.D), 0
	for j, sum := range sums {
		means[j] = decimal.Flush(float32(sum/float64(e.N)), &subnormals)
	}
	return means
}
