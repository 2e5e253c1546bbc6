// An OpenCL driver that is at fault, for tests: FAULT, a macro, says where.
//
//	1  it aborts when it is loaded
//	2  it ends the process when it is loaded, as if all were well
//	3  it reads memory that there is not when it is asked for its platforms
//	4  it never answers when it is asked for its platforms

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FAULT
#error "define FAULT"
#endif

__attribute__((constructor)) static void load(void) {
	if (FAULT == 1) abort();
	if (FAULT == 2) exit(0);
}

// Loaders want it to be there.
int clGetPlatformInfo(void *platform, unsigned name, size_t size, void *value, size_t *wanted) { return -1; }

int clIcdGetPlatformIDsKHR(unsigned most, void *platforms, unsigned *count) {
	if (FAULT == 3) raise(SIGSEGV);
	for (;;) pause();
}

void *clGetExtensionFunctionAddress(const char *name) {
	return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)clIcdGetPlatformIDsKHR;
}
