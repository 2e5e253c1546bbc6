package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// mapping is a mapped file, perhaps closed by what a panic deferred.
type mapping struct {
	at, size uintptr
	path     string
	closed   bool
	shared   bool // ranks have a part of it each
}

// mapped are the files. A fault tells an address, and no more.
var mapped struct {
	sync.Mutex
	list []mapping
}

// Remember notes until Forget that raw is what path was mapped to, or what ranks share, each with
// memory for its own examples.
func Remember(raw []byte, path string, shared bool) {
	mapped.Lock()
	defer mapped.Unlock()
	const most = 64
	at, size := Address(raw), uintptr(len(raw))
	mapped.list = slices.DeleteFunc(mapped.list, func(m mapping) bool {
		return m.closed && (len(mapped.list) >= most || m.at < at+size && at < m.at+m.size)
	})
	mapped.list = append(mapped.list, mapping{at, size, path, false, shared})
}

// Forget says that raw is mapped no more.
func Forget(raw []byte) {
	mapped.Lock()
	defer mapped.Unlock()
	for k, m := range mapped.list {
		if m.at == Address(raw) {
			mapped.list[k].closed = true
		}
	}
}

// Guard returns the error of f, or of a read of a mapped file that was shortened or lost.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if value := recover(); value != nil {
			if err = faultOf(value); err == nil {
				panic(value)
			}
		}
	}()
	return f()
}

// faultOf returns what to say of a panic, nil unless a mapped file could not be read.
func faultOf(value any) error {
	var fault interface {
		error
		Addr() uintptr // of runtime.Error, where memory cannot be read
	}
	if err, ok := value.(error); !ok || !errors.As(err, &fault) {
		return nil
	}
	mapped.Lock()
	defer mapped.Unlock()
	for _, m := range mapped.list {
		if at := fault.Addr() - m.at; at < m.size { // unsigned: what lies before is far behind
			if m.shared {
				return fmt.Errorf("%s: this rank has not those at byte %d of %d, which a step of its own "+
					"asked for: this is a "+
					"fault of the program; run it as one process, and report it", m.path, at, m.size)
			}
			return fmt.Errorf("%s: the file cannot be read any more, at byte %d of %d: somebody "+
				"shortened it while it was "+
				"used, or its disk failed; copy it or convert the original data again", m.path, at, m.size)
		}
	}
	return nil
}
