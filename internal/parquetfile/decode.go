package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// Encodings give exactly the number of values asked for, or an error, also where bytes are left.
// Format: https://parquet.apache.org/docs/file-format/data-pages/encodings/

// plainDictionary is the old name of a dictionary's encoding, which files still have.
const plainDictionary format.Encoding = 2

var (
	errPageShort = errors.New("found the end of the page within its values")
	errPageLong  = errors.New("found more bytes in the page than its values take")
)

// decode calls take for each of the count values in body.
func (v *pageValues) decode(body []byte, count int, take func(raw []byte)) error {
	integers := v.t.Kind == 'i' || v.t.Kind == 'u'
	switch e := v.encoding; {
	case e == format.Plain:
		return eachPlain(body, v.t, count, take)
	case e == plainDictionary || e == format.RLEDictionary:
		return v.eachEntry(body, count, take)
	case e == format.RLE && v.t.Kind == 'b':
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) != uint64(len(body)-4) {
			return errPageShort
		}
		return eachHybrid(body[4:], 1, count, func(bit uint32) error {
			take(truths[bit])
			return nil
		})
	case e == format.DeltaBinaryPacked && integers:
		var scratch [8]byte
		rest, err := eachDelta(body, count, func(n int64) error {
			binary.LittleEndian.PutUint64(scratch[:], uint64(n))
			take(scratch[:v.t.Size])
			return nil
		})
		if err == nil && len(rest) > 0 {
			err = errPageLong
		}
		return err
	case e == format.DeltaLengthByteArray && v.t.Kind == 'S':
		return eachDeltaLength(body, count, func(raw []byte) error {
			take(raw)
			return nil
		})
	case e == format.DeltaByteArray && v.t.Kind == 'S':
		return eachDeltaText(body, count, take)
	case e == format.ByteStreamSplit && v.t.Size >= 4 && v.t.Size <= 8:
		return eachSplit(body, v.t.Size, count, take)
	}
	return fmt.Errorf("found the encoding %s of a column of type %s, wanted PLAIN or a dictionary",
		v.encoding, v.t)
}

var truths = [2][]byte{{0}, {1}}

// eachPlain is for values one after another.
func eachPlain(body []byte, t npyfile.Type, count int, take func(raw []byte)) error {
	switch size := t.Size; {
	case t.Kind == 'S':
		for range count {
			if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
				return errPageShort
			}
			end := 4 + int(binary.LittleEndian.Uint32(body))
			take(body[4:end:end])
			body = body[end:]
		}
		if len(body) > 0 {
			return errPageLong
		}
	case t.Kind == 'b':
		if want := (count + 7) / 8; len(body) != want {
			return fmt.Errorf("found %d bytes of %d values, wanted %d", len(body), count, want)
		}
		for i := range count {
			take(truths[body[i/8]>>(i%8)&1])
		}
	default:
		if len(body) != count*size {
			return fmt.Errorf("found %d bytes of %d values, wanted %d", len(body), count, count*size)
		}
		for ; len(body) > 0; body = body[size:] {
			take(body[:size:size])
		}
	}
	return nil
}

// eachEntry is for places in the dictionary.
func (v *pageValues) eachEntry(body []byte, count int, take func(raw []byte)) error {
	switch {
	case count == 0: // some writers then leave out the width
		return nil
	case !v.known:
		return errors.New("found places in a dictionary, and none before")
	case len(body) == 0:
		return errPageShort
	case body[0] > 32:
		return fmt.Errorf("found places in a dictionary of %d bits, wanted at most 32", body[0])
	case body[0] == 0 && len(body) == 1: // one entry, and nothing to say
		body = append([]byte{0}, binary.AppendUvarint(nil, uint64(count)<<1)...)
	}
	size, entries := v.t.Size, len(v.texts)
	if v.t.Kind != 'S' {
		entries = len(v.numbers) / size
	}
	return eachHybrid(body[1:], int(body[0]), count, func(k uint32) error {
		switch {
		case uint64(k) >= uint64(entries):
			return fmt.Errorf("found place %d of a dictionary of %d", k, entries)
		case v.t.Kind == 'S':
			take(v.texts[k])
		default:
			take(v.numbers[int(k)*size:][:size])
		}
		return nil
	})
}

// eachHybrid is for count numbers of at most 32 bits: runs of equal ones, and packed groups of
// eight, the last perhaps filled up.
func eachHybrid(body []byte, width, count int, take func(n uint32) error) error {
	for count > 0 {
		head, k := binary.Uvarint(body)
		if k <= 0 || head>>33 != 0 {
			return errPageShort
		}
		body = body[k:]
		n := int(head >> 1)
		if head&1 == 0 {
			size := (width + 7) / 8
			if n == 0 || n-count >= 8 || size > len(body) {
				return fmt.Errorf("found a run of %d values, wanted 1 to %d", n, count)
			}
			n = min(n, count)
			v := uint32(bitsAt(body[:size], 0, 8*size))
			if uint64(v)>>width != 0 {
				return fmt.Errorf("found %d in %d bits", v, width)
			}
			for range n {
				if err := take(v); err != nil {
					return err
				}
			}
			count, body = count-n, body[size:]
			continue
		}
		// The last bytes of the last group may be left out.
		have, wanted := min(n*width, len(body)), min(8*n, count)
		if n == 0 || 8*have < wanted*width {
			return errPageShort
		}
		for i := range wanted {
			if err := take(uint32(bitsAt(body, i*width, width))); err != nil {
				return err
			}
		}
		count, body = count-wanted, body[have:]
	}
	if len(body) > 0 {
		return errPageLong
	}
	return nil
}

// bitsAt returns the width bits of b, at most 64, that begin at bit at.
func bitsAt(b []byte, at, width int) uint64 {
	if k := at / 8; k+8 <= len(b) && width <= 56 {
		return binary.LittleEndian.Uint64(b[k:]) >> (at % 8) & (1<<width - 1)
	}
	v := uint64(0)
	for got := 0; got < width; {
		k, shift := (at+got)/8, (at+got)%8
		n := min(8-shift, width-got)
		v |= uint64(b[k]>>shift&(1<<n-1)) << got
		got += n
	}
	return v
}

// eachDelta is for count integers as differences, and returns the bytes behind them.
func eachDelta(body []byte, count int, take func(n int64) error) ([]byte, error) {
	var sizes [3]int // values in a block, parts of a block, values in all
	for k := range sizes {
		v, n := binary.Uvarint(body)
		if n <= 0 || v > 1<<31 {
			return nil, errPageShort
		}
		sizes[k], body = int(v), body[n:]
	}
	value, k := binary.Varint(body)
	if k <= 0 {
		return nil, errPageShort
	}
	body = body[k:]
	block, parts := sizes[0], sizes[1]
	if parts == 0 || block == 0 || block%parts != 0 || block/parts%32 != 0 || block > 1<<20 ||
		sizes[2] != count {
		return nil, fmt.Errorf("found %d integers in blocks of %d in %d parts, wanted %d in parts of a "+
			"multiple of 32", sizes[2], block, parts, count)
	}
	if count == 0 {
		return body, nil
	}
	if err := take(value); err != nil {
		return nil, err
	}
	for left, each := count-1, block/parts; left > 0; {
		least, k := binary.Varint(body)
		if k <= 0 || len(body)-k < parts {
			return nil, errPageShort
		}
		widths := body[k : k+parts]
		body = body[k+parts:]
		for _, w := range widths {
			if left == 0 {
				break
			}
			size := each / 8 * int(w)
			if w > 64 || size > len(body) {
				return nil, errPageShort
			}
			for i := range min(each, left) {
				value += least + int64(bitsAt(body[:size], i*int(w), int(w)))
				if err := take(value); err != nil {
					return nil, err
				}
			}
			left, body = left-min(each, left), body[size:]
		}
	}
	return body, nil
}

// eachDeltaLength is for texts whose lengths stand before them all.
func eachDeltaLength(body []byte, count int, take func(raw []byte) error) error {
	// Twice over the lengths, which need no memory so.
	texts, err := eachDelta(body, count, func(int64) error { return nil })
	if err != nil {
		return err
	}
	_, err = eachDelta(body, count, func(n int64) error {
		if n < 0 || n > int64(len(texts)) {
			return errPageShort
		}
		text := texts[:n:n]
		texts = texts[n:]
		return take(text)
	})
	if err == nil && len(texts) > 0 {
		err = errPageLong
	}
	return err
}

// eachDeltaText is for texts that begin as the text before does, up to a given length.
func eachDeltaText(body []byte, count int, take func(raw []byte)) error {
	var shared []int32
	rest, err := eachDelta(body, count, func(n int64) error {
		shared = append(shared, int32(min(max(n, -1), math.MaxInt32))) // no text has either length
		return nil
	})
	if err != nil {
		return err
	}
	text := []byte{}
	return eachDeltaLength(rest, count, func(raw []byte) error {
		n := int(shared[0])
		shared = shared[1:]
		if n < 0 || n > len(text) {
			return fmt.Errorf("found a text that shares %d bytes with one of %d", n, len(text))
		}
		text = append(text[:n], raw...)
		take(text)
		return nil
	})
}

// eachSplit is for values whose first bytes stand together, then all second ones.
func eachSplit(body []byte, size, count int, take func(raw []byte)) error {
	if len(body) != count*size {
		return fmt.Errorf("found %d bytes of %d values, wanted %d", len(body), count, count*size)
	}
	var scratch [8]byte
	for i := range count {
		for k := range size {
			scratch[k] = body[k*count+i]
		}
		take(scratch[:size])
	}
	return nil
}
