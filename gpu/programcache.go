//go:build cgo && !noopencl

package gpu

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/jgillich/go-opencl/cl"
)

// programCache holds a context for each processor of PoCL and the programs compiled in it, for all
// engines of a process, those that are open together and those that follow each other. PoCL reads
// a program's text for 45 ms although it has the machine code on disk, and an engine has up to
// eleven programs.
//
// Contexts and programs of a processor take nothing but memory of this process. Those of a GPU
// hold its memory: they belong to one engine and end with it. So do those of other drivers for
// processors, of which nobody has said that they are slow: Oclgrind's search for uninitialised
// values believes that all of a buffer is one if another was at its address in the same context.
type programCache struct {
	mu       sync.Mutex
	contexts map[string]*cl.Context // by Info.ID
	programs []*cachedProgram       // the one given back last at the end
}

// cachedProgram is a program and what it was made of.
type cachedProgram struct {
	of      recipe
	program *cl.Program
	users   int
}

// recipe is all that a program depends on.
type recipe struct {
	context *cl.Context
	sources [sha256.Size]byte
	options string
}

// mostUnused is how many programs stay that no engine has. They are those of a few engines of
// different options.
const mostUnused = 32

// poclPrograms is the cache of the process.
var poclPrograms programCache

// context returns the context of a device, which stays until the process ends.
func (s *programCache) context(id string, device *cl.Device) (*cl.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.contexts[id]; c != nil {
		return c, nil
	}
	c, err := cl.CreateContext([]*cl.Device{device})
	if err != nil {
		return nil, err
	}
	if s.contexts == nil {
		s.contexts = map[string]*cl.Context{}
	}
	s.contexts[id] = c
	return c, nil
}

// take returns the program of that recipe, which compile makes if there is none. Whoever has it
// gives it back and does not release it.
func (s *programCache) take(of recipe, compile func() (*cl.Program, error)) (*cl.Program, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.IndexFunc(s.programs, func(p *cachedProgram) bool { return p.of == of }); at >= 0 {
		s.programs[at].users++
		return s.programs[at].program, nil
	}
	p, err := compile()
	if err != nil {
		return nil, err
	}
	s.programs = append(s.programs, &cachedProgram{of, p, 1})
	return p, nil
}

// giveBack ends a use that began with take. Of the unused programs those go first whose use ended
// first.
func (s *programCache) giveBack(program *cl.Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.programs, func(p *cachedProgram) bool { return p.program == program })
	p := s.programs[at]
	p.users--
	s.programs = append(slices.Delete(s.programs, at, at+1), p)
	unused := 0
	for k, p := range slices.Backward(s.programs) {
		if p.users > 0 {
			continue
		}
		if unused++; unused > mostUnused {
			p.program.Release()
			s.programs = slices.Delete(s.programs, k, k+1)
		}
	}
}

// recipe returns that of sources, put one behind the other, for the queue's context.
func (q *queue) recipe(sources []string, options string) recipe {
	h := sha256.New()
	for _, s := range sources {
		fmt.Fprint(h, s)
	}
	return recipe{q.context, [sha256.Size]byte(h.Sum(nil)), options}
}
