//go:build !unix

package main

import "time"

var begun = time.Now()

// processorSeconds returns the time since the start, since the system does not tell that of the
// processor.
func processorSeconds() float64 { return time.Since(begun).Seconds() }
