package dataset

import (
	"bytes"
	"io"
)

// record reads CSV records one by one (RFC 4180). The fields of the current one
// lie in text, each followed by one byte that does not belong to it; field i
// ends at ends[i], once split was called. Positions instead of slices keep a line of nothing but
// commas from costing 24 bytes a comma.
type record struct {
	src    *source
	delim  byte // 0 before the first record
	line   int  // where the current record begins
	text   []byte
	ends   []int32
	bad    error        // what is wrong with the current record; it was passed whole
	places []quotePlace // where the fields began, of a record that had quotes; else nil
	plain  []byte       // the text of a record that had quotes
}

// quotePlace is a line and a column, both counted from 1.
type quotePlace struct{ line, column int }

// field returns field i, counted from 0, valid until the next record.
func (r *record) field(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]+1 : r.ends[i]]
}

// next moves to the next record that is not blank; io.EOF after the last. What
// is wrong with one record alone is no error but in bad.
func (r *record) next() error {
	for {
		line, err := r.src.next()
		if err != nil {
			return err
		}
		if len(line) == 0 || (line[0] == ' ' && len(bytes.Trim(line, " ")) == 0) {
			continue
		}
		r.line = r.src.line
		if r.delim == 0 {
			r.delim = detectDelimiter(line, extension(r.src.path) == ".tsv")
		}
		r.ends, r.bad, r.places = r.ends[:0], nil, nil
		if bytes.IndexByte(line, '"') >= 0 {
			return r.unquote(line)
		}
		r.text = line
		return nil
	}
}

// split finds the fields of a record that next left whole, as it does where
// there are no quotes: most of them are read without it.
func (r *record) split() {
	if len(r.ends) > 0 {
		return
	}
	ends, delim := r.ends, r.delim
	for i, c := range r.text {
		if c == delim {
			ends = append(ends, int32(i))
		}
	}
	r.ends = append(ends, int32(len(r.text)))
}

// unquote takes apart a record with quoted fields, which may go on over further
// lines; a line end inside of quotes becomes LF.
func (r *record) unquote(line []byte) error {
	text, i := r.plain[:0], 0
	for {
		r.places = append(r.places, quotePlace{r.src.line, i + 1})
		if i < len(line) && line[i] == '"' {
			i++
			for closed := false; !closed; {
				end := bytes.IndexByte(line[i:], '"')
				if end < 0 {
					text = append(append(text, line[i:]...), '\n')
					var err error
					line, err = r.src.next()
					if err == io.EOF || (err == nil && len(text)+len(line) > r.src.limits.line) {
						p := r.places[len(r.places)-1]
						return r.src.errorAt(p.line, p.column,
							`column %d: found an opening " without a closing one, wanted both`, len(r.ends)+1)
					}
					if err != nil {
						return err
					}
					i = 0
					continue
				}
				text = append(text, line[i:i+end]...)
				i += end + 1
				if closed = i == len(line) || line[i] != '"'; !closed {
					text = append(text, '"')
					i++
				}
			}
			if i < len(line) && line[i] != r.delim {
				r.bad = r.src.errorfAt(i, "column %d: found %s after a closing quote, wanted %q or the end of the line",
					len(r.ends)+1, quote(string(line[i:])), r.delim)
				return nil
			}
		} else {
			end := bytes.IndexByte(line[i:], r.delim)
			if end < 0 {
				end = len(line) - i
			}
			field := line[i : i+end]
			if at := bytes.IndexByte(field, '"'); at >= 0 {
				r.bad = r.src.errorfAt(i+at, `column %d: found a " within %s, wanted the whole field in quotes and the " doubled`,
					len(r.ends)+1, quote(string(field)))
				return nil
			}
			text = append(text, field...)
			i += end
		}
		r.ends = append(r.ends, int32(len(text)))
		text = append(text, r.delim)
		if i >= len(line) {
			break
		}
		i++
	}
	r.plain, r.text = text, text
	return nil
}

// detectDelimiter returns the comma if the first line has one outside of
// quotes, else the tab or the semicolon, whichever it has, else the comma. In a
// .tsv file the tab comes first.
func detectDelimiter(line []byte, tsv bool) byte {
	var seen [256]bool
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			seen[c] = true
		}
	}
	order := []byte{',', '\t', ';'}
	if tsv {
		order = []byte{'\t', ',', ';'}
	}
	for _, c := range order {
		if seen[c] {
			return c
		}
	}
	return ','
}
