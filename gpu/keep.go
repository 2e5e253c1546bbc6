//go:build linux && cgo && !noopencl

package gpu

import (
	"sync"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// limits are the numbers of Options.
type limits struct{ maxAlloc, memory int64 }

// kept is the device that Keep keeps.
var kept struct {
	sync.Mutex
	on bool
	e  *deviceEngine // nil for none
}

// Keep has Close leave one conforming device open for the next Open with the same options, which
// takes it with its kernels, and does not test it again. End closes it.
func Keep() (end func() error) {
	kept.Lock()
	defer kept.Unlock()
	kept.on = true
	return func() error {
		kept.Lock()
		defer kept.Unlock()
		kept.on = false
		return closeKept()
	}
}

func closeKept() (err error) {
	if kept.e != nil {
		err = kept.e.release()
	}
	kept.e = nil
	return err
}

// takeKept returns the device that is kept, if it is i with options o; another one is closed.
func takeKept(i Info, o Options) (e *deviceEngine, err error) {
	kept.Lock()
	defer kept.Unlock()
	if kept.e == nil || o.Trace != nil {
		return nil, nil
	}
	is := kept.e.info
	if is.Platform != i.Platform || is.Device != i.Device ||
		kept.e.limits != (limits{o.MaxAlloc, o.MemoryLimit}) {
		return nil, closeKept()
	}
	e, kept.e = kept.e, nil
	e.q.work = engine.Work{}
	return e, nil
}

// keep keeps what e has opened, if Keep asks for it and all of e's work went well.
func (e *deviceEngine) keep() (is bool, err error) {
	kept.Lock()
	defer kept.Unlock()
	if !kept.on || !e.tested || e.q.trace != nil || e.q.inUse != 0 || e.q.settle() != nil {
		return false, nil // and release says what is wrong
	}
	e.q.freeKept()
	err = closeKept()
	again := *e
	kept.e = &again
	e.compiled, e.kernelSet, e.q = nil, kernelSet{}, &queue{work: e.q.work}
	return true, err
}
