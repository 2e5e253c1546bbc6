package features

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// EncodeOptions say how Read learns an Encoding. The zero value takes a column of a table for a
// category if most of its values are words.
type EncodeOptions struct {
	// Categories are columns that are categories whatever stands in them, by name or position as
	// in Options.LabelColumn. Unasked, a column of a CSV is one if more of its values in the first
	// mebibyte are words than numbers; of Parquet if its type is a text; of ARFF if it is nominal or
	// a string. true and false, yes and no are numbers: 1 and 0.
	Categories []string
	// Missing is "error" (the same as ""), "mean" or "indicator"; see Encoding.Missing. Missing
	// values are an empty field, what pandas takes for one (NA, N/A, NaN, null, None, …), ? and a
	// null.
	Missing string
	// Levels is the most levels that a category may have. 0 means DefaultLevels, and that it is an
	// error if more than half of the examples have a level of their own, as names of examples do.
	Levels int
	// Text says which columns are free text.
	Text TextOptions
}

// DefaultLevels is how many levels a category may have unless EncodeOptions say more: each
// becomes a feature.
const DefaultLevels = 1000

func (o *EncodeOptions) Check() error {
	switch {
	case o == nil:
		return nil
	case o.Levels < 0:
		return fmt.Errorf("dataset: asked for categories of at most %d levels, wanted 0 (%d) or more",
			o.Levels, DefaultLevels)
	case o.Missing != "" && o.Missing != dataset.MissingError && o.Missing != dataset.MissingMean &&
		o.Missing != dataset.MissingIndicator:
		return fmt.Errorf("dataset: unknown choice %s for missing values, wanted error, mean or "+
			"indicator", quote.Text(o.Missing))
	}
	return o.Text.check()
}

// TextOptions say which columns of a table are free text, and how Read makes features of it: one
// for each term of its vocabulary, a word or a run of words. Its value is tf-idf as scikit-learn's
// TfidfVectorizer has it: how often the text has the term, times 1 + ln((1 + n)/(1 + m)) where m
// of n examples have it, and then each example's values of the column divided by their length.
// Words are two and more letters, digits and low lines in a row, in lower case.
type TextOptions struct {
	// Columns are the columns of text, by name or position as in Options.LabelColumn.
	Columns []string
	// Features is the most terms that a column's vocabulary has: the commonest ones; 0 means
	// DefaultTextFeatures.
	Features int
	// MinExamples is how many examples have to have a term; 0 means DefaultTextMinExamples.
	MinExamples int
	// Words is how many words in a row a term has at most; 0 means DefaultTextWords.
	Words int
}

// What TextOptions mean by 0.
const (
	DefaultTextFeatures    = 100000
	DefaultTextMinExamples = 1
	DefaultTextWords       = 2
)

// MostTextWords is the most that TextOptions.Words may be.
const MostTextWords = 5

func (o TextOptions) check() error {
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"terms of a text", o.Features, math.MaxInt32}, {"examples of a term", o.MinExamples,
			math.MaxInt32},
		{"words of a term", o.Words, MostTextWords},
	} {
		if c.n < 0 || c.n > c.most {
			return fmt.Errorf("dataset: asked for %d %s, wanted 0 (as usual) to %d", c.n, c.what, c.most)
		}
	}
	return nil
}
