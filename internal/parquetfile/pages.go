package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	parquetformat "github.com/parquet-go/parquet-go/format"
)

// pages reads the pages of plain columns: no lists, nothing nested. Every size and
// count that a page claims is compared with what is there, so that a damaged page
// is an error, whatever it holds.
// Format: https://parquet.apache.org/docs/file-format/data-pages/
type pages struct {
	r      io.ReaderAt
	size   int64
	starts []int64 // where columns begin, sorted
	limits limits

	// Used again: a page as it lies in the file, the same unpacked, what unpacks.
	packed, plain []byte
	unpackers     map[parquetformat.CompressionCodec]unpackReader
}

// pageHead is the head of a page: its numbers by struct and field.
type pageHead struct {
	numbers [9][9]int64
	has     [9][9]bool
	twice   bool // a field stands there twice
}

// The structs of a head.
const (
	inPage       = 0
	inData       = 5
	inDictionary = 7
	inData2      = 8
)

// pageNeeds are the fields that a page of each type must have, by struct.
var pageNeeds = map[int64]struct{ in, fields int }{
	int64(parquetformat.DataPage):       {inData, 4},
	int64(parquetformat.DictionaryPage): {inDictionary, 2},
	int64(parquetformat.DataPageV2):     {inData2, 6},
}

// readHead reads the head of the page at a place, and returns its length.
func (p *pages) readHead(at int64) (h *pageHead, length int64, err error) {
	// Most heads are short; statistics in them may be long.
	for _, most := range []int64{1 << 10, 1 << 16} {
		part := make([]byte, min(most, p.size-at))
		if _, err := p.r.ReadAt(part, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
		h = &pageHead{}
		w := thriftWalker{rest: part, number: func(in, field int16, v int64) {
			if in >= 0 && int(in) < len(h.has) && field > 0 && int(field) < len(h.has) {
				h.twice = h.twice || h.has[in][field]
				h.numbers[in][field], h.has[in][field] = v, true
			}
		}}
		if err = w.object(0, 0); err == nil {
			return h, int64(len(part) - len(w.rest)), h.check()
		}
	}
	return nil, 0, fmt.Errorf("its head claims %w", err)
}

func (h *pageHead) check() error {
	need := pageNeeds[h.numbers[inPage][1]]
	for field := 1; field <= 3; field++ {
		if !h.has[inPage][field] {
			return errPageHead
		}
	}
	for field := 1; field <= need.fields; field++ {
		if !h.has[need.in][field] {
			return errPageHead
		}
	}
	for in := range h.numbers {
		for field, v := range h.numbers[in] {
			if (v < 0 || v > math.MaxInt32) && !(in == inPage && field == 4) { // a check sum has any sign
				return errPageHead
			}
		}
	}
	if h.twice {
		return errPageHead
	}
	return nil
}

var errPageHead = errors.New("found a head that no page has")

// taker takes value i: its bytes, valid until the next call, or nil for none (null).
type taker func(i int, raw []byte)

// column calls take for values from..to-1 of the n of a column, of which it counts the first as 0; pages with others
// alone are not read. Its errors begin with the page.
func (p *pages) column(
	c *parquetformat.ColumnMetaData, t numberType, optional bool, n, from, to int, take taker,
) error {
	start := chunkStart(c)
	at, end := start, p.size
	// Some writers give the size of a column wrong, but it ends where the next begins.
	if k, _ := slices.BinarySearch(p.starts, at+1); k < len(p.starts) {
		end = min(end, p.starts[k])
	}
	v := &pageValues{t: t}
	for seen, number := 0, 1; seen < n; number++ {
		if at < 0 || at >= end {
			return fmt.Errorf("page %d at byte %d: found the end of the column and %d values, wanted %d; the "+
				"file is corrupt, fetch it again", number, at, seen, n)
		}
		count, next, err := p.page(at, end, c, v, optional, n-seen, from-seen, to-seen, func(i int, raw []byte) {
			if i += seen; from <= i && i < to {
				take(i-from, raw)
			}
		})
		if codec, ok := errors.AsType[unknownCodec](err); ok {
			return fmt.Errorf("page %d at byte %d: %w", number, at, codec)
		}
		if err != nil {
			return fmt.Errorf("page %d at byte %d: %w; the file is corrupt, fetch it again", number, at, err)
		}
		seen, at = seen+count, next
	}
	// A damaged head may be longer or shorter than it was, so that the values are
	// taken from where they are not. The first writers left the dictionary's head out.
	if size := at - start; size != c.TotalCompressedSize && size != c.TotalCompressedSize+v.head {
		return fmt.Errorf("found pages of %d bytes in all, wanted %d as the footer says; the file is corrupt, "+
			"fetch it again", size, c.TotalCompressedSize)
	}
	return nil
}

// chunkStart returns where the pages of a column of a row group begin.
func chunkStart(c *parquetformat.ColumnMetaData) int64 {
	if c.DictionaryPageOffset > 0 && c.DictionaryPageOffset < c.DataPageOffset {
		return c.DictionaryPageOffset
	}
	return c.DataPageOffset
}

// chunkStarts returns where all columns of a file begin, sorted.
func chunkStarts(m *parquetformat.FileMetaData) (starts []int64) {
	for _, g := range m.RowGroups {
		for k := range g.Columns {
			starts = append(starts, chunkStart(&g.Columns[k].MetaData))
		}
	}
	slices.Sort(starts)
	return starts
}

// page reads the page at a place, of a column that ends at another and has left
// values more, if one of its values from..to-1 is there, and returns how many it has, and where the next page is.
func (p *pages) page(
	at, end int64, c *parquetformat.ColumnMetaData, v *pageValues, optional bool, left, from, to int, take taker,
) (count int, next int64, err error) {
	h, length, err := p.readHead(at)
	if err != nil {
		return 0, 0, err
	}
	kind, unpacked, packed := parquetformat.PageType(h.numbers[inPage][1]), h.numbers[inPage][2], h.numbers[inPage][3]
	at += length
	if packed > end-at || unpacked > max(p.limits.page, 1024*packed) {
		return 0, 0, fmt.Errorf("it claims %d bytes, %d unpacked, where the column has %d", packed, unpacked, end-at)
	}
	next = at + packed
	switch kind {
	case parquetformat.DataPage:
		count, v.encoding = int(h.numbers[inData][1]), parquetformat.Encoding(h.numbers[inData][2])
	case parquetformat.DataPageV2:
		count, v.encoding = int(h.numbers[inData2][1]), parquetformat.Encoding(h.numbers[inData2][4])
	}
	if count > left {
		return 0, 0, fmt.Errorf("it claims %d values, wanted at most %d, the rest of the row group", count, left)
	}
	if kind != parquetformat.DictionaryPage && (from > 0 && count <= from || to <= 0) {
		return count, next, nil
	}
	p.packed = slices.Grow(p.packed[:0], int(packed))[:packed]
	if _, err := p.r.ReadAt(p.packed, at); err != nil && err != io.EOF {
		return 0, 0, err
	}
	// Writers that compute none may say 0.
	if sum := uint32(h.numbers[inPage][4]); sum != 0 && sum != crc32.ChecksumIEEE(p.packed) {
		return 0, 0, fmt.Errorf("found another check sum than the %#x of its head", sum)
	}
	var body []byte
	switch kind {
	case parquetformat.DictionaryPage:
		if body, err = p.unpack(c.Codec, p.packed, int(unpacked)); err != nil {
			return 0, 0, err
		}
		v.head = length
		return 0, next, v.setDictionary(body, h.numbers[inDictionary])
	case parquetformat.DataPage:
		if body, err = p.unpack(c.Codec, p.packed, int(unpacked)); err == nil && optional {
			body, err = v.setLevels(body, count, parquetformat.Encoding(h.numbers[inData][3]))
		}
	case parquetformat.DataPageV2:
		body, err = p.data2(h, c.Codec, v, optional, int(unpacked))
	default:
		return 0, 0, fmt.Errorf("found a page of type %s, wanted data or a dictionary", kind)
	}
	switch {
	case err != nil:
		return 0, 0, err
	case (v.encoding == parquetformat.Plain || v.encoding == parquetformat.ByteStreamSplit) &&
		!slices.Contains(c.Encoding, v.encoding):
		// These two take the same bytes: only the footer can tell a damaged head.
		return 0, 0, fmt.Errorf("found the encoding %s, wanted one of those that the footer names, %v",
			v.encoding, c.Encoding)
	}
	return count, next, v.each(body, count, take)
}

// data2 takes a data page of version 2 apart: its levels are never packed.
func (p *pages) data2(
	h *pageHead, codec parquetformat.CompressionCodec, v *pageValues, optional bool, unpacked int,
) ([]byte, error) {
	numbers := &h.numbers[inData2]
	count, nulls, defined, repeated := numbers[1], numbers[2], numbers[5], numbers[6]
	levels := int(defined + repeated)
	if levels > len(p.packed) || levels > unpacked {
		return nil, fmt.Errorf("it claims %d bytes of levels, of %d in all", levels, len(p.packed))
	}
	if optional {
		if err := v.unpackLevels(p.packed[repeated:levels], int(count)); err != nil {
			return nil, err
		}
		if got := int64(v.nulls()); got != nulls {
			return nil, fmt.Errorf("found %d missing values, wanted %d as its head says", got, nulls)
		}
	} else if nulls != 0 {
		return nil, fmt.Errorf("it claims %d missing values of a column that has none", nulls)
	}
	if h.has[inData2][7] && h.numbers[inData2][7] == 0 {
		codec = parquetformat.Uncompressed
	}
	return p.unpack(codec, p.packed[levels:], unpacked-levels)
}

// pageValues gives the values of a page.
type pageValues struct {
	t        numberType
	encoding parquetformat.Encoding
	levels   []bool   // whether each value is there; empty if all are
	known    bool     // there was a dictionary
	head     int64    // bytes of the head of the dictionary
	numbers  []byte   // of the dictionary, one after another
	texts    [][]byte // of the dictionary
}

func (v *pageValues) nulls() int {
	nulls := 0
	for _, there := range v.levels {
		if !there {
			nulls++
		}
	}
	return nulls
}

// setLevels reads the levels before the values of a page of version 1, and returns
// the values.
func (v *pageValues) setLevels(body []byte, count int, encoding parquetformat.Encoding) ([]byte, error) {
	switch encoding {
	case parquetformat.RLE:
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return nil, errPageShort
		}
		end := 4 + int(binary.LittleEndian.Uint32(body))
		return body[end:], v.unpackLevels(body[4:end], count)
	case parquetformat.BitPacked: // of old files, the highest bit first
		size := (count + 7) / 8
		if size > len(body) {
			return nil, errPageShort
		}
		v.levels = v.levels[:0]
		for i := range count {
			v.levels = append(v.levels, body[i/8]>>(7-i%8)&1 == 1)
		}
		return body[size:], nil
	}
	return nil, fmt.Errorf("found levels in the encoding %s, wanted RLE or BIT_PACKED", encoding)
}

func (v *pageValues) unpackLevels(body []byte, count int) error {
	v.levels = v.levels[:0]
	return eachHybrid(body, 1, count, func(level uint32) error {
		v.levels = append(v.levels, level == 1)
		return nil
	})
}

// setDictionary keeps the values of a dictionary's page.
func (v *pageValues) setDictionary(body []byte, numbers [9]int64) error {
	encoding := parquetformat.Encoding(numbers[2])
	if v.t.Kind == 'b' || (encoding != parquetformat.Plain && encoding != plainDictionary) {
		return fmt.Errorf("found a dictionary of type %s in the encoding %s, wanted PLAIN and no truths", v.t, encoding)
	}
	v.numbers, v.texts, v.known = slices.Clone(body), nil, true
	return eachPlain(v.numbers, v.t, int(numbers[1]), func(raw []byte) {
		if v.t.Kind == 'S' {
			v.texts = append(v.texts, raw)
		}
	})
}

// each calls take for each of the count values of a page: raw is nil where there is
// none.
func (v *pageValues) each(body []byte, count int, take taker) error {
	i := 0
	skip := func() {
		for ; i < len(v.levels) && !v.levels[i]; i++ {
			take(i, nil)
		}
	}
	err := v.decode(body, count-v.nulls(), func(raw []byte) {
		skip()
		take(i, raw)
		i++
	})
	skip()
	return err
}
