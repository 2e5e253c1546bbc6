//go:build cgo && unix

package main

/*
#include <signal.h>
#include <stdint.h>
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

// A driver of OpenCL has read memory that is a file no longer. There is no way back from here.
static void no_file(int number, siginfo_t *info, void *context) {
	uintptr_t at = (uintptr_t)info->si_addr;
	for (unsigned k = told; k-- > 0 && told - k <= FILES;) {
		if (at - files[k % FILES].at < files[k % FILES].size) {
			say("uma-gpu: ");
			say(files[k % FILES].path);
			say(": the file cannot be read any more: somebody shortened it while a device used it, or its disk failed; "
				"copy it or convert the original data again\n");
			_exit(1);
		}
	}
	signal(SIGBUS, SIG_DFL); // it comes again at once
}

// Runs before Go does, which keeps what happens in Go to itself and leaves the rest to this.
__attribute__((constructor)) static void watch(void) {
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = no_file;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGBUS, &action, NULL);
}
*/
import "C"

import "unsafe"

// tellMapped says that raw is a file, for the message if it is cut short while a driver of OpenCL uses it. What Go
// reads is dataset.Guard's.
func tellMapped(raw []byte, path string) {
	// The text is never freed: a few bytes a file, and the signal may come at any time.
	C.tell_mapped(C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))), C.size_t(len(raw)), C.CString(path))
}
