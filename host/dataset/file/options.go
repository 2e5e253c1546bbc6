package file

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Options say how Read understands a file. The zero value detects the format, and takes the last
// column of a table for the label.
type Options struct {
	// Format is "csv", "libsvm", "npy", "npz", "idx", "parquet", "xlsx"
	// or "auto" (same as ""): by first bytes, then name, then the look of LIBSVM's
	// index:value.
	Format string
	// Storage is "dense", "sparse" or "auto" (same as ""): sparse if fewer than one value in eight is
	// other than +0.
	Storage string
	// Table says how a table is laid out (CSV, Parquet) and what its columns are.
	Table
	// Labels is a second file with a label per example in the same order: IDX, .npy, or text of one
	// label per line or of several columns with LabelColumn. Its first line is a header if
	// LabelColumn names it, or if a word stands over a whole number.
	Labels string
	LabelRules
	// NoLabels reads data to predict: every column but LabelColumn is a feature, unless Features
	// wants it too.
	NoLabels bool
	// MayLackLabels takes the last column for a feature, and reads no labels, if it is one of
	// FeatureNames, or if there are Features columns and no header.
	MayLackLabels bool
	// ZeroBased says that the indices of a LIBSVM file begin at 0, not at 1.
	ZeroBased bool

	// Features, if above 0, is the number wanted; LIBSVM and sparse .npz may have fewer, with a note.
	Features int
	// FeatureNames, if not nil, are the features wanted in order, as in Dataset.MatchFeatures.
	FeatureNames []string
	// Classes, if not nil, is the whole list in order; another label is an error.
	Classes []string

	// Exact sets Dataset.Rest, of 8 bytes an example.
	Exact bool
	// SkipBad is how many malformed rows are passed over, and listed in Dataset.SkippedAt; one more
	// is an error. Below 0 is none, of a file whose rows belong to others.
	SkipBad int

	// Aside keeps many examples in temporary files, in $TMPDIR or /var/tmp, so that they need not fit
	// in memory.
	Aside bool
	// Stdin is what the path "-" reads, os.Stdin if nil.
	Stdin io.Reader
}

// Table says how a table is laid out; columns are named by the header or by position from 1.
type Table struct {
	// Header is "yes", "no", or "auto" (same as ""): a first record is a header if an asked-for
	// column is named in it, if no feature field is a number, if it holds one of FeatureNames, or if
	// it counts columns as pandas and R do. Other mixtures are data, so no line is lost by a guess.
	Header string
	// Separator is "comma", "tab", "semicolon", "blanks", one character, or "auto" (same as "").
	Separator string
	// Decimal is the decimal mark of a CSV: "point", "comma", or "auto" (same as ""): each column's
	// own, by its cells.
	Decimal string
	// LabelColumn is "last" (same as ""), "first", a name or a position; with Labels, in that file.
	LabelColumn string
	// IDColumn names the examples, by name or position; it is no feature, and "last" passes it over.
	IDColumn string
	// WeightColumn says how much examples count, by name or position; it is no feature, and "last"
	// passes it over.
	WeightColumn string
	// Ignore are columns to leave out. An index that programs write is left out unasked, with a note.
	Ignore []string
	// Encode makes features of columns that are more than numbers; nil refuses all other values.
	Encode *features.EncodeOptions
	// Encoding, if not nil, is a model's: columns become its features, unless the table has these by
	// name.
	Encoding *dataset.Encoding
	// Unseen is what an unknown level becomes: "zero" (same as ""), with a warning, or "error".
	Unseen string
}

// check refuses choices that no reader knows.
func (o Options) check() error {
	switch {
	case o.Features < 0:
		return fmt.Errorf("dataset: asked for %d features, wanted 0 (any) or more", o.Features)
	case o.FeatureNames != nil && o.Features > 0 && o.Features != len(o.FeatureNames):
		return fmt.Errorf("dataset: asked for %d features and for %d by name, wanted one number",
			o.Features, len(o.FeatureNames))
	case o.Unseen != "" && o.Unseen != "zero" && o.Unseen != unseenError:
		return fmt.Errorf("dataset: unknown choice %s for unseen levels, wanted zero or error",
			quote.Text(o.Unseen))
	case o.Storage != "" && o.Storage != "auto" && o.Storage != "dense" && o.Storage != "sparse":
		return fmt.Errorf("dataset: unknown storage %s, wanted auto, dense or sparse",
			quote.Text(o.Storage))
	case o.NoLabels && o.Labels != "":
		return fmt.Errorf("dataset: asked for labels from %s and for no labels, wanted one or the other",
			o.Labels)
	}
	if err := o.CheckSeparator(); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	return o.Encode.Check()
}

// CheckSeparator says what is wrong with Separator, and with Decimal beside it.
func (o Options) CheckSeparator() error {
	_, err := o.layout()
	return err
}

// layout is what o says of the fields of a CSV.
func (o Options) layout() (layout, error) {
	l := layout{blanks: true, comma: o.Decimal == decimalComma,
		lenient: o.lenient() || o.Encoding != nil}
	switch o.Separator {
	case "", "auto":
	case "comma":
		l.separator = ','
	case "tab":
		l.separator = '\t'
	case "semicolon":
		l.separator = ';'
	case "blanks":
		l.separator = ' '
	default:
		if c := o.Separator[0]; len(o.Separator) == 1 && c < utf8.RuneSelf && c >= ' ' &&
			!isWordByte(c) && !strings.ContainsRune("\"#.+-", rune(c)) {
			l.separator = c
			break
		}
		return l, fmt.Errorf("unknown separator %s, wanted auto, comma, tab, semicolon, blanks or one "+
			"character that numbers do not have", quote.Text(o.Separator))
	}
	if l.comma && l.separator == ',' {
		return l, fmt.Errorf("asked for decimal commas between commas, wanted another separator")
	}
	return l, nil
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// Values of Options.Unseen and Table.Decimal.
const (
	unseenError  = "error"
	decimalPoint = "point"
	decimalComma = "comma"
)
