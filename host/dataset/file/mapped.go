package file

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// mapFrom is the size of a matrix, in bytes, from which it is mapped rather than read.
var mapFrom int64 = 256 << 10

// mappedFile is the Home of examples in a mapped file.
type mappedFile struct {
	raw   []byte
	unmap func([]byte) error // nil if raw is on the Go heap
}

// Close unmaps the file.
func (f *mappedFile) Close() error {
	if f.unmap == nil {
		return nil
	}
	store.Forget(f.raw)
	return f.unmap(f.raw)
}

// ReadOnly is true.
func (f *mappedFile) ReadOnly() bool { return true }

// place is where the elements of a matrix lie in the file of a source.
type place struct {
	offset int64
	crc    *uint32 // of the member, whose header begins at start; nil if there is none
	start  int64
}

// placeOf returns where n×d elements of type t, which r would give next, lie in the source's file;
// not ok if they must be read: they are packed, few, or not float32 as in memory, or some labels
// are bad.
func (b *builder) placeOf(r io.Reader, t numberType, n, d int) (p place, ok bool) {
	size := memory.Product(n, d, 4)
	if t.Kind != 'f' || t.Size != 4 || t.Big || !store.LittleEndian || size < mapFrom ||
		b.o.parts != nil ||
		b.external != nil && len(b.external.bad) > 0 || !b.certain(r, 4, n, d) {
		return p, false
	}
	if m, inside := r.(*member); inside {
		start, err := m.file.DataOffset()
		if err != nil {
			return p, false
		}
		p = place{offset: start + m.head(), crc: &m.file.CRC32, start: start}
	} else {
		p.offset = b.src.passed()
	}
	return p, p.offset%4 == 0 && p.offset <= b.src.size-size && b.src.size <= math.MaxInt
}

// mapRows enters the n×d values at p as they lie in the file. Not ok: a value is not finite or
// subnormal, or sparse storage is wanted, so the rows must be read.
func (b *builder) mapRows(p place, n, d int) (ok bool, err error) {
	raw, unmap, err := store.MapFile(b.src.file, int(b.src.size))
	if err != nil {
		return false, b.src.errorf("cannot map the file into memory: %w; copy it to a local disk",
			fileerr.Cause(err))
	}
	home := &mappedFile{raw, unmap}
	if unmap != nil {
		store.Remember(raw, b.src.path, false)
	}
	values := raw[p.offset : p.offset+memory.Product(n, d, 4)]
	s := scan{finite: true}
	err = store.Guard(func() error {
		if p.crc != nil {
			s.crc = crc32.ChecksumIEEE(raw[p.start:p.offset])
		}
		return s.values(b.src.ctx, values)
	})
	if err == nil && p.crc != nil && s.crc != *p.crc {
		err = b.src.errorf("the file is damaged: its values have the checksum %08x, wanted "+
			"%08x; fetch the file or convert the data again", s.crc, *p.crc)
	}
	sparse := b.prepared == nil && sparseIsBetter(s.stored, n, d)
	if err != nil || !s.finite || s.tiny && b.prepared == nil || b.o.Storage == "sparse" ||
		(b.o.Storage == "" || b.o.Storage == "auto") && sparse {
		home.Close() // only read
		return false, err
	}
	for range n {
		if _, err := b.admit(b.number()); err != nil { // no label is bad
			home.Close() // only read
			return false, err
		}
	}
	b.home = home
	b.segments = append(b.segments, segment{rows: n, width: d, x: store.View[float32](values)})
	b.stored += s.stored
	return true, nil
}

// scan is what one reading of float32 values finds.
type scan struct {
	crc    uint32 // IEEE, of all bytes
	stored int    // values other than +0
	finite bool   // all values are
	tiny   bool   // some are subnormal
}

// values scans values as they lie in memory, until ctx ends.
func (s *scan) values(ctx context.Context, raw []byte) error {
	const most = 1 << 20
	_, task := progress.Begin(ctx, progress.Work{Name: "checking the data", Unit: progress.Bytes,
		Total: int64(len(raw))})
	defer task.End()
	for at := 0; at < len(raw); at += most {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("checking was cancelled: %w", err)
		}
		part := raw[at:min(at+most, len(raw))]
		s.crc = crc32.Update(s.crc, crc32.IEEETable, part)
		for _, v := range store.View[int32](part) {
			switch bits := uint32(v); bits & 0x7f800000 {
			case 0x7f800000:
				s.finite = false
			case 0:
				s.tiny = s.tiny || bits<<1 != 0
			}
			if v != 0 {
				s.stored++
			}
		}
		task.Add(int64(len(part)))
	}
	return nil
}
