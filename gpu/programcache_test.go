//go:build linux && cgo && !noopencl

package gpu

import (
	"slices"
	"testing"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// Engines on the same PoCL processor share only identical programs; engines on other devices share
// nothing.
func TestShared(t *testing.T) {
	eachDevice(t, func(i Info) {
		first := openTest(t, i, Options{}, build{})
		programs := slices.Clone(first.compiled)
		if first.q.cache == nil {
			if e := openTest(t, i, Options{}, build{}); e.q.context == first.q.context ||
				e.compiled[0] == programs[0] {
				t.Errorf("%s is not PoCL's processor, and engines of it share", i.ID())
			}
			return
		}
		second := openTest(t, i, Options{}, build{})
		if !slices.Equal(second.compiled, programs) {
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
			if e := openTest(t, i, Options{}, b); slices.ContainsFunc(e.compiled, func(p *cl.Program) bool {
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
		if !slices.Equal(third.compiled, programs) {
			t.Errorf("%s: an engine compiles what those before it have compiled", i.ID())
		}
		for _, c := range enginetest.TinyCases() {
			if err := c.Check(third.Engine); err != nil {
				t.Errorf("%s: %v", i.ID(), err)
			}
		}
	})
}

// What could not be compiled is tried again.
func TestProgramCacheErrors(t *testing.T) {
	eachDevice(t, func(i Info) {
		q := openTest(t, i, Options{}, build{}).q.unlimited()
		q.cache = newProgramCache()
		for range 2 {
			if _, err := q.build([]string{"__kernel nonsense"}, ""); err == nil {
				t.Error("nonsense was compiled")
			}
		}
		if n := len(q.cache.programs); n != 0 {
			t.Errorf("%d programs are held, want none", n)
		}
	})
}
