package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Scratch keeps arrays in files without names, written or mapped; nothing is left behind.
type Scratch struct {
	path string   // of the data, or what is kept, for messages
	File *os.File // of the arrays that Away has written; nil if there are none
	size int64    // of File
	maps [][]byte
}

// NewScratch returns a Scratch with a file for Away. path is for messages.
func NewScratch(path string) (*Scratch, error) {
	s := Mappings(path)
	var err error
	s.File, err = unnamed()
	return s, err
}

// Mappings returns a Scratch for RoomOf alone. path is for messages.
func Mappings(path string) *Scratch { return &Scratch{path: path} }

// temporary is a folder for large files; /tmp is often memory.
func temporary() string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return dir
	}
	return "/var/tmp"
}

// unnamed returns a new file that has no name.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp(temporary(), ".uma-gpu-")
	if err != nil {
		return nil, fmt.Errorf("no temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return f, nil
}

// Away writes parts to the file, one behind the other, and returns where they begin.
func (s *Scratch) Away(parts ...[]byte) (at int64, err error) {
	at = s.size
	for _, part := range parts {
		if _, err := s.File.WriteAt(part, s.size); err != nil {
			return at, s.fault(err)
		}
		s.size += int64(len(part))
	}
	return at, nil
}

// fault words what went wrong with a temporary file.
func (s *Scratch) fault(err error) error {
	return fmt.Errorf("%s: temporary file in %s: %w; set TMPDIR to a folder on a disk with room for "+
		"twice the features", s.path, temporary(), osfile.Cause(err))
}

// RoomOf returns n elements of zero, in a mapped file unless s is nil.
func RoomOf[T Element](s *Scratch, n int) ([]T, error) {
	if s == nil || n == 0 {
		return make([]T, n), nil
	}
	raw, err := s.mapped(n * len(Bytes(make([]T, 1))))
	return View[T](raw), err
}

// mapped returns size bytes of zero in a file for which the disk has room.
func (s *Scratch) mapped(size int) ([]byte, error) {
	f, err := unnamed()
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
	Remember(raw, "temporary file in "+temporary(), false)
	s.maps = append(s.maps, raw)
	return raw, nil
}

// End gives back the file of Away, whose arrays nobody wants any more.
func (s *Scratch) End() {
	if s != nil && s.File != nil {
		s.File.Close() // of a file without a name: nothing to lose
	}
}

// Close gives back all.
func (s *Scratch) Close() {
	if s != nil {
		s.End()
		GiveBack(s.maps)
		s.maps = nil
	}
}

// ReadAligned reads size bytes to where any element may begin.
func ReadAligned(r io.ReaderAt, size int) ([]byte, error) {
	raw := Bytes(make([]int64, (size+7)/8))[:size]
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, int64(size)), raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// Growth watches the memory of a list whose final size is not known: packed files may be small.
type Growth struct{ Bytes, checked int }

// Check returns an error, once in piece bytes, where memory would not hold many more; what is a
// format for n elements.
func (g *Growth) Check(piece int, what string, n int) error {
	added := g.Bytes - g.checked
	if added < piece {
		return nil
	}
	g.checked = g.Bytes
	return memory.Check(int64(8*piece+2*added), fmt.Sprintf(what, n))
}
