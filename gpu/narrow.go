package gpu

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// WantsNarrow reports whether n dense examples of d columns are better narrow, if they
// can be (dataset.Narrow): on a device with memory of its own, of which they save much,
// and where bounds come into use, which gather few examples from all over the memory. A
// processor that reads all of them is the slower for preparing what it reads.
func (i Info) WantsNarrow(n, d int) bool {
	return !i.SharesMemory || sketch.Pays(n, d, math.MaxInt)
}
