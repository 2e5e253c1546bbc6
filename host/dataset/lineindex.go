package dataset

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// lineIndex says where the records of a text file are: each rank has counted them in a part of the
// file, piece by piece, and all know the counts of all.
type lineIndex struct {
	lineScan
	file io.ReaderAt
	// where the first line with an example may begin, and in which line of the file that is
	from    int64
	line    int64
	size    int64
	piece   int64
	records []int64 // that begin in each piece
	ends    []int64 // line ends in each piece
	quotes  []int64 // in each piece
	hashes  int64   // records that begin with #, and so may be comments of a CSV
}

// lineScan finds in a text the lines that are records, as the readers do: others are blank or a
// comment.
type lineScan struct {
	tabs    bool // are blank, too
	comment byte // begins one; 0 for none
	quotes  bool // a line end between quotes ends no record

	within bool  // what comes next is not at a line's beginning, even behind blanks
	quoted bool  // it is between quotes
	cr     bool  // a carriage return was the last of these
	start  int64 // of the line
}

// over goes over the text b, which begins at byte at, and calls record with the beginning of each
// line that is a record, and its first byte that is no blank, as soon as that is known, until
// record returns false, and ended with the places of line ends.
func (s *lineScan) over(b []byte, at int64, record func(start int64, c byte) bool,
	ended func(at int64)) bool {
	for i := 0; i < len(b); {
		if s.within {
			if i += s.toEnd(b[i:]); i == len(b) {
				return true
			}
			if !s.quoted {
				s.within, s.cr, s.start = false, false, at+int64(i)+1
			}
			ended(at + int64(i))
			i++
			continue
		}
		switch c := b[i]; {
		case c == '\n':
			s.cr, s.start = false, at+int64(i)+1
			ended(at + int64(i))
		case !s.cr && (c == ' ' || c == '\t' && s.tabs):
		case !s.cr && c == '\r':
			s.cr = true
		case !s.cr && c == s.comment && c != 0:
			s.within = true
		default:
			s.within, s.quoted = true, s.quotes && c == '"'
			if !record(s.start, c) {
				return false
			}
		}
		i++
	}
	return true
}

// toEnd returns where the line ends that b goes on with, or its length if it does not.
func (s *lineScan) toEnd(b []byte) int {
	if !s.quotes {
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			return end
		}
		return len(b)
	}
	for i, c := range b {
		if c == '\n' {
			return i
		}
		if c == '"' {
			s.quoted = !s.quoted
		}
	}
	return len(b)
}

// newLineIndex counts the records of s's file from byte from on, in line line, together with the
// other ranks.
func newLineIndex(
	ctx context.Context, r ranks.Reducer, s *source, from, line int64, scan lineScan,
) (*lineIndex, error) {
	x := &lineIndex{lineScan: scan, file: s.readerAt(), from: from, line: line, size: s.size}
	const pieces, least = 1 << 20, 1 << 12
	x.piece = max(least, (x.size+pieces-1)/pieces)
	count := int((x.size + x.piece - 1) / x.piece)
	rank, all := r.Rank()
	first, last := int64(count*rank/all)*x.piece, min(x.size, int64(count*(rank+1)/all)*x.piece)
	sum := func() error {
		table := make([]int64, 3*count+1)
		quotes := x.quotes
		x.records, x.ends, x.quotes, x.hashes = table[:count], table[count:2*count],
			table[2*count:3*count], 0
		err := x.count(max(first, from), last, quotes)
		table[3*count] = x.hashes
		if err = ranks.Agree(ctx, r, err); err != nil {
			return err
		}
		err = r.Sum(ctx, table)
		x.hashes = table[3*count]
		return err
	}
	if err := sum(); err != nil {
		return nil, err
	}
	// Quotes matter to a CSV. What they enclose is known once all ranks have counted theirs.
	if x.hasQuotes() && scan.comment == 0 {
		x.lineScan.quotes = true
		if err := sum(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *lineIndex) hasQuotes() bool {
	return slices.ContainsFunc(x.quotes, func(n int64) bool { return n > 0 })
}

// at prepares the scan for the text from byte at on, the beginning of a piece or of the records;
// quotes are those in each piece.
func (x *lineIndex) at(at int64, quotes []int64) error {
	x.within, x.quoted, x.cr, x.start = false, false, false, at
	if at <= x.from {
		return nil
	}
	if x.lineScan.quotes {
		for _, n := range quotes[:at/x.piece] {
			x.quoted = x.quoted != (n%2 == 1)
		}
		if x.quoted {
			x.within = true
			return nil
		}
	}
	var before [1]byte
	if _, err := x.file.ReadAt(before[:], at-1); err != nil {
		return err
	}
	x.within = before[0] != '\n'
	return nil
}

// count counts what begins in bytes from..to-1; quotes are those in each piece, if they matter.
func (x *lineIndex) count(from, to int64, quotes []int64) error {
	if from >= to {
		return nil
	}
	if err := x.at(from, quotes); err != nil {
		return err
	}
	buffer := make([]byte, 1<<20)
	record := func(start int64, c byte) bool {
		if start < to {
			x.records[start/x.piece]++
			if c == '#' {
				x.hashes++
			}
		}
		return start < to
	}
	for at := from; at < x.size; {
		// Behind to only the line that began before it is of interest.
		most := int64(len(buffer))
		if at < to {
			most = min(most, to-at)
		} else if x.within || x.start >= to {
			break
		}
		n, err := x.file.ReadAt(buffer[:min(most, x.size-at)], at)
		if n == 0 && err != nil {
			return err
		}
		b := buffer[:n]
		if at < to {
			x.countQuotes(b, at)
		}
		if !x.over(b, at, record, func(end int64) {
			if end < to {
				x.ends[end/x.piece]++
			}
		}) {
			break
		}
		at += int64(n)
	}
	return nil
}

// countQuotes returns the number of quotes in b, which begins at byte at.
func (x *lineIndex) countQuotes(b []byte, at int64) {
	for len(b) > 0 {
		piece := at / x.piece
		n := min(int64(len(b)), (piece+1)*x.piece-at)
		x.quotes[piece] += int64(bytes.Count(b[:n], []byte{'"'}))
		b, at = b[n:], at+n
	}
}

// total returns how many records there are.
func (x *lineIndex) total() (n int64) {
	for _, r := range x.records {
		n += r
	}
	return n
}

// find returns where record k begins, counted from 0, and in which line; where the file ends for
// one behind the last.
func (x *lineIndex) find(k int64) (at, line int64, err error) {
	line = x.line
	p := 0
	for ; p < len(x.records) && k >= x.records[p]; p++ {
		k, line = k-x.records[p], line+x.ends[p]
	}
	if p == len(x.records) {
		return x.size, line, nil
	}
	begin := max(x.from, int64(p)*x.piece)
	if err := x.at(begin, x.quotes); err != nil {
		return 0, 0, err
	}
	at = -1
	r := bufio.NewReaderSize(io.NewSectionReader(x.file, begin, x.size-begin), 1<<16)
	var ends []int64 // that precede the record, or may
	for pos := begin; at < 0; {
		b, err := r.Peek(1 << 12)
		if len(b) == 0 {
			return 0, 0, err
		}
		x.over(b, pos, func(start int64, _ byte) bool {
			if k == 0 {
				at = start
			}
			k--
			return at < 0
		}, func(end int64) { ends = append(ends, end) })
		pos += int64(len(b))
		if _, err := r.Discard(len(b)); err != nil {
			return 0, 0, err
		}
	}
	for _, end := range ends {
		if end < at {
			line++
		}
	}
	return at, line, nil
}
