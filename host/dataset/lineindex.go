package dataset

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// lineIndex says where the records of a text file are, one to a line: each rank has counted them in a part of the
// file, piece by piece, and all know the counts of all.
type lineIndex struct {
	lineScan
	file    io.ReaderAt
	from    int64 // where the first line with an example may begin, and in which line of the file that is
	line    int64
	size    int64
	piece   int64
	records []int64 // that begin in each piece
	ends    []int64 // line ends in each piece
	marks   int64   // in all: quotes, and what may begin a comment of a CSV
}

// lineScan finds in a text the lines that are records, as the readers do: others are blank or a comment.
type lineScan struct {
	tabs    bool // are blank, too
	comment byte // begins one; 0 for none

	within bool  // what comes next is not at a line's beginning, even behind blanks
	cr     bool  // a carriage return was the last of these
	start  int64 // of the line
}

// over goes over the text b, which begins at byte at, and calls record with the beginning of each line that is a
// record as soon as that is known, until record returns false, and ended with the places of line ends.
func (s *lineScan) over(b []byte, at int64, record func(start int64) bool, ended func(at int64)) bool {
	for i := 0; i < len(b); {
		if s.within {
			end := bytes.IndexByte(b[i:], '\n')
			if end < 0 {
				return true
			}
			i += end
			s.within, s.cr, s.start = false, false, at+int64(i)+1
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
			s.within = true
			if !record(s.start) {
				return false
			}
		}
		i++
	}
	return true
}

// newLineIndex counts the records of s's file from byte from on, in line line, together with the other ranks.
func newLineIndex(
	ctx context.Context, r ranks.Reducer, s *source, from, line int64, scan lineScan,
) (*lineIndex, error) {
	x := &lineIndex{lineScan: scan, file: s.readerAt(), from: from, line: line, size: s.size}
	const pieces, least = 1 << 20, 1 << 12
	x.piece = max(least, (x.size+pieces-1)/pieces)
	count := int((x.size + x.piece - 1) / x.piece)
	table := make([]int64, 2*count+1)
	x.records, x.ends = table[:count], table[count:2*count]
	rank, all := r.Rank()
	first, last := int64(count*rank/all)*x.piece, min(x.size, int64(count*(rank+1)/all)*x.piece)
	var marks int64
	err := x.count(max(first, from), last, &marks)
	table[2*count] = marks
	if err = ranks.Agree(ctx, r, err); err != nil {
		return nil, err
	}
	if err := r.Sum(ctx, table); err != nil {
		return nil, err
	}
	x.marks = table[2*count]
	return x, nil
}

// at prepares the scan for the text from byte at on.
func (x *lineIndex) at(at int64) error {
	x.within, x.cr, x.start = false, false, at
	if at <= x.from {
		return nil
	}
	var before [1]byte
	if _, err := x.file.ReadAt(before[:], at-1); err != nil {
		return err
	}
	x.within = before[0] != '\n'
	return nil
}

// count counts what begins in bytes from..to-1.
func (x *lineIndex) count(from, to int64, marks *int64) error {
	if from >= to {
		return nil
	}
	if err := x.at(from); err != nil {
		return err
	}
	buffer := make([]byte, 1<<20)
	record := func(start int64) bool {
		if start < to {
			x.records[start/x.piece]++
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
			*marks += int64(bytes.Count(b, []byte{'"'}))
			if x.comment == 0 {
				*marks += int64(bytes.Count(b, []byte{'#'}))
			}
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

// total returns how many records there are.
func (x *lineIndex) total() (n int64) {
	for _, r := range x.records {
		n += r
	}
	return n
}

// find returns where record k begins, counted from 0, and in which line; where the file ends for one behind the last.
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
	if err := x.at(begin); err != nil {
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
		x.over(b, pos, func(start int64) bool {
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
