package file

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// looksLikeHeader is the rule of Options.Header for "auto".
func (r *csvReader) looksLikeHeader(fields []string) bool {
	other, named := r.notFeatures(fields) // not a feature, or perhaps not
	if named || r.namesWanted(fields) {
		return true
	}
	words, numbers := false, false
	var features []string
	for j, text := range fields {
		if other[j] {
			continue
		}
		features = append(features, text)
		number, comma := r.pointed([]byte(text))
		switch _, ok := decimal.Parse(number); {
		case ok || comma != "" || decimal.IsNonFinite(text) || strings.EqualFold(text, "true") ||
			strings.EqualFold(text, "false"):
			numbers = true
		case text != "" && !(len(features) == 1 && isIndexName(text)):
			words = true
		}
	}
	if !numbers {
		return words || slices.ContainsFunc(features, isIndexName)
	}
	return !words && r.numbersColumns(fields, features)
}

// notFeatures says which fields of the first record belong to no feature, or perhaps
// not. named reports that one of them was asked for by its name, so that the record is a
// header.
func (r *csvReader) notFeatures(fields []string) (other []bool, named bool) {
	asked := r.o.Ignore
	if r.o.LabelColumn != "" && r.o.given == nil {
		asked = append(asked[:len(asked):len(asked)], r.o.LabelColumn)
	} else if !r.o.NoLabels && r.o.given == nil {
		asked = append(asked[:len(asked):len(asked)], "last")
	}
	if o := r.o.IDColumn; o != "" {
		asked = append(asked[:len(asked):len(asked)], o)
	}
	other = make([]bool, len(fields))
	for _, text := range asked {
		text = strings.TrimSpace(text)
		if position := columnPosition(text, len(fields)); position >= 0 {
			other[position] = true
		}
		if text == "first" || text == "last" {
			continue
		}
		if at, _ := findName(fields, text); at >= 0 {
			if !decimal.IsInteger(text) {
				return other, true
			}
			other[at] = true
		}
	}
	return other, false
}

// namesWanted reports whether the first record holds all names that Options.FeatureNames
// asks for, and could hardly do so by accident: one of them is a word, or they are many.
func (r *csvReader) namesWanted(fields []string) bool {
	if r.o.FeatureNames == nil {
		return false
	}
	there, words := dataset.NameSet(fields), false
	for _, name := range r.o.FeatureNames {
		if !there[name] {
			return false
		}
		_, number := decimal.Parse([]byte(name))
		words = words || !number && name != ""
	}
	return words || len(r.o.FeatureNames) >= manyNumbers
}

// manyNumbers is how many numbers in the order of counting are no accident.
const manyNumbers = 3

// numbersColumns reports whether the first record, whose features are numbers, is
// certain to be the header of a table without names: pandas numbers the columns from 0,
// R from 1. Then they count without a gap, behind an empty field if there is an index,
// and the label is a word that no example would have: the usual name of a label, or
// a word where the next record has a whole number. An empty field before three numbers
// and more is enough. Counting alone is not; Read then warns.
func (r *csvReader) numbersColumns(fields, features []string) bool {
	index := features[0] == "" || isIndexName(features[0])
	if index {
		features = features[1:]
	}
	base := 0
	if len(features) > 0 && features[0] == "1" {
		base = 1
	}
	for k, text := range features {
		if text != strconv.Itoa(base+k) {
			return false
		}
	}
	word, at := false, r.labelField(fields)
	if at >= 0 {
		_, number := decimal.Parse([]byte(fields[at]))
		word = !number && fields[at] != ""
	}
	if index && len(features) >= manyNumbers || word && (isLabelName(fields[at]) ||
		decimal.IsInteger(r.nextField(at))) {
		r.o.remarks.note("line %d (%s) is taken as the header; if it is an example, say so (--header no)",
			r.line, quote.Printable(strings.Join(fields, ",")))
		return true
	}
	if base == 0 && (word || len(features) >= manyNumbers) && r.o.remarks != nil {
		r.o.remarks.maybeHeader = r.line
	}
	return false
}

// labelField returns which field of the first record the label is, or would be were the
// record an example; -1 if there are no labels.
func (r *csvReader) labelField(fields []string) int {
	if r.o.NoLabels || r.o.given != nil {
		return -1
	}
	if column := strings.TrimSpace(r.o.LabelColumn); column != "" {
		return columnPosition(column, len(fields))
	}
	return len(fields) - 1
}

// isLabelName reports whether a word is what people call the column of the label.
func isLabelName(word string) bool {
	switch strings.ToLower(word) {
	case "label", "labels", "class", "target", "species", "category", "outcome":
		return true
	}
	return false
}

// nextField returns a field of the record behind the current one, "" if that is not
// whole in what was read ahead.
func (r *csvReader) nextField(j int) string {
	r.keep()
	head := r.record.src.peek(1 << 16)
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end+1]
	}
	next := record{src: &source{limits: r.record.src.limits,
		r: bufio.NewReader(bytes.NewReader(head))},
		layout: r.record.layout, delim: r.delim, usual: r.usual}
	if next.next() != nil || next.bad != nil {
		return ""
	}
	next.split()
	if j >= len(next.ends) {
		return ""
	}
	return string(decimal.Trim(next.field(j)))
}
