package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Options say how Read is to understand a file. The zero value reads a labelled
// file of a format found out by itself, a CSV's label in the last column.
type Options struct {
	// Format is "csv", "libsvm", or "auto" (the same as ""). auto takes a file
	// for LIBSVM if the second field of its first telling line looks like
	// index:value, or if it is named .svm, .libsvm or .svmlight; everything
	// else is CSV (.csv, .tsv, .data, …). A .gz behind the name does not matter.
	Format string

	// LabelColumn is where a CSV keeps the label: "last" (the same as ""),
	// "first", a name in the header, or a position counted from 1. If there is
	// a header, a name that looks like a position is taken as the name; the
	// words first and last are never names. LIBSVM has the label first always.
	LabelColumn string
	// Header says whether a CSV begins with a header: "yes", "no", or "auto"
	// (the same as ""). auto: LabelColumn is a name; or no feature field of the
	// first record is a number (nan and inf count as numbers) and not all of
	// them are empty. A first record that mixes numbers and words is data, so
	// that its words become errors: no line is ever lost by a guess.
	Header string
	// NoLabels reads data to predict: every CSV column is a feature; a LIBSVM
	// line may begin with a label, which is passed over, or not.
	NoLabels bool

	// Features, if above 0, is the number of features wanted, for example that
	// of a model. A CSV must have exactly so many; in LIBSVM a higher index is
	// an error and features beyond the file's highest index are zero.
	Features int
	// Classes, if not nil, is the whole list of classes in their order, for
	// example that of a model: another label is an error, and a file of one
	// class is none. It is copied.
	Classes []string
}

// A format is one way to write examples as text.
type format struct {
	name  string
	read  func(*source, Options) (*Dataset, error)
	write func(*lineWriter, *Dataset, WriteOptions) error
}

// formats lists every format Read and Write know.
func formats() []format {
	return []format{
		{"csv", readCSV, writeCSV},
		{"libsvm", readLIBSVM, writeLIBSVM},
	}
}

// formatNamed returns the format of that name.
func formatNamed(name string) (format, error) {
	var names []string
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return format{}, fmt.Errorf("dataset: unknown format %s, wanted auto, %s", quote(name), strings.Join(names, " or "))
}

// Read reads examples and their labels from a CSV or LIBSVM (svmlight) file,
// plain or gzip (known by its first bytes; several members are fine), UTF-8,
// lines ending in LF or CRLF. Blank lines are passed over.
//
// Every number becomes the nearest float32. Not a number, infinite, beyond
// float32, with anything behind it, or missing: an error. So are an empty file,
// a file of one class only, and all that a format's own rules forbid. Errors
// that belong to a line begin with file:line. The result owns its memory.
func Read(path string, o Options) (*Dataset, error) {
	s, file, err := openSource(path)
	if err != nil {
		return nil, err
	}
	// Nothing was written, so closing cannot lose anything.
	defer file.Close()
	return readSource(s, o)
}

func readSource(s *source, o Options) (*Dataset, error) {
	if o.Features < 0 {
		return nil, fmt.Errorf("dataset: asked for %d features, wanted 0 (any) or more", o.Features)
	}
	name := o.Format
	if name == "" || name == "auto" {
		name = detectFormat(s, o.NoLabels)
	}
	f, err := formatNamed(name)
	if err != nil {
		return nil, err
	}
	d, err := f.read(s, o)
	if err != nil {
		return nil, err
	}
	if !o.NoLabels && o.Classes == nil && len(d.Classes) == 1 {
		return nil, fmt.Errorf("%s: found only one class, %s, in %d examples, wanted at least two; is it the right label column?",
			s.path, quote(d.Classes[0]), d.N)
	}
	d.Path = s.path
	d.SHA256 = d.Hash()
	return d, nil
}

// emptyFault is the error of a file without any example.
func emptyFault(s *source, what string) error {
	return fmt.Errorf("%s: found no example%s, wanted at least one", s.path, what)
}

// detectFormat looks at the name and at the first lines.
func detectFormat(s *source, noLabels bool) string {
	if extension(s.path) == ".tsv" {
		return "csv" // whose tabs would pass for LIBSVM's spaces
	}
	for line := range bytes.Lines(s.peek(1 << 16)) {
		if comment := bytes.IndexByte(line, '#'); comment >= 0 {
			line = line[:comment]
		}
		fields := bytes.Fields(line[:min(len(line), 1<<12)])
		if len(fields) == 0 || (len(fields) == 1 && !bytes.ContainsAny(fields[0], ",;:")) {
			continue // a comment, or perhaps the label of an example that is all zero
		}
		if (len(fields) > 1 && looksIndexed(fields[1])) || (noLabels && looksIndexed(fields[0])) {
			return "libsvm"
		}
		break
	}
	return formatOfName(s.path)
}

// formatOfName returns the format that a file name stands for.
func formatOfName(path string) string {
	if slices.Contains([]string{".svm", ".libsvm", ".svmlight"}, extension(path)) {
		return "libsvm"
	}
	return "csv"
}

// extension returns the last dotted part of a name in lower case, a .gz aside.
func extension(path string) string {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	if dot := strings.LastIndexAny(name, "./\\"); dot >= 0 && name[dot] == '.' {
		return name[dot:]
	}
	return ""
}

// looksIndexed reports whether a field begins like LIBSVM's index:value.
func looksIndexed(field []byte) bool {
	index, _, found := bytes.Cut(field, []byte(":"))
	return found && len(index) > 0 && len(bytes.Trim(index, "0123456789")) == 0 && !bytes.ContainsAny(field, ",;\"")
}
