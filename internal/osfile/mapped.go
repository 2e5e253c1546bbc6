package osfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Element is a number of an array.
type Element interface {
	uint8 | uint16 | int32 | int64 | float32 | float64
}

// View returns the elements of raw, which is aligned to their size, sharing memory.
func View[T Element](raw []byte) []T {
	if len(raw) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))),
		len(raw)/int(unsafe.Sizeof(*new(T))))
}

// Bytes is the inverse of View.
func Bytes[T Element](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))),
		len(list)*int(unsafe.Sizeof(*new(T))))
}

// LittleEndian reports whether this machine stores numbers in the byte order of the files.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Mapping is a mapped file.
type Mapping struct {
	Bytes []byte
	path  string // for messages
	heap  bool   // it was read, where files cannot be mapped
}

// Map maps the first size bytes of f, page-aligned, to be read until Close.
func Map(f *os.File, size int, path string) (*Mapping, error) {
	raw, heap, err := mapFile(f, size)
	if err != nil {
		return nil, err
	}
	return remember(&Mapping{raw, path, heap}), nil
}

// Close unmaps the file, unless a lost device may still read it in place. Twice is fine.
func (m *Mapping) Close() error {
	raw := m.Bytes
	if m.Bytes = nil; raw == nil || m.heap || held.Load() {
		return nil
	}
	open.Lock()
	for k := range open.list {
		if open.list[k].at == address(raw) {
			open.list[k].closed = true
		}
	}
	open.Unlock()
	return unmap(raw)
}

// Hold says that from now on something outside the process's control, a device that does not
// answer, may read memory that it was shown: mapped files stay mapped then.
func Hold() { held.Store(true) }

var held atomic.Bool

// open lists the mapped files, with those closed lately: a fault has an address and no more, and
// may be reported after what a panic deferred has closed the file.
var open struct {
	sync.Mutex
	list []mapping
}

type mapping struct {
	at, size uintptr
	path     string
	closed   bool
}

func address(raw []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(raw))) }

func remember(m *Mapping) *Mapping {
	if m.heap {
		return m
	}
	open.Lock()
	defer open.Unlock()
	const most = 64
	at, size := address(m.Bytes), uintptr(len(m.Bytes))
	open.list = slices.DeleteFunc(open.list, func(o mapping) bool {
		return o.closed && (len(open.list) >= most || o.at < at+size && at < o.at+o.size)
	})
	open.list = append(open.list, mapping{at: at, size: size, path: m.path})
	return m
}

// Guard returns the error of f, or of a read of a mapped file that was shortened or lost. It covers
// f and package parallel's workers, no goroutine of f's own.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if value := recover(); value != nil {
			if err = faultError(value); err == nil {
				panic(value)
			}
		}
	}()
	return f()
}

// faultError returns the error of a panic, nil unless a mapped file could not be read.
func faultError(value any) error {
	var fault interface {
		error
		Addr() uintptr // of runtime.Error, where memory cannot be read
	}
	if err, ok := value.(error); !ok || !errors.As(err, &fault) {
		return nil
	}
	open.Lock()
	defer open.Unlock()
	for _, m := range open.list {
		if at := fault.Addr() - m.at; at < m.size { // unsigned: an address before m is far beyond it
			return fmt.Errorf("%s: the file cannot be read any more, at byte %d: it was shortened while it "+
				"was in use, or its disk failed; copy it or convert the original data again", m.path, at)
		}
	}
	return nil
}

// Scratch keeps arrays in mapped files without names, in $TMPDIR or /var/tmp, until Close.
type Scratch struct {
	path  string // of the data, for messages
	files []*Mapping
	rest  []byte // of the last file, for short arrays
}

// NewScratch returns a Scratch for the data at path.
func NewScratch(path string) *Scratch { return &Scratch{path: path} }

// MakeScratch returns n elements of zero, on the heap if s is nil. Short arrays share a file.
func MakeScratch[T Element](s *Scratch, n int) ([]T, error) {
	if s == nil || n == 0 {
		return make([]T, n), nil
	}
	const short, shared = 8 << 20, 64 << 20
	size := n * int(unsafe.Sizeof(*new(T)))
	if size > short {
		raw, err := s.file(size)
		return View[T](raw), err
	}
	const align = 8
	if size = (size + align - 1) / align * align; size > len(s.rest) {
		raw, err := s.file(shared)
		if err != nil {
			return nil, err
		}
		s.rest = raw
	}
	raw := s.rest[:size:size]
	s.rest = s.rest[size:]
	return View[T](raw)[:n:n], nil
}

// file maps size bytes of zero of a new temporary file.
func (s *Scratch) file(size int) ([]byte, error) {
	dir := os.Getenv("TMPDIR")
	if dir == "" {
		dir = "/var/tmp" // /tmp is often memory
	}
	raw, err := mapTemporary(dir, size)
	if err != nil {
		return nil, fmt.Errorf("%s: temporary file in %s: %w; set TMPDIR to a folder on a disk with "+
			"room for three times the features", s.path, dir, Cause(err))
	}
	s.files = append(s.files, remember(&Mapping{Bytes: raw, path: "temporary file in " + dir}))
	return raw, nil
}

// mapTemporary maps size bytes of zero of a new file without a name in dir.
func mapTemporary(dir string, size int) ([]byte, error) {
	f, err := Temporary(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	if err := errors.Join(f.Truncate(int64(size)), reserve(f, size)); err != nil {
		return nil, err
	}
	return mapWritable(f, size)
}

// Close frees the arrays.
func (s *Scratch) Close() error {
	var errs []error
	if s != nil {
		for _, m := range s.files {
			errs = append(errs, m.Close())
		}
		s.files = nil
	}
	return errors.Join(errs...)
}
