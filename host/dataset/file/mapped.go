package file

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// mapFrom is the size of a matrix, in bytes, from which it is mapped rather than read.
var mapFrom int64 = 256 << 10

// place is where the elements of a matrix lie in the file of a source.
type place struct {
	offset int64
	crc    *uint32 // of the member, whose header begins at start; nil if there is none
	start  int64
}

// placeOf returns where n×d elements of type t, which r would give next, lie in the source's file;
// not ok if they must be read: they are packed, few, or not float32 as in memory, or some labels
// are bad.
func placeOf(c *collector, r io.Reader, t npyfile.Type, n, d int) (p place, ok bool) {
	size := memory.Product(n, d, 4)
	native := t.Kind == 'f' && t.Size == 4 && !t.Big && osfile.LittleEndian
	if !native || size < mapFrom || c.numbers.origins != nil || c.cells != nil ||
		c.given != nil && !c.given.good(c.labels) || !certain(c.src, r, n, d) {
		return p, false
	}
	if m, inside := r.(*member); inside {
		start, err := m.file.DataOffset()
		if err != nil {
			return p, false
		}
		p = place{offset: start + m.head(), crc: &m.file.CRC32, start: start}
	} else {
		p.offset = c.src.passed()
	}
	return p, p.offset%4 == 0 && p.offset <= c.src.size-size && c.src.size <= math.MaxInt
}

// certain reports whether r does have n·d elements of 4 bytes, as its header says.
func certain(s *source, r io.Reader, n, d int) bool {
	need := memory.Product(n, d, 4)
	if m, inside := r.(*member); inside {
		return m.stored() && memory.Sum(m.head(), need) == int64(m.file.UncompressedSize64)
	}
	return s.file != nil && need == s.size-s.passed()
}

// mapRows enters the n×d values at p as they lie in the file. Not ok: a value is not finite or
// subnormal, or sparse storage is wanted, so the rows must be read.
func mapRows(c *collector, p place, n, d int) (ok bool, err error) {
	home, err := osfile.Map(c.src.file, int(c.src.size), c.src.path)
	if err != nil {
		return false, c.src.errorf("cannot map the file into memory: %w; copy it to a local disk",
			osfile.Cause(err))
	}
	raw := home.Bytes
	values := raw[p.offset : p.offset+memory.Product(n, d, 4)]
	s := scan{finite: true}
	err = osfile.Guard(func() error {
		if p.crc != nil {
			s.crc = crc32.ChecksumIEEE(raw[p.start:p.offset])
		}
		return s.values(c.src.ctx, values)
	})
	if err == nil && p.crc != nil && s.crc != *p.crc {
		err = c.src.errorf("the file is damaged: its values have the checksum %08x, wanted "+
			"%08x; fetch the file or convert the data again", s.crc, *p.crc)
	}
	sparse := c.prepared == nil && features.SparseIsBetter(s.stored, n, d)
	if err != nil || !s.finite || s.tiny && c.prepared == nil || c.o.Storage == "sparse" ||
		(c.o.Storage == "" || c.o.Storage == "auto") && sparse {
		home.Close() // only read
		return false, err
	}
	c.home = home
	c.pile.segments = []dataset.Examples{{N: n, D: d, X: osfile.View[float32](values)}}
	for range n {
		if err := c.decide(nil, c.number()); err != nil { // no label is bad
			return false, err
		}
	}
	c.pile.stored += s.stored
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
		for _, v := range osfile.View[int32](part) {
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
