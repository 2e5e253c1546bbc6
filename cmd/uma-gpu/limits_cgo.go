//go:build cgo && unix

package main

/*
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// refuse ends the program before it has begun.
static void refuse(int code, const char *what, unsigned long long found, unsigned long long wanted, const char *flag) {
	char text[256];
	int n = snprintf(text, sizeof text, "uma-gpu: %s is limited to %llu, wanted at least %llu: Go cannot run with less; "
		"raise the limit (ulimit %s)\n", what, found, wanted, flag);
	if (write(STDERR_FILENO, text, n) < 0) {
		// There is nobody to tell.
	}
	_exit(code);
}

// Runs before Go does, which ends with a trace where it gets no memory or file of its own, and cannot be asked not to.
__attribute__((constructor)) static void look_at_limits(void) {
	const rlim_t files = 16, space = (rlim_t)2 << 30;
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < files) { // Go raises the limit as far as it may
		refuse(1, "the number of open files", limit.rlim_max, files, "-n");
	}
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < space) {
		refuse(4, "the memory that may be addressed, in bytes,", limit.rlim_cur, space, "-v");
	}
}
*/
import "C"
