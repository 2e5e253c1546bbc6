//go:build cgo && unix

package main

/*
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// crash ends the program with a message and exit code 1. Go hands on what happens outside its own code:
// in a driver, in a kernel on the processor, in their threads.
static void crash(int number) {
	char text[2048];
	const char *cache = getenv("POCL_CACHE_DIR"), *below = "", *base = getenv("XDG_CACHE_HOME");
	if (!cache) {
		cache = base ? base : getenv("HOME");
		below = base ? "/pocl/kcache" : "/.cache/pocl/kcache";
	}
	// strsignal would allocate, in a heap that may be what is broken.
	const char *name = number == SIGABRT ? "aborted" : number == SIGILL ? "illegal instruction" : "no such memory";
	int n = snprintf(text, sizeof text, "uma-gpu: signal %d (%s) in an OpenCL driver or kernel: the driver, the kernels "
		"that it has compiled and kept, or the device's memory is at fault%s; remove the kernels that PoCL keeps in %s%s, "
		"use --device cpu, or update the driver\n", number, name,
		number == SIGBUS ? ", or a data file was cut while it was used in place" : "", cache ? cache : "", below);
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) < 0) _exit(1);
	_exit(1);
}

static void catch(int number) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = crash;
	a.sa_flags = SA_ONSTACK;
	sigaction(number, &a, NULL);
}

// Runs before Go does, whose handlers keep those that are there.
__attribute__((constructor)) static void catch_early(void) {
	catch(SIGSEGV);
	catch(SIGBUS);
	catch(SIGILL);
}

// Go hands this one on to nobody: it comes of memory that somebody wrote to whose it is not.
static void catch_abort(void) { catch(SIGABRT); }
*/
import "C"

func init() { C.catch_abort() }
