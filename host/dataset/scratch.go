package dataset

import (
	"errors"
	"fmt"
	"os"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// scratch has what Options.Spill and Keep keep out of memory: segments in a file, and arrays in files that are mapped.
// No file has a name, so that nothing is left, however the process ends.
type scratch struct {
	path string // of the data, or what is kept, for messages
	dir  string
	f    *os.File // of segments, one behind the other; nil if there are none
	size int64    // of f
	maps [][]byte
}

// spillFrom is how many bytes of segments are kept in memory before they go to a file.
var spillFrom = 64 << 20

// unnamed returns a new file in dir that has no name.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".uma-gpu-")
	if err != nil {
		return nil, fmt.Errorf("no temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return f, nil
}

func newScratch(path string) (*scratch, error) {
	s := &scratch{path: path, dir: temporary()}
	var err error
	s.f, err = unnamed(s.dir)
	return s, err
}

// spill puts segments into a file, once they are worth it, if Options.Spill says so.
func (b *builder) spill() error {
	held := 0
	for _, g := range b.segments[b.here:] {
		held += g.bytes()
	}
	if held < spillFrom || !b.spills() {
		return nil
	}
	b.needScratch()
	for k := b.here; k < len(b.segments) && b.scratch != nil; k++ {
		var err error
		if b.segments[k], err = b.scratch.away(b.segments[k]); err != nil {
			return b.fatal(err)
		}
	}
	b.here = len(b.segments)
	return nil
}

func (b *builder) spills() bool { return b.o.Spill && canShare && b.share == nil && b.o.block == nil }

// needScratch makes the scratch. Where no file can be made, memory is asked, which may be enough.
func (b *builder) needScratch() {
	if b.scratch == nil {
		s, err := newScratch(b.src.path)
		if err != nil {
			b.o.Spill = false
			return
		}
		b.scratch = s
	}
}

// roomy makes sure that so many bytes are not asked of memory if they need not be.
func (b *builder) roomy(bytes int) {
	if bytes >= spillFrom && b.spills() {
		b.needScratch()
	}
}

// away returns a segment whose values are in the file, where those of g were written.
func (s *scratch) away(g segment) (segment, error) {
	a := segment{rows: g.rows, width: g.width, stored: len(g.values), dense: g.x != nil, from: s.f, at: s.size}
	for _, part := range [][]byte{bytesOf(g.x), bytesOf(g.counts), bytesOf(g.columns), bytesOf(g.values)} {
		if _, err := s.f.WriteAt(part, s.size); err != nil {
			return g, s.fault(err)
		}
		s.size += int64(len(part))
	}
	return a, nil
}

// fault words what went wrong with a temporary file.
func (s *scratch) fault(err error) error {
	return fmt.Errorf("%s: temporary file in %s: %w; set TMPDIR to a folder on a disk with room for twice the features",
		s.path, s.dir, fileerr.Cause(err))
}

// back returns a segment with its values in memory.
func (g segment) back() (segment, error) {
	if g.from == nil {
		return g, nil
	}
	b := segment{rows: g.rows, width: g.width}
	var parts [][]byte
	if g.dense {
		b.x = make([]float32, g.rows*g.width)
		parts = [][]byte{bytesOf(b.x)}
	} else {
		b.counts, b.columns, b.values = make([]int32, g.rows), make([]int32, g.stored), make([]float32, g.stored)
		parts = [][]byte{bytesOf(b.counts), bytesOf(b.columns), bytesOf(b.values)}
	}
	at := g.at
	for _, part := range parts {
		if _, err := g.from.ReadAt(part, at); err != nil {
			return g, fmt.Errorf("temporary file: %w", fileerr.Cause(err))
		}
		at += int64(len(part))
	}
	return b, nil
}

// roomOf returns n elements of zero, in a mapped file unless s is nil.
func roomOf[T element](s *scratch, n int) ([]T, error) {
	if s == nil || n == 0 {
		return make([]T, n), nil
	}
	raw, err := s.mapped(n * len(bytesOf(make([]T, 1))))
	return viewOf[T](raw), err
}

// mapped returns size bytes of zero that lie in a file, the disk having room for them: without it, writing to them
// would be a fault.
func (s *scratch) mapped(size int) ([]byte, error) {
	f, err := unnamed(s.dir)
	if err != nil {
		return nil, s.fault(err)
	}
	defer f.Close() // the mapping stays
	if err := errors.Join(f.Truncate(int64(size)), takeDisk(f, size)); err != nil {
		return nil, s.fault(err)
	}
	raw, err := mapScratch(f, size)
	if err != nil {
		return nil, s.fault(err)
	}
	remember(raw, "temporary file in "+s.dir)
	s.maps = append(s.maps, raw)
	return raw, nil
}

// end gives back the segments, which nobody wants any more.
func (s *scratch) end() {
	if s != nil && s.f != nil {
		s.f.Close() // of a file without a name: nothing to lose
	}
}

// close gives back all.
func (s *scratch) close() {
	if s != nil {
		s.end()
		giveBack(s.maps)
		s.maps = nil
	}
}
