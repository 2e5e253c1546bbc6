//go:build linux && cgo && !noopencl

package gpu

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/jgillich/go-opencl/cl"
)

// programCache holds a context for each processor of PoCL and the programs compiled in it, until
// the process ends. PoCL reads a program's text for 45 ms although it has the machine code on
// disk, and an engine has several programs.
//
// Contexts and programs of a processor take nothing but memory of this process. Those of a GPU
// hold its memory: they belong to one engine and end with it. So do the contexts of other drivers
// for processors, which nobody has found to be slow: Oclgrind's search for uninitialised
// values believes that all of a buffer is one if another was at its address in the same context.
type programCache struct {
	mu       sync.Mutex
	contexts map[string]*cl.Context // by Info.ID
	programs map[recipe]*cl.Program
}

// recipe is all that a program depends on.
type recipe struct {
	context *cl.Context
	sources [sha256.Size]byte
	options string
}

// poclPrograms is the cache of the process.
var poclPrograms = newProgramCache()

func newProgramCache() *programCache {
	return &programCache{contexts: map[string]*cl.Context{}, programs: map[recipe]*cl.Program{}}
}

// context returns the context of a device.
func (s *programCache) context(id string, device *cl.Device) (*cl.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return known(s.contexts, id, func() (*cl.Context, error) {
		return cl.CreateContext([]*cl.Device{device})
	})
}

// program returns the program that sources make, concatenated. compile makes it if
// there is none.
func (s *programCache) program(context *cl.Context, sources []string, options string,
	compile func() (*cl.Program, error)) (*cl.Program, error) {
	h := sha256.New()
	for _, text := range sources {
		fmt.Fprint(h, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return known(s.programs, recipe{context, [sha256.Size]byte(h.Sum(nil)), options}, compile)
}

// known returns a value of m, which fill makes if there is none.
func known[K comparable, V any](m map[K]V, key K, fill func() (V, error)) (V, error) {
	if v, there := m[key]; there {
		return v, nil
	}
	v, err := fill()
	if err == nil {
		m[key] = v
	}
	return v, err
}
