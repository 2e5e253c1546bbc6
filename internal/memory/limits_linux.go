package memory

import (
	"math"
	"os"
	"syscall"
)

// arena is the piece in which Go takes address space: the last one of them may be
// needed in full for a few bytes.
const arena = 64 << 20

// systemLimits returns what the kernel bounds.
func systemLimits() []limit {
	root := os.DirFS("/")
	limits := append(machineLimits(root), groupLimits(root)...)
	for _, r := range []struct {
		resource     int
		used         string // field of status
		name, option string // option of the shell's ulimit
	}{
		{syscall.RLIMIT_AS, "VmSize:", "RLIMIT_AS", "-v"},
		{syscall.RLIMIT_DATA, "VmData:", "RLIMIT_DATA", "-d"},
	} {
		var rl syscall.Rlimit
		if err := syscall.Getrlimit(r.resource, &rl); err != nil || rl.Cur > math.MaxInt64 {
			continue // unlimited
		}
		used, _ := field(root, "proc/self/status", r.used)
		limits = append(limits, limit{
			int64(rl.Cur) - used - arena, "the limit " + r.name + " of the process",
			"raise it with ulimit " + r.option + " or give smaller sizes",
		})
	}
	return limits
}
