//go:build cgo && unix

package main

/*
#define _GNU_SOURCE // REG_RIP
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// What the handlers know lies in one page, which a damaged library may have been mapped over.
#define FILES 16
static struct {
	struct { uintptr_t at, size; char *path; } files[FILES]; // the last that were mapped into memory
	unsigned told;
	int speaking;
	struct timespec now;
	char cache[2048]; // where PoCL keeps kernels
} known __attribute__((aligned(4096)));

static void tell_mapped(uintptr_t at, size_t size, char *path) {
	unsigned k = known.told % FILES;
	known.files[k].size = 0;
	known.files[k].at = at;
	known.files[k].path = path;
	known.files[k].size = size;
	known.told++;
}

// ask_kernel asks the kernel, by nothing that lies in memory which can be written: a damaged library overwrites the C
// library's data, and the table of its functions.
static long ask_kernel(long number, long a, long b, long c) {
#if defined(__linux__) && defined(__x86_64__)
	long answer;
	__asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return answer;
#elif defined(__linux__) && defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
	return syscall(number, a, b, c);
#endif
}

// message is what to say, at once: other threads may end the program meanwhile, as what the damage has done to the
// memory can be wrong for them too. It lies on the stack.
struct message { long size; char text[4096]; };

static void add(struct message *m, const char *text) {
	while (*text && m->size < (long)sizeof m->text) m->text[m->size++] = *text++;
}

static void say(struct message *m) {
	ask_kernel(SYS_write, STDERR_FILENO, (long)m->text, m->size); // if there is nobody to tell, that is that
}

static void leave(void) {
#ifdef SYS_exit_group
	ask_kernel(SYS_exit_group, 1, 0, 0); // all threads
#endif
	_exit(1);
}

static void look_for_cache(void) {
	const char *cache = getenv("POCL_CACHE_DIR"), *below = "", *base = getenv("XDG_CACHE_HOME");
	if (!cache) {
		cache = base ? base : getenv("HOME");
		below = base ? "/pocl/kcache" : "/.cache/pocl/kcache";
	}
	snprintf(known.cache, sizeof known.cache, "%s%s", cache ? cache : "", below);
}

// crash ends the program with a message and exit code 1. Go hands on what happens outside its own code:
// in a driver, in a kernel on the processor, in their threads.
static void crash(int number, int whole) {
	struct message m;
	m.size = 0;
	add(&m, "uma-gpu: signal ");
	switch (number) {
	case SIGABRT: add(&m, "6 (aborted)"); break;
	case SIGILL: add(&m, "4 (illegal instruction)"); break;
	case SIGBUS: add(&m, "7 (no such memory)"); break;
	default: add(&m, "11 (no such memory)");
	}
	add(&m, " in an OpenCL driver or kernel: the driver, the kernels that it has compiled and kept, or the device's memory "
		"is at fault; remove the kernels that PoCL keeps in ");
	add(&m, whole ? known.cache : "$POCL_CACHE_DIR, or in ~/.cache/pocl/kcache");
	add(&m, ", use --device cpu, or update the driver\n");
	say(&m);
	leave();
}

// caught names the file if a driver has read memory that is a file no longer. There is no way back from here.
static void caught(int number, siginfo_t *info, void *context) {
	// The kernel says whether it could write there, where a try of ours would end the program without a word.
	int whole = ask_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&known.now, 0) == 0;
	if (!whole) crash(number, whole);
	while (__atomic_exchange_n(&known.speaking, 1, __ATOMIC_SEQ_CST)) continue; // another thread of the kernel is at it
	uintptr_t at = (uintptr_t)info->si_addr;
	for (unsigned k = known.told; number == SIGBUS && k-- > 0 && known.told - k <= FILES;) {
		if (at - known.files[k % FILES].at < known.files[k % FILES].size) {
			struct message m;
			m.size = 0;
			add(&m, "uma-gpu: ");
			add(&m, known.files[k % FILES].path);
			add(&m, ": the file cannot be read any more: somebody shortened it while a device used it, or its disk failed; "
				"copy it or convert the original data again\n");
			say(&m);
			leave();
		}
	}
	crash(number, whole);
}

static void catch(int number, void (*handler)(int, siginfo_t *, void *)) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = handler;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigfillset(&a.sa_mask); // as Go has it
	sigaction(number, &a, NULL);
}

// Runs before Go does, which keeps what happens in Go to itself and leaves the rest to these.
__attribute__((constructor)) static void catch_early(void) {
	look_for_cache();
	catch(SIGSEGV, caught);
	catch(SIGBUS, caught);
	catch(SIGILL, caught);
}

// Those of Go, which come after these.
static const int shared[] = {SIGSEGV, SIGBUS, SIGILL};
static struct sigaction kept[3];

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
extern char __executable_start[] __attribute__((visibility("hidden")));
extern char etext[] __attribute__((visibility("hidden")));

// outside is caught for what happens in libraries, of drivers for instance, before Go's handlers look at it: they need
// more of the program's memory to be whole. The rest is for them.
static void outside(int number, siginfo_t *info, void *context) {
#ifdef __x86_64__
	uintptr_t at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t at = ((ucontext_t *)context)->uc_mcontext.pc;
#endif
	uintptr_t start = (uintptr_t)__executable_start, end = (uintptr_t)etext;
	if (info->si_code > 0 && at >= 4096 && !(start <= at && at < end)) caught(number, info, context);
	for (int k = 0; k < 3; k++)
		if (shared[k] == number) kept[k].sa_sigaction(number, info, context);
}
#else
static void (*const outside)(int, siginfo_t *, void *) = NULL;
#endif

static void keep(void) {
	for (int k = 0; k < 3; k++) {
		struct sigaction now;
		sigaction(shared[k], NULL, &now);
		if (!outside || now.sa_sigaction != outside) kept[k] = now;
	}
}

// SIGABRT Go hands on to nobody: it comes of memory that somebody wrote to whose it is not, and of what drivers
// take for impossible.
static void take_back(void) {
	for (int k = 0; k < 3; k++) {
		if (outside) catch(shared[k], outside);
		else sigaction(shared[k], &kept[k], NULL);
	}
	catch(SIGABRT, caught);
	look_for_cache(); // the folder that was chosen meanwhile
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
