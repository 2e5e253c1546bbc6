package file

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"iter"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// record reads CSV records one by one (RFC 4180). Field i of the current one ends at ends[i] in
// text, with one byte behind it. Lines that begin with # are comments unless they have as many
// fields as others.
type record struct {
	src    *source
	layout layout
	delim  byte   // 0 before the first record; a blank: runs of blanks and tabs
	usual  int    // fields of a record; 0 before the first
	line   int    // where the current record begins
	begin  int    // where it begins in what src keeps
	raw    []byte // its first line, if that is not text: of fields between blanks
	joined []byte // the same with one blank between fields

	titles            int // lines above the header, by a table that is read leniently
	begun             bool
	comments, comment int // how many lines are comments, and which is the first
	text              []byte
	ends              []int32
	bad               error        // what is wrong with the current record; it was passed whole
	places            []quotePlace // where the fields began, of a record that had quotes; else nil
	plain             []byte       // the text of a record that had quotes
}

// layout is what is known of the fields of a table before it is read.
type layout struct {
	separator byte // as delim of record; 0 to find it out
	blanks    bool // it may be found out to be blanks
	comma     bool // numbers have decimal commas
	lenient   bool // titles above it, quotes within words, empty fields at the end
}

// quotePlace is a line and a column, both counted from 1, and whether a quote is there.
type quotePlace struct {
	line, column int
	quoted       bool
}

// field returns field i, counted from 0, valid until the next record.
func (r *record) field(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]+1 : r.ends[i]]
}

// next moves to the next record that is not blank; a fault of the record alone is in bad.
func (r *record) next() error {
	for {
		line, err := r.src.next()
		if err != nil {
			return err
		}
		if len(line) == 0 || (line[0] <= ' ' && len(bytes.Trim(line, r.blank())) == 0) {
			continue
		}
		if r.delim == 0 {
			line = r.detect(line)
		}
		if line[0] == '#' && r.isComment(line) {
			if r.comments++; r.comments == 1 {
				r.comment = r.src.line
			}
			continue
		}
		if !r.begun && r.layout.lenient && r.isTitle(line) {
			r.titles++
			continue
		}
		r.line, r.begun, r.begin = r.src.line, true, r.src.last
		if r.delim == ' ' {
			line = r.join(line)
		}
		r.ends, r.bad, r.places = r.ends[:0], nil, nil
		if bytes.IndexByte(line, '"') >= 0 {
			return r.unquote(line)
		}
		r.text = line
		return nil
	}
}

// split finds the fields of a record without quotes.
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

// unquote takes apart a record with quotes, which may span lines.
func (r *record) unquote(line []byte) error {
	text, i := r.plain[:0], 0
	for {
		r.places = append(r.places, quotePlace{r.src.line, i + 1, i < len(line) && line[i] == '"'})
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
				r.bad = r.src.errorfAt(i,
					"column %d: found %s after a closing quote, wanted %q or the end of the line",
					len(r.ends)+1, quote.Text(string(line[i:])), r.delim)
				return nil
			}
		} else {
			field, _, _ := bytes.Cut(line[i:], []byte{r.delim})
			if at := bytes.IndexByte(field, '"'); at >= 0 && !r.layout.lenient {
				r.bad = r.src.errorfAt(i+at,
					`column %d: found a " within %s, wanted the whole field in quotes and the " doubled`,
					len(r.ends)+1, quote.Text(string(field)))
				return nil
			}
			text = append(text, field...)
			i += len(field)
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

// blank returns what a line without a field is made of.
func (r *record) blank() string {
	if r.delim == ' ' {
		return " \t"
	}
	return " "
}

// isComment says whether a line that begins with # is one.
func (r *record) isComment(line []byte) bool {
	alone := len(line) == 1 || line[1] == ' ' || line[1] == '\t'
	return r.delim == ' ' && alone || r.usual > 0 && countFields(line, r.delim) != r.usual
}

// isTitle reports whether a line above the first record holds at most one text where others hold
// more.
func (r *record) isTitle(line []byte) bool {
	if r.usual < 3 || r.delim == ' ' {
		return false
	}
	texts, quoted, full := 0, false, false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == r.delim && !quoted:
			full = false
		case c != ' ' && !full:
			texts, full = texts+1, true
		}
	}
	return texts < 2
}

// fit splits the current record; a lenient reader drops empty fields beyond width.
func (r *record) fit(width int) {
	r.split()
	for r.layout.lenient && len(r.ends) > width &&
		len(bytes.Trim(r.field(len(r.ends)-1), " ")) == 0 {
		r.ends = r.ends[:len(r.ends)-1]
		r.text = r.text[:r.ends[len(r.ends)-1]]
	}
}

// whole splits the current record into fields. It returns an error unless it finds width fields,
// the number that line first has.
func (r *record) whole(width, first int) error {
	if r.bad != nil {
		return r.bad
	}
	if r.fit(width); len(r.ends) != width {
		return r.src.errorAt(r.line, r.column(width), "found %d fields, wanted %d as in line %d",
			len(r.ends), width, first)
	}
	return nil
}

// ahead returns a reader of the whole records in the next n bytes, which does not move r.
func (r *record) ahead(n int) *record {
	r.text, r.raw = bytes.Clone(r.text), bytes.Clone(r.raw) // peek moves what they lie in
	head := r.src.peek(n)
	end := bytes.LastIndexByte(head, cmp.Or(r.src.end, '\n'))
	if end >= 0 && len(head) >= min(n, r.src.limits.buffer) {
		head = head[:end+1] // the last line may go on
	}
	s := &source{ctx: r.src.ctx, limits: r.src.limits, end: r.src.end,
		r: bufio.NewReader(bytes.NewReader(head))}
	return &record{src: s, layout: r.layout, delim: r.delim, usual: r.usual, begun: true}
}

// blankFields yields where the fields of a line between blanks begin and end; quotes hold blanks.
func blankFields(line []byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		quoted, from := false, -1
		for i, c := range line {
			if c == '"' {
				quoted = !quoted
			}
			switch blank := !quoted && isSpace(c); {
			case from < 0 && !blank:
				from = i
			case from >= 0 && blank:
				if !yield(from, i) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(from, len(line))
		}
	}
}

// join returns a line whose fields are between blanks with one blank between them.
func (r *record) join(line []byte) []byte {
	r.raw, r.joined = line, r.joined[:0]
	for from, to := range blankFields(line) {
		if len(r.joined) > 0 {
			r.joined = append(r.joined, ' ')
		}
		r.joined = append(r.joined, line[from:to]...)
	}
	return r.joined
}

// rawColumn returns where field j between blanks begins in the first line, from 1.
func (r *record) rawColumn(j int) int {
	for from := range blankFields(r.raw) {
		if j == 0 {
			return from + 1
		}
		j--
	}
	return len(r.raw) + 1
}

// fields returns the trimmed texts of the current record.
func (r *record) fields() []string {
	texts := make([]string, len(r.ends))
	for j := range texts {
		texts[j] = string(decimal.Trim(r.field(j)))
	}
	return texts
}

// place returns the line and column, from 1, where field j begins, or where its end is missing.
func (r *record) place(j int) (line, column int) {
	if r.delim == ' ' && (r.places == nil || r.places[len(r.places)-1].line == r.line) {
		return r.line, r.rawColumn(j)
	}
	if r.places != nil {
		p := r.places[min(j, len(r.places)-1)]
		return p.line, p.column
	}
	if j == 0 {
		return r.line, 1
	}
	if j >= len(r.ends) {
		return r.line, len(r.text) + 1
	}
	return r.line, int(r.ends[j-1]) + 2
}

// column is the column of place.
func (r *record) column(j int) int {
	_, column := r.place(j)
	return column
}
