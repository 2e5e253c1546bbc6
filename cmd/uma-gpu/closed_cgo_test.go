//go:build cgo && unix

package main

import (
	"bytes"
	"testing"
)

// Results that nobody can have are an error, though Go opens /dev/null in the place of a closed output; one that
// is /dev/null is as the user wants it.
func TestClosedOutput(t *testing.T) {
	if stdoutClosed() {
		t.Fatal("the tests' own output is closed")
	}
	for prefix, want := range map[string]int{"exec >&-;": exitFailure, "exec >/dev/null;": exitOK,
		"exec <>/dev/null >&0;": exitOK} {
		var stderr bytes.Buffer
		c := program(t, prefix, "version")
		c.Stderr = &stderr
		if code := exitOf(t, c.Run()); code != want {
			t.Errorf("%s exit code %d, wanted %d\n%s", prefix, code, want, &stderr)
		}
	}
}
