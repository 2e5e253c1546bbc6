package file

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Options say how Read understands a file. The zero value reads a labelled file of a format found
// out by itself, with the label of a table in the last column.
type Options struct {
	// Format is "csv", "libsvm", "npy", "npz" (with arrays, or a sparse matrix of SciPy), "idx",
	// "parquet" (in programs that import package host/dataset/parquet), "arff", "binary", or "auto"
	// (the same as ""). auto goes by the first bytes, then by the name (.gz and .zst aside). Text is
	// LIBSVM if the second field of its first telling line looks like index:value, or if it is named
	// .svm, .libsvm or .svmlight, and else CSV.
	Format string
	// Storage is "dense", "sparse", "narrow" (dense, and preparing keeps small integers as codes too:
	// WithCodes), or "auto" (the same as ""): sparse if fewer than one value in eight is other than
	// +0. Sparse examples then take less than a quarter of the memory, which outweighs that a stored
	// value costs more work. A binary file has a storage already; another one is a copy in memory.
	Storage string
	// Table says how a table is laid out (CSV, ARFF, Parquet) and what its columns are.
	Table
	// Labels is the path of a second file with one label per example in the same order, "" if the
	// labels stand with the features: IDX, .npy of integers or texts, or a text file with one label
	// per line or several columns, of which LabelColumn is the one. Its first line is a header if
	// LabelColumn is a name in it, or if its label is no whole number and the next one is (a wrong
	// guess shows: a label is missing). A label in the data file itself is then a feature unless
	// Ignore names it; LIBSVM's is passed over.
	Labels string
	// NoLabels reads data to predict. Every column is a feature, except LabelColumn if it is not ""
	// and Features does not say that it must be a feature too. A LIBSVM line may begin with a label,
	// which is passed over, or not.
	NoLabels bool
	// XName and YName are the names of the arrays in an .npz; "" means X or x, or the only matrix;
	// and y or Y.
	XName, YName string
	// ZeroBased says that the indices of a LIBSVM file begin at 0, not at 1.
	ZeroBased bool

	// Features, if above 0, is the number of features wanted, for example by a model. A file must
	// have exactly that many. LIBSVM and sparse .npz may not say how many there are: features beyond
	// the file's last are zero, with a note, and only more of them are an error.
	Features int
	// FeatureNames, if not nil, are the names of the features wanted, in their order. Where the data
	// name their features, these are chosen by name and brought into this order, whatever stands in
	// other columns (Dataset.MatchFeatures has the rules); else position counts, with a note.
	FeatureNames []string
	// Classes, if not nil, is the whole list of classes in their order, for example of a model:
	// another label is an error, and a file of one class is none. It is copied.
	Classes []string

	// MaxErrors is how many bad examples Read lists before it gives up; 0 means 1. With more than
	// one the error is a *BadExamples.
	MaxErrors int
	// SkipBad passes over bad examples and lists them in Dataset.Skipped. A header that does not
	// fit, a file cut short and the like stay errors.
	SkipBad bool

	// Trust leaves the checksums of a binary file alone, which is then opened without being read.
	Trust bool
	// Prepare, if not "", names the steps, of ParseSteps or auto, by which the examples will be
	// prepared. Read refuses a raw dense binary file whose prepared copy does not fit in memory.
	Prepare string
	// Ranks, if not nil, share the examples: each rank calls Read with the same options and keeps
	// its own rows. A binary file that is mapped and in the storage asked for is shared in place.
	// Every other file each rank reads whole and then lets go of the rows of others. ReadAll, and a
	// binary file that is packed or changes its storage, leave each rank all rows.
	Ranks ranks.Reducer
	// Spill has Read keep many examples in files without names, in the folder $TMPDIR or /var/tmp,
	// which take twice the memory they replace; Dataset.Close gives them back. Where no file can be
	// made, and on systems without mapped files, it does nothing.
	Spill bool
	// Stdin is what the path "-" reads, os.Stdin if nil.
	Stdin io.Reader

	passed
}

// Table says how a table is laid out and what its columns are. Columns are named by their names in
// the header or by their positions, which count all columns of the file from 1; a name that looks
// like a position is taken as the name.
type Table struct {
	// Header says whether a CSV begins with a header: "yes", "no", or "auto" (the same as ""). auto:
	// LabelColumn, IDColumn or one of Ignore is a name; or no feature field of the first record is a
	// number (nan and inf count as numbers) and not all of them are empty; or it holds all
	// FeatureNames, and one of these is a word, or they are three and more; or the feature fields
	// count from 0 or 1, as pandas and R number columns, and the label's is a word that no example
	// would have, or three and more of them stand behind an empty one. Any other first record that
	// mixes numbers and words is data, so that its words become errors: no line is ever lost by a
	// guess. A record that counts and is taken as data is a warning.
	Header string
	// Separator is what stands between the fields of a CSV: "comma", "tab", "semicolon", "blanks"
	// (blanks and tabs, one or more), one character, or "auto" (the same as ""): the comma if the
	// first line has one, else the tab, else the semicolon, else blanks.
	Separator string
	// DecimalComma says that the numbers of a CSV have a comma where others have a point.
	DecimalComma bool
	// LabelColumn is "last" (the same as ""), "first", a name, or a position; "last" and "first" are
	// never names. LIBSVM has the label first always. With Options.Labels it is a column of that
	// file.
	LabelColumn string
	// IDColumn is the column whose texts name the examples, by name or position; "" if none does. It
	// is no feature and goes through to Dataset.IDs. A format whose columns have no names is refused.
	// Where LabelColumn is "", the label is the last column but this one.
	IDColumn string
	// Ignore are columns to leave out. An index is left out unasked, with a note, if a program's name
	// for it says so (Unnamed: 0, __index_level_0__, ...1), or if the first column alone has no name
	// and numbers the examples, unless Features or FeatureNames ask for it.
	Ignore []string
	// Encode makes features of columns that are more than numbers; nil refuses all other values.
	Encode *features.EncodeOptions
	// Encoding, if not nil, is what Read learned from the training data of a model: the columns
	// become the same features, and Encode does not matter. Features and FeatureNames are then those
	// of the model. A table that has the features themselves, by their names, is read as it is.
	Encoding *dataset.Encoding
	// Unseen is what becomes of a level that Encoding does not know: "zero" (the same as ""), none
	// of the levels, with a warning, or "error".
	Unseen string
}

// passed is what one reader tells the next.
type passed struct {
	given   *external                    // the labels that Labels or a reader found
	block   func(*dataset.Dataset) error // takes the examples of a stream, a block at a time
	remarks *remarks                     // what the choice of columns has to say
	parts   *parts                       // the parts of a set, if the file is one of them
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
	case o.MaxErrors < 0:
		return fmt.Errorf("dataset: asked to list %d errors, wanted 0 (one) or more", o.MaxErrors)
	case o.Storage != "" && o.Storage != "auto" && o.Storage != "dense" && o.Storage != "sparse" &&
		o.Storage != "narrow":
		return fmt.Errorf("dataset: unknown storage %s, wanted auto, dense, sparse or narrow",
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

// CheckSeparator says what is wrong with Separator, and with DecimalComma beside it.
func (o Options) CheckSeparator() error {
	_, err := o.layout()
	return err
}

// layout is what o says of the fields of a CSV.
func (o Options) layout() (layout, error) {
	l := layout{blanks: true, comma: o.DecimalComma}
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

// unseenError is a value of Options.Unseen.
const unseenError = "error"
