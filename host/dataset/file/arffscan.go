package file

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset/internal/encode"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// parseAttribute reads what follows @attribute: a name and a type.
func parseAttribute(text string) (a attribute, fault string) {
	rest := text
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		f, end, bad := scanARFF([]byte(text), 0)
		if bad != "" {
			return a, bad
		}
		a.name, rest = string(f.text([]byte(text))), text[end:]
	} else if end := strings.IndexAny(text, " \t{"); end > 0 {
		a.name, rest = text[:end], text[end:]
	}
	rest = strings.TrimSpace(rest)
	kind, _, _ := strings.Cut(rest, " ")
	kind, _, _ = strings.Cut(strings.ToLower(kind), "[") // KEEL adds a range
	switch {
	case a.name == "":
		return a, fmt.Sprintf("found the attribute %s, wanted a name and a type", quote.Text(text))
	case strings.HasPrefix(rest, "{"):
		return parseNominal(a, rest)
	case kind == "numeric" || kind == "real" || kind == "integer":
		a.kind = "numeric"
	case kind == "string" || kind == "date" || kind == "relational":
		a.kind = kind
	default:
		return a, fmt.Sprintf("found the type %s of attribute %s, wanted numeric, real, integer, {…}, "+
			"string or date", quote.Text(rest), quote.Text(a.name))
	}
	return a, ""
}

// parseNominal reads the values of a nominal attribute, {a, b, …}.
func parseNominal(a attribute, rest string) (attribute, string) {
	a.kind = "nominal"
	text := []byte(rest)
	for i := 1; ; {
		f, end, fault := scanARFF(text, i)
		if fault != "" {
			return a, fault
		}
		if value := string(f.text(text)); value != "" {
			a.nominal = append(a.nominal, value)
		}
		if end >= len(text) {
			return a, fmt.Sprintf("found %s, wanted a closing }", quote.Text(rest))
		}
		if text[end] == '}' {
			return a, ""
		}
		i = end + 1
	}
}

// isTruth reports whether all values of a nominal attribute are words for true and false.
func (a *attribute) isTruth() bool {
	for _, value := range a.nominal {
		if _, ok := encode.ParseTruth([]byte(value)); !ok {
			return false
		}
	}
	return len(a.nominal) > 0
}

// arffField is a piece of a line.
type arffField struct {
	from, to int
	quoted   bool
}

// text returns what the field says.
func (f arffField) text(line []byte) []byte {
	text := line[f.from:f.to]
	if !f.quoted || bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var plain []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		plain = append(plain, text[i])
	}
	return plain
}

// scanARFF reads the field at or behind i and returns its end.
func scanARFF(line []byte, i int) (f arffField, end int, fault string) {
	i = skipSpace(line, i)
	if i < len(line) && (line[i] == '\'' || line[i] == '"') {
		mark := line[i]
		f = arffField{from: i + 1, quoted: true}
		for i++; i < len(line) && line[i] != mark; i++ {
			if line[i] == '\\' {
				i++
			}
		}
		if i >= len(line) {
			return f, 0, fmt.Sprintf("found an opening %c without a closing one, wanted both", mark)
		}
		f.to = i
		return f, skipSpace(line, i+1), ""
	}
	f.from = i
	for i < len(line) && line[i] != ',' && line[i] != '}' {
		i++
	}
	f.to = i
	for f.to > f.from && isSpace(line[f.to-1]) {
		f.to--
	}
	return f, i, ""
}
