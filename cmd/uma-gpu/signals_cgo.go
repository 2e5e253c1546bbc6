//go:build cgo && unix

package main

/*
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The last files that were mapped into memory.
#define FILES 16
static struct { uintptr_t at, size; char *path; } files[FILES];
static unsigned told;

static void tell_mapped(uintptr_t at, size_t size, char *path) {
	unsigned k = told % FILES;
	files[k].size = 0;
	files[k].at = at;
	files[k].path = path;
	files[k].size = size;
	told++;
}

static void say(const char *text) {
	if (write(STDERR_FILENO, text, strlen(text)) < 0) {
		return; // there is nobody to tell
	}
}

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
	snprintf(text, sizeof text, "uma-gpu: signal %d (%s) in an OpenCL driver or kernel: the driver, the kernels "
		"that it has compiled and kept, or the device's memory is at fault; remove the kernels that PoCL keeps in %s%s, "
		"use --device cpu, or update the driver\n", number, name, cache ? cache : "", below);
	say(text);
	_exit(1);
}

// caught names the file if a driver has read memory that is a file no longer. There is no way back from here.
static void caught(int number, siginfo_t *info, void *context) {
	static int speaking;
	while (__atomic_exchange_n(&speaking, 1, __ATOMIC_SEQ_CST)) pause(); // another thread of the kernel is at it
	uintptr_t at = (uintptr_t)info->si_addr;
	for (unsigned k = told; number == SIGBUS && k-- > 0 && told - k <= FILES;) {
		if (at - files[k % FILES].at < files[k % FILES].size) {
			say("uma-gpu: ");
			say(files[k % FILES].path);
			say(": the file cannot be read any more: somebody shortened it while a device used it, or its disk failed; "
				"copy it or convert the original data again\n");
			_exit(1);
		}
	}
	crash(number);
}

static void catch(int number) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = caught;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(number, &a, NULL);
}

// Runs before Go does, which keeps what happens in Go to itself and leaves the rest to these.
__attribute__((constructor)) static void catch_early(void) {
	catch(SIGSEGV);
	catch(SIGBUS);
	catch(SIGILL);
}

// Those of Go, which come after these.
static const int shared[] = {SIGSEGV, SIGBUS, SIGILL};
static struct sigaction kept[3];

static void keep(void) {
	for (int k = 0; k < 3; k++) sigaction(shared[k], NULL, &kept[k]);
}

// SIGABRT Go hands on to nobody: it comes of memory that somebody wrote to whose it is not, and of what drivers
// take for impossible.
static void take_back(void) {
	for (int k = 0; k < 3; k++) sigaction(shared[k], &kept[k], NULL);
	catch(SIGABRT);
}
*/
import "C"

import "unsafe"

// keepSignals returns what takes back the signals that drivers take while they are loaded: LLVM, which most of them
// bring, wants to tidy up before a crash, and does not hand all of them on.
func keepSignals() (takeBack func()) {
	C.keep()
	return func() { C.take_back() }
}

// tellMapped says that raw is a file, for the message if it is cut short while a driver of OpenCL uses it. What Go
// reads is dataset.Guard's.
func tellMapped(raw []byte, path string) {
	// The text is never freed: a few bytes a file, and the signal may come at any time.
	C.tell_mapped(C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))), C.size_t(len(raw)), C.CString(path))
}
