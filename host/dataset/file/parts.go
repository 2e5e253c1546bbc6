package file

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/prepared"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// parts are files that are read as one set, by one builder.
type parts struct {
	name  string // of all, for messages
	last  bool   // no part comes behind the one that is read
	first string // the path of the first
	kind  string // of its format

	b       *builder // nil before the first part
	table   *columns // of the first part that is a table
	opened  []*dataset.Dataset
	hashes  []string         // of binary parts
	given   bool             // the labels of all are in one file
	written *dataset.Dataset // the first binary part, but for its examples
}

// ReadAll returns the data set that Read would find in one file of all examples. Tables have the
// first part's columns; prepared parts one preparation; Options.Labels has all labels. name is for
// messages. Examples are copied.
func ReadAll(ctx context.Context, name string, paths []string, o Options) (*dataset.Dataset,
	error) {
	switch len(paths) {
	case 0:
		return nil, fmt.Errorf("%s: found no file, wanted at least one", name)
	case 1:
		return Read(ctx, paths[0], o)
	}
	return surveying(o, paths, func(o Options) (*dataset.Dataset, error) {
		return readAllOnce(ctx, name, paths, o)
	})
}

// readAllOnce is ReadAll, or errSurprise.
func readAllOnce(ctx context.Context, name string, paths []string, o Options) (*dataset.Dataset,
	error) {
	o.remarks = &remarks{}
	p := &parts{name: name, first: paths[0], given: o.Labels != ""}
	o.parts = p
	defer p.close()
	for k, path := range paths {
		p.last = k == len(paths)-1
		var d *dataset.Dataset
		err := dataset.Guard(func() (err error) { // of binary parts before this one
			d, err = readOnce(ctx, path, o)
			return err
		})
		if !errors.Is(err, errGivenAway) {
			return d, err
		}
		if p.given {
			o.given, o.Labels = p.b.external, ""
		}
	}
	panic("unreachable: the last part ends the loop")
}

// sameKind returns an error unless a part of format f can be joined to the parts before it.
func (p *parts) sameKind(path string, f format) error {
	if p == nil || p.kind == "" {
		if p != nil {
			p.kind = f.kind
		}
		return nil
	}
	if f.kind != p.kind {
		return fmt.Errorf("%s: found a part of the format %s, wanted one like %s (%s); convert all "+
			"parts to one format", path, f.name, p.first, p.kind)
	}
	return nil
}

// close gives back binary parts.
func (p *parts) close() {
	for _, d := range p.opened {
		d.Close() // of what was only read: nothing to lose
	}
}

// goesOn reports whether there is a part behind the one that was read.
func (p *parts) goesOn() bool { return p != nil && !p.last }

// goOn has the builder read another part, with its labels if they stand apart.
func (b *builder) goOn(s *source, o Options) error {
	b.before, b.passed = b.seen, b.passed+b.src.text
	b.src, b.o = s, o
	if o.given == nil || o.given == b.external {
		return nil
	}
	if b.external == nil {
		return s.errorf("found labels beside the examples, wanted them where the part %s has them",
			o.parts.first)
	}
	return b.external.join(o.given, s.path, b.seen)
}

// join adds the labels of another part, n examples having been read.
func (e *external) join(other *external, path string, n int) error {
	if n < len(e.codes) {
		return e.tooMany(path, n)
	}
	for k, code := range other.codes {
		if code < 0 {
			e.bad[len(e.codes)] = other.bad[k]
		} else if fault := e.labels.set([]byte(other.labels.names[code])); fault != "" {
			return fmt.Errorf("%s: label %d: %s", other.name, k+1, fault)
		} else {
			code = e.labels.pending
		}
		e.codes = append(e.codes, code)
	}
	e.name = other.name
	return nil
}

// names returns the header of the first part, nil if there is none.
func (p *parts) names() []string {
	if p == nil || p.table == nil {
		return nil
	}
	return p.table.names
}

// sameTable returns how the columns differ from the first part's, "" if they do not.
func (p *parts) sameTable(c *columns) string {
	if p == nil || p.table == nil {
		if p != nil {
			p.table = c
		}
		return ""
	}
	first := p.table
	switch {
	case len(c.role) != len(first.role):
		return fmt.Sprintf("found %d columns, wanted %d as in %s", len(c.role), len(first.role), p.first)
	case (c.names == nil) != (first.names == nil):
		return fmt.Sprintf("found a header (%v), wanted it as in %s (%v); write all parts with one, or "+
			"without ("+option.Named("header")+")", c.names != nil, p.first, first.names != nil)
	case !slices.Equal(c.names, first.names):
		j := 0
		for c.names[j] == first.names[j] {
			j++
		}
		return fmt.Sprintf("found %s, wanted %s there as in %s; parts have the same columns, in one "+
			"order", c.describe(j), quote.Text(first.names[j]), p.first)
	case !slices.Equal(c.role, first.role):
		return fmt.Sprintf("found other columns to be features than in %s; say which is the label "+
			"(%s) and which to leave out (%s)", p.first, option.Named("label-column"),
			option.Named("ignore-columns"))
	}
	return ""
}

// resolve decides what the columns of a table are for; kinds returns what the features among them
// hold.
func (b *builder) resolve(c *columns, names []string, width int, places string,
	kinds func() ([]string, string)) (fault string) {
	if *c, fault = chooseColumns(names, width, b.o); fault != "" {
		return fault
	}
	b.about = c.about
	if c.label < 0 && b.inline() {
		b.labels = nil
	}
	list, fault := kinds()
	if b.width = c.features; fault == "" {
		fault = b.tableCells(places, c, list)
	}
	return fault
}

// tableCells is newCells, but that of the first part takes the values of all.
func (b *builder) tableCells(places string, c *columns, kinds []string) string {
	p := b.o.parts
	first := p == nil || p.table == nil
	if fault := p.sameTable(c); fault != "" {
		return fault
	}
	made, fault := c.cells(b.src.path, places, kinds, b.o)
	switch {
	case fault != "":
		return fault
	case first:
		if b.Encoder = made; made != nil && b.o.Encoding != nil {
			made.Forgive()
		}
	case (made == nil) != (b.Encoder == nil):
		return fmt.Sprintf("found other kinds of columns than in %s, words in the one and numbers alone "+
			"in the other; say which are categories ("+option.Named("categories")+")", p.first)
	case b.Encoder != nil:
		b.Encoder.GoOn(b.src.path, places)
	}
	return ""
}

// cells returns an Encoder of the columns, of those kinds unless o.Encoding knows them; nil if all
// are numbers.
func (c *columns) cells(path, places string, kinds []string, o Options) (*encode.Encoder,
	string) {
	if o.Encoding == nil && o.Encode == nil {
		return nil, ""
	}
	var sources []encode.Source
	plain := o.Encode == nil || o.Encode.Missing == "" ||
		o.Encode.Missing == dataset.MissingError || o.lenient() && !o.survey.holes
	for j, role := range c.role {
		if role != feature {
			continue
		}
		s := encode.Source{Name: c.nameOf(j), Text: c.describe(j), Option: c.option(j),
			Kind: dataset.KindNumber}
		if kinds != nil {
			s.Kind = kinds[len(sources)]
		}
		if plain = plain && s.Kind == dataset.KindNumber; o.survey.asides != nil {
			s.Why = o.survey.asides[j]
		}
		sources = append(sources, s)
	}
	if o.Encoding != nil {
		e, fault := encode.Follow(path, places, sources, o.Encoding,
			c.names != nil && o.FeatureNames != nil, o.Unseen == unseenError)
		if e != nil {
			e.Commas = o.survey.commas
		}
		return e, fault
	}
	if plain {
		return nil, ""
	}
	for _, text := range o.Encode.Categories {
		if j, fault := c.find(strings.TrimSpace(text), "a column that is a category"); fault == "" &&
			c.role[j] == feature {
			sources[c.featureAt(j)].Chosen = true
		}
	}
	e := encode.New(path, places, sources, *o.Encode)
	e.Commas = o.survey.commas
	return e, ""
}

// checkWidth returns an error if a part has other features than the parts before it and must not.
func (b *builder) checkWidth(width int) error {
	if b.o.parts == nil || b.seen == 0 || width == b.width {
		return nil
	}
	return b.src.errorf("found %d features, wanted %d as in the parts before", width, b.width)
}

// asPart enters the examples of d, of a binary file, as one part.
func asPart(d *dataset.Dataset, s *source, o Options) (*dataset.Dataset, error) {
	o.parts.opened = append(o.parts.opened, d)
	b, err := newBuilder(s, o)
	if err == nil {
		err = dataset.Guard(func() error { return b.part(d) })
	}
	if err != nil {
		return nil, err
	}
	return b.finish()
}

// part enters the examples of a binary file, which stays open; values are not looked at.
func (b *builder) part(d *dataset.Dataset) error {
	p := b.o.parts
	if err := b.checkWidth(d.D); err != nil {
		return err
	}
	if p.written == nil {
		head := *d
		head.Examples, head.Y, head.Home = dataset.Examples{}, nil, nil
		p.written = &head
	}
	w := p.written
	switch {
	case (w.Prepared == nil) != (d.Prepared == nil) || w.Prepared != nil &&
		prepared.Difference(w.Prepared, d.Prepared) != "":
		return b.src.errorf("found examples that were prepared otherwise than in %s, wanted parts that "+
			"are raw, or prepared by one preparation; join the raw parts", p.first)
	case !slices.Equal(w.Features, d.Features):
		return b.src.errorf("found other names of features than in %s, wanted the same in one order",
			p.first)
	case !reflect.DeepEqual(w.Encoding, d.Encoding):
		return b.src.errorf("found features that were made of other words than in %s; join the tables "+
			"that they were made of, or convert them with the model of one (%s)", p.first,
			option.Named("encoding"))
	}
	b.width = d.D
	p.hashes = append(p.hashes, d.SHA256)
	codes := make([]int32, len(d.Classes))
	for k, name := range d.Classes {
		if fault := b.labels.set([]byte(name)); fault != "" {
			return b.src.errorf("%s", fault)
		}
		codes[k] = b.labels.pending
	}
	for i := range d.N {
		if b.labels != nil {
			b.labels.pending = codes[d.Y[i]]
		}
		if ok, err := b.admit(b.number()); !ok {
			return err
		}
	}
	s := segment{rows: d.N, width: d.D, x: d.X}
	if d.Sparse() {
		s = segment{rows: d.N, counts: make([]int32, d.N), columns: d.Columns, values: d.Values}
		for i := range s.counts {
			s.counts[i] = int32(d.Starts[i+1] - d.Starts[i])
		}
		b.stored += len(d.Values)
	} else {
		b.stored += countStored(d.X)
	}
	b.segments = append(b.segments, s)
	b.here = len(b.segments) // it is in a file already
	b.subnormals += d.Subnormals
	b.about = func(joined *dataset.Dataset) {
		joined.Features, joined.Label, joined.LabelColumn = w.Features, w.Label, w.LabelColumn
		joined.Encoding, joined.Prepared = w.Encoding, w.Prepared
		if w.Prepared != nil && !slices.Contains(p.hashes, "") { // that of all raw data is not known
			sum := sha256.Sum256(fmt.Append(nil, "uma-gpu parts 1\n", p.hashes))
			joined.SHA256 = fmt.Sprintf("%x", sum[:])
		}
	}
	return nil
}
