package file

import (
	"bytes"
	"cmp"
	"strings"
)

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

// extension returns the last dotted part of a name in lower case, a .gz or .zst
// aside.
func extension(path string) string {
	name := strings.ToLower(path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if dot := strings.LastIndexAny(name, "./\\"); dot >= 0 && name[dot] == '.' {
		return name[dot:]
	}
	return ""
}

// looksIndexed reports whether a field begins like LIBSVM's index:value or
// qid:number.
func looksIndexed(field []byte) bool {
	index, _, found := bytes.Cut(field, []byte(":"))
	if !found || len(index) == 0 || bytes.ContainsAny(field, ",;\"") {
		return false
	}
	return len(bytes.Trim(index, "0123456789")) == 0 || string(index) == "qid"
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }
