package features

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// EncodeOptions say how Read learns an Encoding; a column of mostly words is a category.
type EncodeOptions struct {
	// Categories are columns, by name or position, that are categories whatever is in them. true,
	// false, yes and no are 1 and 0.
	Categories []string
	// Missing is "error" (same as ""), "mean" or "indicator", see Encoding.Missing; or "auto", which
	// reads any table. It is "indicator"; words among numbers are missing; names of examples and
	// dates are set aside; sentences are texts; rows without a label are skipped. Notes tell it.
	Missing string
	// Levels is the most levels of a category, the commonest ones; 0 means DefaultLevels. The others
	// have no feature.
	Levels int
	// Knots is the most knots of a column of numbers, see Column.Knots, in a table of at least
	// KnotExamples examples; smaller ones have none.
	Knots int
	// Text says which columns are free text.
	Text TextOptions
}

// DefaultLevels is how many levels a category may have.
const DefaultLevels = 1000

// UsualKnots is what the program takes for Knots: on Adult the error falls from .152 to .141. On
// fewer than KnotExamples examples with wrong labels they cost more than they bring.
const (
	UsualKnots   = 6
	KnotExamples = 5000
)

// RareLevel is how many examples a level has at least that is a feature of its own.
const RareLevel = 2

// TextOptions say which columns are free text. Each term of a vocabulary is a feature of tf-idf as
// in scikit-learn's TfidfVectorizer: count times 1 + ln((1+n)/(1+m)) where m of n examples have it,
// divided by the length of the example's values. Words are two or more letters, digits and low
// lines, in lower case.
type TextOptions struct {
	// Columns are the columns of text, by name or position as in Options.LabelColumn.
	Columns []string
	// Features is the largest number of terms in a vocabulary; 0 means DefaultTextFeatures. Terms in
	// more examples come first, and terms in equally many examples come by name.
	Features int
	// MinExamples is how many examples have to have a term; 0 means DefaultTextMinExamples.
	MinExamples int
	// Words is how many words in a row a term has at most; 0 means DefaultTextWords.
	Words int
}

// What TextOptions mean by 0.
const (
	DefaultTextFeatures    = 30000
	DefaultTextMinExamples = 1
	DefaultTextWords       = 2
)

// MostTextWords is the most that TextOptions.Words may be.
const MostTextWords = 5

// ErrMissing is wrapped by the error of a missing value that Options.Encode could replace.
var ErrMissing error = missingAdvice{}

type missingAdvice struct{}

func (missingAdvice) Error() string {
	return "say how to fill in missing values (" + quote.Option("missing", "mean") + " or " +
		quote.Option("missing", "indicator") + ")"
}

// Check returns an error if o asks for what Learn cannot do; o may be nil.
func (o *EncodeOptions) Check() error {
	if o == nil {
		return nil
	}
	switch o.Missing {
	case "", dataset.MissingError, dataset.MissingMean, dataset.MissingIndicator, dataset.MissingAuto:
	default:
		return fmt.Errorf("dataset: unknown choice %s for missing values, wanted auto, error, mean or "+
			"indicator", quote.Text(o.Missing))
	}
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"levels of a category", o.Levels, math.MaxInt32}, {"knots of numbers", o.Knots, math.MaxInt32},
		{"terms of a text", o.Text.Features, math.MaxInt32},
		{"examples of a term", o.Text.MinExamples, math.MaxInt32},
		{"words of a term", o.Text.Words, MostTextWords},
	} {
		if c.n < 0 || c.n > c.most {
			return fmt.Errorf("dataset: asked for %d %s, wanted 0 (as usual) to %d", c.n, c.what, c.most)
		}
	}
	return nil
}
