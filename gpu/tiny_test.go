//go:build cgo && !noopencl

package gpu

import (
	"runtime"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// TestTiny is the part of the suite that an interpreter of kernels, a thousand
// times slower than a device, gets through: `make oclgrind` runs it to look for
// races, accesses out of bounds and reads of uninitialised memory. No guards
// here: a kernel that reads a guard must show as an uninitialised read. And no
// streaming, whose kernels are the same: oclgrind bears one thread only.
func TestTiny(t *testing.T) {
	runtime.LockOSThread() // oclgrind keeps its state by thread
	defer runtime.UnlockOSThread()
	eachDevice(t, func(i Info) {
		for _, b := range []build{{style: "gpu", bounds: "at once"}, {style: "cpu", bounds: "at once"}} {
			b.guard = noGuard
			small, large := openTest(t, i, Options{MaxAlloc: 18000}, b), openTest(t, i, Options{MaxAlloc: 70000}, b)
			for _, c := range enginetest.TinyCases() {
				e := small
				if strings.HasPrefix(c.Name, "project") { // a chunk of a panel alone takes 65536
					e = large
				}
				if err := c.Check(e); err != nil {
					t.Errorf("%s, as on a %s: %s: %v", i.ID(), b.style, c.Name, err)
				}
			}
		}
	})
}
