// Package file reads data sets from files of any format, and writes them.
//
// Bytes become examples in few steps. A source opens and unpacks a file and counts its lines
// (source.go). The format is found (read.go), and its reader takes the bytes apart. For a CSV, its
// separator, header and kinds of columns are found first (sniff.go, kinds.go), then records are
// split (records.go), columns get their roles (columns.go), and cells become numbers (csv.go) or,
// where there is more than numbers, typed columns of a dataset.Table (cells.go). A collector keeps
// the values, labels and row numbers of good examples and makes the data set of them (collect.go,
// pile.go).
package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// A format is one way to write examples.
type format struct {
	name  string
	table bool                   // it has columns, which can be chosen
	lines bool                   // it is written line by line
	names []string               // file name extensions
	magic func(head []byte) bool // whether a file begins so; nil if that does not tell
	// enter enters the examples of a file.
	enter func(*collector) error
	write func(*lineWriter, *dataset.Dataset, WriteOptions) error // nil if it is only read
}

// formats lists every format, in the order in which first bytes are compared; other text is CSV.
func formats() []format {
	return []format{
		{"csv", true, true, []string{".csv", ".tsv", ".data"}, nil, enterCSV, writeCSV},
		{"libsvm", false, true, []string{".svm", ".libsvm", ".svmlight"}, nil, enterLIBSVM,
			writeLIBSVM},
		{"npy", false, false, []string{".npy"}, isNPY, enterArray(npyfile.ReadHeader), writeNPY},
		{"idx", false, false, []string{".idx"}, isIDX, enterArray(readIDXHeader), nil},
		{"npz", false, false, []string{".npz"}, isZip, enterNPZ, writeNPZ},
		{"xlsx", true, false, []string{".xlsx", ".xlsm"}, nil, enterCSV, nil},
		{"parquet", true, false, []string{".parquet"}, isParquet, enterParquet, nil},
	}
}

// formatNamed returns the format of that name, to be written if write.
func formatNamed(name string, write bool) (format, error) {
	for _, f := range formats() {
		if f.name == name && (!write || f.write != nil) {
			return f, nil
		}
	}
	names, to := Formats(write), ""
	if write {
		to = " to write"
	}
	last := len(names) - 1
	return format{}, fmt.Errorf("dataset: unknown format %s%s, wanted auto, %s or %s",
		quote.Text(name), to, strings.Join(names[:last], ", "), names[last])
}

// refuse returns an error if o asks for what files of the format do not have.
func (f format) refuse(path string, o Options) error {
	switch {
	case f.name != "csv" && (o.Decimal == decimalComma || o.Separator != "" && o.Separator != "auto"):
		return fmt.Errorf("%s: asked for a separator or decimal commas, which only a CSV has, of the "+
			"format %s; leave out %s and %s", path, f.name, quote.Option("separator"),
			quote.Option("decimal"))
	case f.table:
	case o.IDColumn != "":
		return fmt.Errorf("%s: found the format %s, whose columns have no names, wanted a table (CSV, "+
			"Parquet) with the column of ids %s; leave out %s: examples are numbered from 1", path,
			f.name, quote.Text(o.IDColumn), quote.Option("id-column"))
	case o.WeightColumn != "":
		return fmt.Errorf("%s: found the format %s, whose columns have no names, wanted a table (CSV, "+
			"Parquet) with the column of weights %s; give weights as a file of their own (%s)", path,
			f.name, quote.Text(o.WeightColumn), quote.Option("row-weights"))
	case o.Ignore != nil:
		return fmt.Errorf("%s: asked to leave columns out, which is possible only in tables (CSV, "+
			"Parquet)", path)
	}
	return nil
}

// Read returns the examples of a file, plain or packed by gzip or zstd; "-" is standard input. Each
// number becomes the nearest float32; what is no finite number is an error, as is a file of one
// class. Errors begin with file:line:column where they belong to a place. A large float32 matrix
// of a plain .npy or .npz is mapped, not copied: nobody may write to it, use it under Guard, and
// Close unmaps it. The end of ctx ends Read, though a waiting read of a pipe goes on by itself.
func Read(ctx context.Context, path string, o Options) (*dataset.Dataset, error) {
	in, err := openInput(ctx, path, o.Stdin)
	if err != nil {
		return nil, cancelled(ctx, path, err)
	}
	return readInput(in, o)
}

// ReadFrom is Read from r, named for errors.
func ReadFrom(ctx context.Context, r io.Reader, name string, o Options) (*dataset.Dataset, error) {
	_, waits := r.(interface{ Len() int }) // a bytes.Reader or the like
	in, err := copyInput(ctx, name, r, !waits)
	if err != nil {
		return nil, cancelled(ctx, name, err)
	}
	return readInput(in, o)
}

// readInput reads one file, which it closes, as often as it takes to know its columns.
func readInput(in *input, o Options) (d *dataset.Dataset, err error) {
	defer in.close()
	known, again := &lesson{}, true
	for again {
		s, done, err := in.open()
		if err != nil {
			return nil, cancelled(in.ctx, in.path, err)
		}
		d, err = readSource(s, o, *known)
		if done(); err == nil {
			break
		}
		if known, again = errors.AsType[*lesson](err); !again {
			return nil, cancelled(in.ctx, in.path, cmp.Or(in.unchanged(), err))
		}
		if in.size > 1<<24 {
			debug.FreeOSMemory() // of what was read for nothing
		}
	}
	if err := in.unchanged(); err != nil {
		d.Close() // only read
		return nil, err
	}
	return d, nil
}

// lesson is what a reading of a file has to know of it before, and the error of one that does not.
type lesson struct {
	whole      bool      // all of a table tells what its columns hold, not its beginning
	gaps       bool      // numbers are missing that are not looked for at first
	unlabelled bool      // there is no column of labels
	origins    []float64 // of the features that are numbers; nil if they are not known yet
}

// asWhole is l, and that a table does not go on as it began.
func (l lesson) asWhole() error {
	l.whole = true
	return &l
}

// withGaps is l, and that numbers are missing.
func (l lesson) withGaps() error {
	l.gaps = true
	return &l
}

func (l *lesson) Error() string { return "the data do not go on as they began" }

// readSource reads one file, or returns a lesson.
func readSource(s *source, o Options, known lesson) (*dataset.Dataset, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	name := o.Format
	if name == "" || name == "auto" {
		name = detectFormat(s, o.NoLabels || o.Labels != "")
	}
	f, err := formatNamed(name, false)
	if err != nil {
		return nil, err
	}
	if err := f.refuse(s.path, o); err != nil {
		return nil, err
	}
	if o.FeatureNames != nil {
		o.Features = len(o.FeatureNames)
	}
	o.NoLabels = o.NoLabels || known.unlabelled
	c := &collector{src: s, format: f.name, asked: o, o: o, known: known}
	if o.Labels != "" {
		if c.given, err = readLabels(s.ctx, o.Labels, o); err != nil {
			return nil, err
		}
	}
	if err = f.enter(c); err == nil {
		var d *dataset.Dataset
		if d, err = c.finish(s.ctx); err == nil {
			return d, nil
		}
	}
	if c.home != nil {
		c.home.Close() // only read
	}
	c.pile.room.Close() // nobody needs it
	return nil, err
}

// emptyFault is the error of a file without any example.
func emptyFault(s *source, what string) error {
	return fmt.Errorf("%s: found no example%s, wanted at least one", s.path, what)
}

// FormatOfName returns the format of a name, .gz and .zst aside; "" if it does not say.
func FormatOfName(path string) string {
	if end := extension(path); end != "" {
		for _, f := range formats() {
			if slices.Contains(f.names, end) {
				return f.name
			}
		}
	}
	return ""
}

// Formats lists the formats that Read or, if write, Write knows.
func Formats(write bool) []string {
	var names []string
	for _, f := range formats() {
		if !write || f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// detectFormat looks at the first bytes, at the name, and at the first lines.
func detectFormat(s *source, noLabels bool) string {
	head := s.peek(1 << 16)
	if s.sheet != nil {
		return "xlsx"
	}
	for _, f := range formats() {
		if f.magic != nil && f.magic(head) {
			return f.name
		}
	}
	byName := formatOfName(s.path)
	if byName != "csv" || extension(s.path) == ".tsv" { // whose tabs would pass for LIBSVM's spaces
		return byName
	}
	for line := range bytes.Lines(head) {
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
	return byName
}

// formatOfName returns FormatOfName, or CSV.
func formatOfName(path string) string { return cmp.Or(FormatOfName(path), "csv") }

// extension returns the last dotted part in lower case, .gz or .zst aside.
func extension(path string) string {
	name := strings.ToLower(path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if dot := strings.LastIndexAny(name, "./\\"); dot >= 0 && name[dot] == '.' {
		return name[dot:]
	}
	return ""
}

// looksIndexed reports whether a field begins like index:value or qid:number.
func looksIndexed(field []byte) bool {
	index, _, found := bytes.Cut(field, []byte(":"))
	if !found || len(index) == 0 || bytes.ContainsAny(field, ",;\"") {
		return false
	}
	return len(bytes.Trim(index, "0123456789")) == 0 || string(index) == "qid"
}
