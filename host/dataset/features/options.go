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
	// Missing is "error" (same as ""), "mean" or "indicator"; see Encoding.Missing and IsMissing.
	Missing string
	// Levels is the most levels of a category; 0 means DefaultLevels, and refuses levels of their own
	// for most examples.
	Levels int
	// Text says which columns are free text.
	Text TextOptions
}

// DefaultLevels is how many levels a category may have.
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

// TextOptions say which columns are free text. Each term of a vocabulary is a feature of tf-idf as
// in scikit-learn's TfidfVectorizer: count times 1 + ln((1+n)/(1+m)) where m of n examples have it,
// divided by the length of the example's values. Words are two or more letters, digits and low
// lines, in lower case.
type TextOptions struct {
	// Columns are the columns of text, by name or position as in Options.LabelColumn.
	Columns []string
	// Features is the most terms of a vocabulary, the commonest ones; 0 means DefaultTextFeatures.
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
