package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// parts are files that are read as one set, by one builder.
type parts struct {
	name  string // of all, for messages
	last  bool   // no part comes behind the one that is read
	first string // the path of the first
	kind  string // of its format

	b     *builder // nil before the first part
	table *columns // of the first part that is a table
	given bool     // the labels of all are in one file
}

// ReadAll returns the data set that Read would find in one file of all examples. Tables have the
// first part's columns; Options.Labels has all labels. name is for
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
	for k, path := range paths {
		p.last = k == len(paths)-1
		d, err := readOnce(ctx, path, o)
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
