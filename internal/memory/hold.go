package memory

import "sync/atomic"

var held atomic.Bool

// Hold says that from now on something outside the process's control, a device that does not
// answer, may read memory that it was shown: whoever maps files leaves them mapped.
func Hold() { held.Store(true) }

// Held reports whether Hold was called.
func Held() bool { return held.Load() }
