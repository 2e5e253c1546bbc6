//go:build !linux

package memory

// Peak knows nothing.
func Peak() int64 { return 0 }

// systemLimits knows none.
func systemLimits() []limit { return nil }
