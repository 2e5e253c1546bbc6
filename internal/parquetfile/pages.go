package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/columnar"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// pages reads the pages of plain columns. It compares every size and count that a page claims with
// the bytes of the file, so that a damaged page is an error.
// Format: https://parquet.apache.org/docs/file-format/data-pages/
type pages struct {
	r      io.ReaderAt
	size   int64
	starts []int64 // where columns begin, sorted
	limits columnar.Limits

	// Buffers: a page as it lies in the file, and unpacked; and what unpacks.
	packed, plain []byte
	unpackers     map[format.CompressionCodec]unpackReader
}

// pageHead is the head of a page.
type pageHead struct {
	kind             format.PageType
	size             int64 // of the head
	packed, unpacked int64
	sum              uint32 // 0 for none
	count            int    // values, missing ones included
	encoding         format.Encoding
	levelEncoding    format.Encoding // version 1
	nulls            int             // version 2, as the next ones
	repeated, levels int             // bytes of repetition levels, of all levels
	plain            bool            // the values are not packed
}

var errPageHead = errors.New("found a head that no page has")

// readHead reads the head of the page at a place.
func (p *pages) readHead(at int64) (h pageHead, err error) {
	// Most heads are short; statistics in them may be long.
	for _, most := range []int64{1 << 10, 1 << 16} {
		part := make([]byte, min(most, p.size-at))
		if _, err := p.r.ReadAt(part, at); err != nil && err != io.EOF {
			return h, err
		}
		size, err := structSize(part)
		if err == nil {
			return parseHead(part[:size])
		}
	}
	return h, fmt.Errorf("its head claims %w", errThrift)
}

func parseHead(b []byte) (h pageHead, err error) {
	var head format.PageHeader
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b, &head); err != nil {
		return h, errPageHead
	}
	h = pageHead{kind: head.Type, size: int64(len(b)), packed: int64(head.CompressedPageSize),
		unpacked: int64(head.UncompressedPageSize), sum: uint32(head.CRC)}
	known := true
	switch v1, v2, dictionary := head.DataPageHeader, head.DataPageHeaderV2,
		head.DictionaryPageHeader; h.kind {
	case format.DataPage:
		known = v1.Valid
		h.count, h.encoding, h.levelEncoding = int(v1.V.NumValues), v1.V.Encoding,
			v1.V.DefinitionLevelEncoding
	case format.DataPageV2:
		known = v2.Valid && min(v2.V.DefinitionLevelsByteLength, v2.V.NumNulls) >= 0
		h.count, h.encoding, h.nulls = int(v2.V.NumValues), v2.V.Encoding, int(v2.V.NumNulls)
		h.repeated = int(v2.V.RepetitionLevelsByteLength)
		h.levels = h.repeated + int(v2.V.DefinitionLevelsByteLength)
		h.plain = v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V
	case format.DictionaryPage:
		known = dictionary.Valid
		h.count, h.encoding = int(dictionary.V.NumValues), dictionary.V.Encoding
	}
	if !known || min(h.packed, h.unpacked) < 0 || min(h.count, h.repeated) < 0 {
		return h, errPageHead
	}
	return h, nil
}

// taker takes value i: its bytes, valid until the next call, or nil for a missing one.
type taker func(i int, raw []byte)

// column is a column of a row group of n examples.
type column struct {
	*format.ColumnMetaData
	number   npyfile.Type
	optional bool
	n        int
}

// column calls take for every value of a column. Its errors begin with the page.
func (p *pages) column(c column, take taker) error {
	start := chunkStart(c.ColumnMetaData)
	at, end := start, p.size
	// Some writers give the size of a column wrong, but it ends where the next begins.
	if k, _ := slices.BinarySearch(p.starts, at+1); k < len(p.starts) {
		end = min(end, p.starts[k])
	}
	v := &pageValues{t: c.number}
	for seen, number := 0, 1; seen < c.n; number++ {
		if at < 0 || at >= end {
			return fmt.Errorf("page %d at byte %d: found the end of the column and %d values, wanted %d; "+
				"the file is corrupt, fetch it again", number, at, seen, c.n)
		}
		count, next, err := p.page(at, end, c, v, c.n-seen, func(i int, raw []byte) {
			take(seen+i, raw)
		})
		if codec, ok := errors.AsType[unknownCodec](err); ok {
			return fmt.Errorf("page %d at byte %d: %w", number, at, codec)
		}
		if err != nil {
			return fmt.Errorf("page %d at byte %d: %w; the file is corrupt, fetch it again", number, at, err)
		}
		seen, at = seen+count, next
	}
	// A damaged head may move the values. Old writers left the dictionary's head out of the size.
	if size := at - start; size != c.TotalCompressedSize && size != c.TotalCompressedSize+v.head {
		return fmt.Errorf("found pages of %d bytes in all, wanted %d as the footer says; the file is "+
			"corrupt, fetch it again", size, c.TotalCompressedSize)
	}
	return nil
}

// chunkStart returns where the pages of a column of a row group begin.
func chunkStart(c *format.ColumnMetaData) int64 {
	if c.DictionaryPageOffset > 0 && c.DictionaryPageOffset < c.DataPageOffset {
		return c.DictionaryPageOffset
	}
	return c.DataPageOffset
}

// chunkStarts returns where all columns of a file begin, sorted.
func chunkStarts(m *format.FileMetaData) (starts []int64) {
	for _, g := range m.RowGroups {
		for k := range g.Columns {
			starts = append(starts, chunkStart(&g.Columns[k].MetaData))
		}
	}
	slices.Sort(starts)
	return starts
}

// page reads the page at a place and returns how many values it has, at most left, and the next
// place.
func (p *pages) page(at, end int64, c column, v *pageValues, left int, take taker) (
	count int, next int64, err error) {
	h, err := p.readHead(at)
	if err != nil {
		return 0, 0, err
	}
	at += h.size
	if next = at + h.packed; next > end || h.unpacked > max(p.limits.Page, 1024*h.packed) {
		return 0, 0, fmt.Errorf("it claims %d bytes, %d unpacked, where the column has %d", h.packed,
			h.unpacked, end-at)
	}
	isData := h.kind == format.DataPage || h.kind == format.DataPageV2
	switch {
	case !isData && h.kind != format.DictionaryPage:
		return 0, 0, fmt.Errorf("found a page of type %s, wanted data or a dictionary", h.kind)
	case isData && h.count > left:
		return 0, 0, fmt.Errorf("it claims %d values, wanted at most %d, the rest of the row group",
			h.count, left)
	}
	p.packed = slices.Grow(p.packed[:0], int(h.packed))[:h.packed]
	if _, err := p.r.ReadAt(p.packed, at); err != nil && err != io.EOF {
		return 0, 0, err
	}
	if h.sum != 0 && h.sum != crc32.ChecksumIEEE(p.packed) { // writers that compute none may say 0
		return 0, 0, fmt.Errorf("found another check sum than the %#x of its head", h.sum)
	}
	if !isData {
		body, err := p.unpack(c.Codec, p.packed, int(h.unpacked))
		if err != nil {
			return 0, 0, err
		}
		v.head = h.size
		return 0, next, v.setDictionary(body, h)
	}
	var body []byte
	if v.encoding = h.encoding; h.kind == format.DataPageV2 {
		body, err = p.data2(h, c, v)
	} else if body, err = p.unpack(c.Codec, p.packed, int(h.unpacked)); err == nil && c.optional {
		body, err = v.setLevels(body, h.count, h.levelEncoding)
	}
	switch {
	case err != nil:
		return 0, 0, err
	case (v.encoding == format.Plain || v.encoding == format.ByteStreamSplit) &&
		!slices.Contains(c.Encoding, v.encoding):
		// These two take the same bytes: only the footer can tell a damaged head.
		return 0, 0, fmt.Errorf("found the encoding %s, wanted one that the footer names, %v",
			v.encoding, c.Encoding)
	}
	return h.count, next, v.each(body, h.count, take)
}

// data2 returns the values of a data page of version 2, whose levels are never packed.
func (p *pages) data2(h pageHead, c column, v *pageValues) ([]byte, error) {
	if h.levels > len(p.packed) || h.levels > int(h.unpacked) {
		return nil, fmt.Errorf("it claims %d bytes of levels, of %d in all", h.levels, len(p.packed))
	}
	if c.optional {
		if err := v.unpackLevels(p.packed[h.repeated:h.levels], h.count); err != nil {
			return nil, err
		}
	}
	if got := v.nulls(); got != h.nulls {
		return nil, fmt.Errorf("found %d missing values, wanted %d as its head says", got, h.nulls)
	}
	codec := c.Codec
	if h.plain {
		codec = format.Uncompressed
	}
	return p.unpack(codec, p.packed[h.levels:], int(h.unpacked)-h.levels)
}

// pageValues decodes the values of a page.
type pageValues struct {
	t        npyfile.Type
	encoding format.Encoding
	levels   []bool   // whether each value is there; empty if all are
	known    bool     // there was a dictionary
	head     int64    // bytes of the head of the dictionary
	numbers  []byte   // of the dictionary, one after another
	texts    [][]byte // of the dictionary
}

func (v *pageValues) nulls() int {
	return lists.Count(v.levels, func(there bool) bool { return !there })
}

// setLevels reads the levels before the values of a page of version 1, and returns the values.
func (v *pageValues) setLevels(body []byte, count int, encoding format.Encoding) ([]byte, error) {
	switch encoding {
	case format.RLE:
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return nil, errPageShort
		}
		end := 4 + int(binary.LittleEndian.Uint32(body))
		return body[end:], v.unpackLevels(body[4:end], count)
	case format.BitPacked: // of old files, the highest bit first
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
func (v *pageValues) setDictionary(body []byte, h pageHead) error {
	if v.t.Kind == 'b' || (h.encoding != format.Plain && h.encoding != plainDictionary) {
		return fmt.Errorf("found a dictionary of type %s in the encoding %s, wanted PLAIN and no truths",
			v.t, h.encoding)
	}
	v.numbers, v.texts, v.known = slices.Clone(body), nil, true
	return eachPlain(v.numbers, v.t, h.count, func(raw []byte) {
		if v.t.Kind == 'S' {
			v.texts = append(v.texts, raw)
		}
	})
}

// each calls take for each of the count values of a page, with nil for missing ones.
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
