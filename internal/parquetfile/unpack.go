package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unknownCodec is the error of pages that are packed by a codec that is not read.
type unknownCodec string

func (e unknownCodec) Error() string {
	return fmt.Sprintf("found values packed with %s, wanted snappy, gzip, brotli, zstd or LZ4_RAW; "+
		"write the file again with one of them", string(e))
}

// unpack returns the unpacked bytes of a page, exactly size of them, valid until the next call.
func (p *pages) unpack(codec format.CompressionCodec, packed []byte, size int) ([]byte, error) {
	// a page of nulls has no data to pack
	if codec == format.Uncompressed || (size == 0 && len(packed) == 0) {
		if len(packed) != size {
			return nil, fmt.Errorf("found %d bytes, wanted %d as its head says", len(packed), size)
		}
		return packed, nil
	}
	p.plain = slices.Grow(p.plain[:0], size)[:size]
	n, err := size, error(nil)
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(packed); err == nil && n == size {
			_, err = snappy.Decode(p.plain, packed)
		}
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(packed, p.plain)
	default:
		var z unpackReader
		if z, err = p.unpacker(codec); err != nil {
			return nil, err
		}
		if err = z.Reset(bytes.NewReader(packed)); err == nil {
			err = readExactly(z, p.plain)
		}
	}
	if err == nil && n != size {
		err = fmt.Errorf("found %d bytes", n)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot unpack its %d bytes with %s to the %d that its head says: %w",
			len(packed), codec, size, err)
	}
	return p.plain, nil
}

// unpackReader unpacks what it was reset to.
type unpackReader interface {
	io.Reader
	Reset(io.Reader) error
}

// unpacker returns what unpacks a codec, the same for all pages.
func (p *pages) unpacker(codec format.CompressionCodec) (unpackReader, error) {
	z, err := p.unpackers[codec], error(nil)
	if z != nil {
		return z, nil
	}
	switch codec {
	case format.Gzip:
		z = new(gzip.Reader)
	case format.Brotli:
		z = new(brotli.Reader)
	case format.Zstd:
		// One goroutine, so that there is none to end.
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(p.limits.Window))
	default:
		return nil, unknownCodec(codec.String())
	}
	if p.unpackers == nil {
		p.unpackers = map[format.CompressionCodec]unpackReader{}
	}
	p.unpackers[codec] = z
	return z, err
}

// readExactly fills b from r, which must end there: at the end check sums are compared.
func readExactly(r io.Reader, b []byte) error {
	n, err := io.ReadFull(r, b)
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		return fmt.Errorf("found %d bytes", n)
	default:
		return err
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 {
		return errors.New("found more bytes")
	} else if err != io.EOF {
		return err
	}
	return nil
}
