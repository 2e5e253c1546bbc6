//go:build cgo && !noopencl

package gpu

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// Engines of one of PoCL's processors share what is the same and nothing else, and those of other
// devices nothing.
func TestShared(t *testing.T) {
	eachDevice(t, func(i Info) {
		first := openTest(t, i, Options{}, build{})
		programs := slices.Clone(first.programs)
		if first.q.cache == nil {
			if e := openTest(t, i, Options{}, build{}); e.q.context == first.q.context ||
				e.programs[0] == programs[0] {
				t.Errorf("%s is not PoCL's processor, and engines of it share", i.ID())
			}
			return
		}
		second := openTest(t, i, Options{}, build{})
		if !slices.Equal(second.programs, programs) {
			t.Errorf("%s: the second engine has programs of its own", i.ID())
		}
		longer := slices.Clone(first.build.sources)
		for k := range longer {
			longer[k] += "\n"
		}
		for name, b := range map[string]build{
			"sources": {sources: longer},
			"style":   {style: map[bool]string{true: "gpu", false: "cpu"}[first.cpu]},
		} {
			if e := openTest(t, i, Options{}, b); slices.ContainsFunc(e.programs, func(p *cl.Program) bool {
				return slices.Contains(programs, p)
			}) {
				t.Errorf("%s: another build has the same programs: its %s differ", i.ID(), name)
			}
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		third := openTest(t, i, Options{}, build{})
		if !slices.Equal(third.programs, programs) {
			t.Errorf("%s: an engine compiles what those before it have compiled", i.ID())
		}
		for _, c := range enginetest.TinyCases() {
			if err := c.Check(third); err != nil {
				t.Errorf("%s: %v", i.ID(), err)
			}
		}
	})
}

// What is used stays; of the rest the last mostUnused.
func TestProgramCacheForgets(t *testing.T) {
	eachDevice(t, func(i Info) {
		q := openTest(t, i, Options{}, build{}).q.unlimited()
		q.cache = &programCache{}
		of := func(k int) recipe { return recipe{context: q.context, options: fmt.Sprint(k)} }
		take := func(k int) *cl.Program {
			p, err := q.cache.take(of(k), func() (*cl.Program, error) {
				return q.context.CreateProgramWithSource([]string{"text"})
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		held := func(k int) bool {
			return slices.ContainsFunc(q.cache.programs,
				func(p *cachedProgram) bool { return p.of == of(k) })
		}
		used, twice := take(-1), take(-2)
		if take(-2) != twice {
			t.Fatal("one recipe, two programs")
		}
		q.release(twice)
		const more = 3
		for k := range mostUnused + more {
			q.release(take(k))
		}
		q.release(take(more)) // now the one used last
		q.release(take(mostUnused + more))
		if n := len(q.cache.programs); n != 2+mostUnused {
			t.Errorf("%d programs are held, wanted 2 in use and %d that are not", n, mostUnused)
		}
		for k, want := range map[int]bool{-1: true, -2: true, 0: false, more: true, more + 1: false,
			more + 2: true} {
			if held(k) != want {
				t.Errorf("program %d is held: %v, wanted %v", k, !want, want)
			}
		}
		if _, err := q.build([]string{"__kernel nonsense"}, ""); err == nil {
			t.Error("nonsense was compiled")
		}
		if n := len(q.cache.programs); n != 2+mostUnused {
			t.Error("what could not be compiled is held")
		}
		q.release(used)
		q.release(twice)
		for _, p := range q.cache.programs {
			p.program.Release()
		}
	})
}

// Engines that share programs compute side by side.
func TestSharedTogether(t *testing.T) {
	eachDevice(t, func(i Info) {
		var wg sync.WaitGroup
		for range 4 {
			e := openTest(t, i, Options{}, build{})
			wg.Go(func() {
				for _, c := range enginetest.TinyCases() {
					if err := c.Check(e); err != nil {
						t.Errorf("%s: %v", i.ID(), err)
					}
				}
			})
		}
		wg.Wait()
	})
}
