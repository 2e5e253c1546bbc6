package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// mapping is a binary file that is mapped into memory, or was: while a panic ends a function, what
// it deferred has closed the file before the panic is looked at.
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

// Remember notes that raw is what path was mapped to, until Forget.
func Remember(raw []byte, path string) { note(raw, path, false) }

// RememberAway is Remember for what has memory for some of the examples alone.
func RememberAway(raw []byte, path string) { note(raw, path, true) }

func note(raw []byte, path string, shared bool) {
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

// Guard calls f and returns its error. If f, or package parallel's workers on its behalf, read a
// mapped binary file where it cannot be read any more, since somebody shortened it or its disk
// failed, f ends there, what it deferred is done, and the error names the file. Any other panic
// goes on. What f has goroutines of its own or other languages do is not guarded.
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

// faultOf returns what to say of a panic with this value, nil if it is not one of reading a mapped
// file.
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
