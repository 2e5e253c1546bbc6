package file

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// isARFF recognises a text whose first telling line begins with @relation.
func isARFF(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '%' {
			return hasKeyword(line, "@relation")
		}
	}
	return false
}

// hasKeyword reports whether a line begins with a keyword, in either case.
func hasKeyword(line []byte, word string) bool {
	return len(line) >= len(word) && strings.EqualFold(string(line[:len(word)]), word) &&
		(len(line) == len(word) || line[len(word)] == ' ' || line[len(word)] == '\t')
}

// attribute is what one @attribute line declares.
type attribute struct {
	name    string
	kind    string   // numeric, nominal, string, date, relational
	nominal []string // the values of a nominal one
}

// arffReader reads Weka's ARFF, and KEEL's files, which are much the same.
type arffReader struct {
	*builder
	columns    columns
	attributes []attribute
	places     []int32         // the feature that each attribute is
	declared   map[string]bool // the values of a nominal label; nil if it is not
	fields     []arffField
}

// enterARFF reads rows of values, or sparse ones: {place value, …}, places from 0.
func enterARFF(b *builder) error {
	r := &arffReader{builder: b}
	if err := r.header(); err != nil {
		return err
	}
	return b.lines(r.line)
}

// line enters one line, unless it is blank or a comment.
func (r *arffReader) line(line []byte) (entered bool, err error) {
	if start := decimal.Trim(line); len(start) == 0 || start[0] == '%' {
		return false, nil
	}
	return true, r.example(line)
}

// header reads up to @data and decides what the attributes are for.
func (r *arffReader) header() error {
	for {
		line, err := r.src.next()
		if err == io.EOF {
			return fmt.Errorf("%s: found no line @data, wanted the examples behind one", r.src.path)
		}
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '%' || hasKeyword(line, "@relation"):
		case hasKeyword(line, "@inputs") || hasKeyword(line, "@input") ||
			hasKeyword(line, "@outputs") || hasKeyword(line, "@output"):
			// KEEL's way to say which attribute is the label, which it also puts last.
		case hasKeyword(line, "@attribute"):
			a, fault := parseAttribute(string(bytes.TrimSpace(line[len("@attribute"):])))
			if fault != "" {
				return r.src.errorf("%s", fault)
			}
			r.attributes = append(r.attributes, a)
		case hasKeyword(line, "@data"):
			return r.resolve()
		default:
			return r.src.errorf("found %s, wanted @attribute, @data or a comment (%%)",
				quote.Text(string(line)))
		}
	}
}

// resolve chooses the columns and refuses features that are not numbers.
func (r *arffReader) resolve() error {
	if len(r.attributes) > r.src.limits.columns {
		return r.src.errorf("found %d attributes, wanted at most %d", len(r.attributes),
			r.src.limits.columns)
	}
	names := make([]string, len(r.attributes))
	for j, a := range r.attributes {
		names[j] = a.name
	}
	r.o = r.o.forTable(names)
	fault := r.builder.resolve(&r.columns, names, len(names), "line", r.kinds)
	if fault != "" {
		return r.src.errorf("%s", fault)
	}
	r.places = make([]int32, len(names))
	next := int32(0)
	for j := range r.places {
		if r.places[j] = next; r.columns.role[j] == feature {
			next++
		}
	}
	if k := r.columns.label; k >= 0 && r.attributes[k].kind == "nominal" {
		r.declared = make(map[string]bool)
		for _, value := range r.attributes[k].nominal {
			r.declared[value] = true
		}
	}
	return nil
}

// kinds returns what the feature attributes hold, and refuses others.
func (r *arffReader) kinds() (kinds []string, fault string) {
	asked, fault := r.columns.asked(r.o.Encode)
	if fault != "" {
		return nil, fault
	}
	mixed := r.o.Encode != nil || r.o.Encoding != nil
	for j, a := range r.attributes {
		if r.columns.role[j] != feature {
			continue
		}
		kind := dataset.KindCategory
		switch {
		case asked[j] != "" && a.kind != "relational":
			kind = asked[j]
		case a.kind == "numeric", a.kind == "nominal" && a.isTruth():
			kind = dataset.KindNumber
		case a.kind == "date" && mixed:
			return nil, datesFault(&r.columns, j, "dates")
		case (a.kind == "nominal" || a.kind == "string") && mixed:
		default:
			return nil, fmt.Sprintf("%s is %s, wanted numeric features; leave it out or make it numbers",
				r.columns.describe(j), a.kind)
		}
		kinds = append(kinds, kind)
	}
	return kinds, ""
}

// example enters one line.
func (r *arffReader) example(line []byte) error {
	start := skipSpace(line, 0)
	if r.Encoder != nil {
		r.Encoder.Begin(r.src.line)
	}
	if line[start] == '{' {
		return r.sparse(line, start+1)
	}
	r.fields = r.fields[:0]
	for i := start; ; i++ {
		f, end, fault := scanARFF(line, i)
		if fault != "" {
			return r.src.errorfAt(f.from-1, "%s", fault)
		}
		if end < len(line) && line[end] != ',' {
			return r.src.errorfAt(end, "found %s, wanted a comma or the end of the line",
				quote.Text(string(line[end:])))
		}
		r.fields = append(r.fields, f)
		if i = end; i >= len(line) {
			break
		}
	}
	if len(r.fields) != len(r.attributes) {
		return r.src.errorfAt(len(line), "found %d fields, wanted %d, one per attribute", len(r.fields),
			len(r.attributes))
	}
	for k, f := range r.fields {
		if err := r.value(line, k, f); err != nil {
			return err
		}
	}
	return nil
}

// value enters field f as attribute k.
func (r *arffReader) value(line []byte, k int, f arffField) error {
	switch r.columns.role[k] {
	case label:
		text := f.text(line)
		if string(text) == "?" && !f.quoted && r.o.lacksLabels() {
			text = nil
		} else if string(text) == "?" && !f.quoted {
			return r.src.errorfAt(f.from, "%s: found ?, a missing label, wanted a class name",
				r.columns.describe(k))
		}
		if r.declared != nil && text != nil && !r.declared[string(text)] &&
			(r.o.Between == "" || !strings.Contains(string(text), r.o.Between)) {
			return r.src.errorfAt(f.from, "%s: found %s, wanted one of %s as declared",
				r.columns.describe(k), quote.Text(string(text)), quote.List(r.attributes[k].nominal))
		}
		if fault := r.labels.set(text); fault != "" {
			return r.src.errorfAt(f.from, "%s: %s", r.columns.describe(k), fault)
		}
	case identity:
		if fault := r.ids.set(f.text(line)); fault != "" {
			return r.src.errorfAt(f.from, "%s: %s", r.columns.describe(k), fault)
		}
	case weight:
		if fault := r.weights.set(f.text(line)); fault != "" {
			return r.src.errorfAt(f.from, "%s: %s", r.columns.describe(k), fault)
		}
	case feature:
		text := line[f.from:f.to]
		if r.Encoder != nil {
			if f.quoted {
				text = f.text(line)
			}
			if fault := r.Encoder.Set(int(r.places[k]), text, &r.subnormals); fault != "" {
				return r.valueFault(k, f, text, fault)
			}
			return nil
		}
		v, ok := encode.ParseCell(text)
		if !ok {
			return r.valueFault(k, f, text, decimal.Fault(text))
		}
		if v = decimal.Flush(v, &r.subnormals); math.Float32bits(v) != 0 {
			r.builder.columns, r.values = append(r.builder.columns, r.places[k]), append(r.values, v)
		}
	}
	return nil
}

// zero is what a sparse line means that does not name a.
func (a *attribute) zero() string {
	switch {
	case len(a.nominal) > 0:
		return a.nominal[0]
	case a.kind == "numeric":
		return "0"
	}
	return ""
}

// leftOut enters what a sparse line does not name of attributes from..to-1.
func (r *arffReader) leftOut(from, to int) error {
	for k := from; k < to; k++ {
		if r.columns.role[k] == weight {
			r.weights.pending = 0
		}
		if r.columns.role[k] == identity {
			if fault := r.ids.set([]byte(r.attributes[k].zero())); fault != "" {
				return r.src.errorfAt(0, "%s: %s", r.columns.describe(k), fault)
			}
		}
		if r.columns.role[k] != feature || len(r.attributes[k].nominal) == 0 || r.Encoder == nil {
			continue
		}
		if fault := r.Encoder.Set(int(r.places[k]), []byte(r.attributes[k].nominal[0]),
			&r.subnormals); fault != "" {
			return r.src.errorfAt(0, "%s: %s", r.columns.describe(k), fault)
		}
	}
	return nil
}

// valueFault is the error of what stands in attribute k.
func (r *arffReader) valueFault(k int, f arffField, text []byte, fault string) error {
	return r.advise(r.src.errorfAt(f.from, "%s: %s", r.columns.describe(k), fault),
		encode.IsMissing(text))
}

// sparse enters {place value, …} from i on; a nominal label that is not named is its first value.
func (r *arffReader) sparse(line []byte, i int) error {
	last, labelled := -1, false
	for {
		i = skipSpace(line, i)
		if i < len(line) && line[i] == '}' && last < 0 {
			break
		}
		start := i
		for i < len(line) && line[i]-'0' <= 9 {
			i++
		}
		k, err := strconv.Atoi(string(line[start:i]))
		if err != nil || i == len(line) || !isSpace(line[i]) || k >= len(r.attributes) {
			return r.src.errorfAt(start, "found %s, wanted a place from 0 to %d, a space and a value",
				quote.Text(string(line[start:])), len(r.attributes)-1)
		}
		if k <= last {
			return r.src.errorfAt(start, "found place %d after %d, wanted increasing places", k, last)
		}
		f, end, fault := scanARFF(line, i)
		if fault != "" {
			return r.src.errorfAt(i, "%s", fault)
		}
		if err := r.leftOut(last+1, k); err != nil {
			return err
		}
		if err := r.value(line, k, f); err != nil {
			return err
		}
		last, labelled = k, labelled || r.columns.role[k] == label
		if i = end; i >= len(line) {
			return r.src.errorfAt(len(line), "found the end of the line, wanted a closing }")
		}
		if line[i] == '}' {
			break
		}
		i++
	}
	if rest := bytes.TrimSpace(line[i+1:]); len(rest) > 0 {
		return r.src.errorfAt(i+1, "found %s after the closing }, wanted the end of the line (weights "+
			"of examples are not supported)", quote.Text(string(rest)))
	}
	if err := r.leftOut(last+1, len(r.attributes)); err != nil {
		return err
	}
	if r.columns.label >= 0 && !labelled {
		a := r.attributes[r.columns.label]
		if a.kind != "nominal" || len(a.nominal) == 0 {
			return r.src.errorfAt(0, "found no label, wanted a value of %s",
				r.columns.describe(r.columns.label))
		}
		if fault := r.labels.set([]byte(a.nominal[0])); fault != "" {
			return r.src.errorfAt(0, "%s", fault)
		}
	}
	return nil
}
