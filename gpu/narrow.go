package gpu

import (
	"math"

	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// WantsNarrow reports whether n dense examples of d columns are better narrow, if they
// can be (dataset.Narrow), with bounds or without: on a device with memory of its own, of which they save much,
// and where bounds come into use, which gather few examples from all over the memory. A
// processor that reads all of them is the slower for preparing what it reads.
func (i Info) WantsNarrow(n, d int, bounds bool) bool {
	return !i.SharesMemory || bounds && sketch.Pays(n, d, math.MaxInt)
}
