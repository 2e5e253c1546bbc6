// Package file reads data sets from files of any format, and writes them.
//
// All formats stand in one table, one file of code each. They take bytes from one source, which
// unpacks and counts lines, and hand examples to one builder, which keeps labels, bad examples and
// the choice between dense and sparse storage.
package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// A format is one way to write examples.
type format struct {
	name  string
	kind  string                 // tables have columns, which can be chosen; parts have one kind
	lines bool                   // it is written line by line
	names []string               // file name extensions
	magic func(head []byte) bool // whether a file begins so; nil if that does not tell
	read  func(*source, Options) (*dataset.Dataset, error)
	write func(*lineWriter, *dataset.Dataset, WriteOptions) error // nil if it is only read
}

// refuse returns an error if o asks for what files of the format do not have.
func (f format) refuse(path string, o Options) error {
	switch {
	case f.name != "csv" && (o.DecimalComma || o.Separator != "" && o.Separator != "auto"):
		return fmt.Errorf("%s: asked for a separator or decimal commas, which only a CSV has, of "+
			"the format %s; leave %s and %s out", path, f.name, option.Named("separator"),
			option.Named("decimal"))
	case f.kind == "tables":
	case o.IDColumn != "":
		return fmt.Errorf("%s: found the format %s, whose columns have no names, wanted a table (CSV, "+
			"Parquet) with the column of ids %s; leave %s out: examples are numbered from 1", path,
			f.name, quote.Text(o.IDColumn), option.Named("id-column"))
	case o.WeightColumn != "":
		return fmt.Errorf("%s: found the format %s, whose columns have no names, wanted a table (CSV, "+
			"Parquet) with the column of weights %s; give weights as a file of their own (%s)", path,
			f.name, quote.Text(o.WeightColumn), option.Named("row-weights"))
	case o.Ignore != nil:
		return fmt.Errorf("%s: asked to leave columns out, which is possible only in tables (CSV, "+
			"Parquet)", path)
	}
	return nil
}

// formats lists every format, in the order in which first bytes are compared; other text is CSV.
func formats() []format {
	return []format{
		{"csv", "tables", true, []string{".csv", ".tsv", ".data"}, nil, entering(enterCSV), writeCSV},
		{"libsvm", "libsvm", true, []string{".svm", ".libsvm", ".svmlight"}, nil, entering(enterLIBSVM),
			writeLIBSVM},
		{"npy", "arrays", false, []string{".npy"}, isNPY, entering(enterArray(readNPYHeader)), writeNPY},
		{"idx", "arrays", false, []string{".idx"}, isIDX, entering(enterArray(readIDXHeader)), nil},
		{"npz", "arrays", false, []string{".npz"}, isZip, readNPZ, writeNPZ},
		{"parquet", "tables", false, []string{".parquet"}, isParquet, entering(enterParquet), nil},
	}
}

// entering returns a reader that has enter give a builder the examples of a file.
func entering(enter func(b *builder) error) func(*source, Options) (*dataset.Dataset, error) {
	return func(s *source, o Options) (*dataset.Dataset, error) {
		b, err := newBuilder(s, o)
		if err != nil {
			return nil, err
		}
		if err := enter(b); err != nil {
			return nil, err
		}
		return b.finish()
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

// Read returns the examples of a file, plain or packed by gzip or zstd; "-" is standard input. Each
// number becomes the nearest float32; what is no finite number is an error, as is a file of one
// class. Errors begin with file:line:column where they belong to a place. A large float32 matrix
// of a plain .npy or .npz is mapped, not copied: nobody may write to it, use it under Guard, and
// Close unmaps it. The end of ctx ends Read, though a waiting read of a pipe goes on by itself.
func Read(ctx context.Context, path string, o Options) (*dataset.Dataset, error) {
	return surveying(o, []string{path}, func(o Options) (*dataset.Dataset, error) {
		return readOnce(ctx, path, o)
	})
}

// surveying reads once, and, if a table is not what its beginning told, again by all of it.
func surveying(o Options, paths []string, read func(Options) (*dataset.Dataset, error),
) (*dataset.Dataset, error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			o.survey.once = true
		}
	}
	d, err := read(o)
	if errors.Is(err, errSurprise) {
		o.survey.whole = true
		d, err = read(o)
	}
	return d, err
}

// readOnce is Read, or errSurprise.
func readOnce(ctx context.Context, path string, o Options) (*dataset.Dataset, error) {
	s, done, err := openSource(ctx, path, o.Stdin)
	if err != nil {
		return nil, cancelled(ctx, path, err)
	}
	defer done()
	d, err := readSource(s, o)
	if changed := s.finished(nil); changed != nil {
		if err == nil && d != nil {
			d.Close() // of what was only read: nothing to lose
		}
		d, err = nil, changed
	}
	return d, cancelled(ctx, path, err)
}

// ReadFrom is Read from r, named for errors; .npz and Parquet are read into memory, at most 4 GiB.
func ReadFrom(ctx context.Context, r io.Reader, name string, o Options) (*dataset.Dataset, error) {
	l, waits := defaultLimits, true
	if b, ok := r.(interface{ Len() int }); ok { // a bytes.Reader or the like, often a short one
		l.length, waits = b.Len(), false
	}
	s, err := newSource(ctx, name, reading{ctx, r, waits, nil}, l)
	o.survey.once = true
	if err != nil {
		return nil, cancelled(ctx, name, err)
	}
	defer s.close()
	d, err := readSource(s, o)
	return d, cancelled(ctx, name, err)
}

func readSource(s *source, o Options) (*dataset.Dataset, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	name := o.Format
	if name == "" || name == "auto" {
		name = detectFormat(s, o.NoLabels || o.Labels != "" || o.given != nil)
	}
	f, err := formatNamed(name, false)
	if err != nil {
		return nil, err
	}
	if err := o.parts.sameKind(s.path, f); err != nil {
		return nil, err
	}
	if err := f.refuse(s.path, o); err != nil {
		return nil, err
	}
	if o.FeatureNames != nil {
		o.Features = len(o.FeatureNames)
	}
	if o.parts == nil {
		o.remarks = &remarks{}
	}
	if o.Labels != "" {
		if o.given, err = readLabels(s.ctx, o.Labels, o); err != nil {
			return nil, err
		}
	}
	d, err := f.read(s, o)
	if err != nil {
		return nil, err
	}
	if o.parts != nil {
		s.path = o.parts.name
	}
	if err := s.ctx.Err(); err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, err
	}
	if d.Y != nil && o.Classes == nil && len(d.Classes) == 1 {
		defer d.Close() // of what was only read: nothing to lose
		return nil, fmt.Errorf("%s: found only one class, %s, in %d examples, wanted at least two; is "+
			"it the right label column?", s.path, quote.Text(d.Classes[0]), d.N)
	}
	d.Path, d.Format = s.path, f.name
	err = remark(d, o.remarks, o)
	judgeIDs(d)
	if err == nil {
		err = d.MatchFeatures(o.FeatureNames)
	}
	if err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, err
	}
	if d.Prepared == nil { // else the file says it
		if d.SHA256, err = d.Content().Hash(s.ctx); err != nil {
			d.Close() // of what was only read: nothing to lose
			return nil, err
		}
		if d.Evidence != nil {
			d.SHA256 = d.Hash()
		}
	}
	return d, nil
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

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }
