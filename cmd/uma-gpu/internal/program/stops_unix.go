//go:build unix

package program

import "syscall"

// A limit on the time of the processor (ulimit -t) says so in good time, if it is a soft one.
func init() { stops = append(stops, syscall.SIGXCPU) }
