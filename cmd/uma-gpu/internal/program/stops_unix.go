//go:build unix

package program

import "syscall"

// A soft limit on processor time (ulimit -t) warns by this signal.
func init() { stops = append(stops, syscall.SIGXCPU) }
