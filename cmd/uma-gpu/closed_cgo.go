//go:build cgo && unix

package main

/*
#include <fcntl.h>
#include <unistd.h>

static int was_closed;

// Runs before Go does, which opens /dev/null where a standard file is closed.
__attribute__((constructor)) static void look(void) { was_closed = fcntl(STDOUT_FILENO, F_GETFD) == -1; }

static int stdout_was_closed(void) { return was_closed; }
*/
import "C"

// stdoutClosed says that the program was started without a standard output, which Go hides.
func stdoutClosed() bool { return C.stdout_was_closed() != 0 }
