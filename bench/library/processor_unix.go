//go:build unix

package main

import "syscall"

// processorSeconds returns the processor time that this process has taken, on all cores: what
// else the machine does hardly shows in it.
func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
