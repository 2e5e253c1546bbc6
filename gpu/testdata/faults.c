// An OpenCL loader that is at fault where it is told to be, for tests: name the library in
// UMA_GPU_OPENCL_LIBRARY, or preload it. It hands all on to libOpenCL but
//
//	FAULT=fail:N       the N-th call, 1 for the first, which returns CL_OUT_OF_RESOURCES and does nothing
//	FAULT=lose:N       the N-th call and all that come later: the device is lost
//	FAULT=hang:N       the N-th call, which does not return
//	FAULT=read:N:S     a bit that is wrong in what the N-th read brings back
//	FAULT=write:N:S    a bit that is wrong in what the N-th write brings to the device
//	FAULT=memory:N:S   a bit of one of the buffers there are, which turns after the N-th launch of a kernel
//
// S, a number, says which bit (and buffer). With read+, write+ and memory+ a bit is wrong each time from then on.
// FAULT may change between two calls: counting then begins anew. What follows another colon is nothing but
// another value. FAULT_LOG names a file that has a line for each call appended.

#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char now[64];               // FAULT as it was at the last call
static char kind[16];
static int lasts;                  // from the N-th on
static long at, calls;             // N; calls so far
static long reads, writes, launches;
static uint64_t seed;

// look reads FAULT, if it has changed.
static void look(void) {
	const char *fault = getenv("FAULT");
	if (!fault) fault = "";
	if (!strncmp(fault, now, sizeof now - 1)) return;
	strncpy(now, fault, sizeof now - 1);
	kind[0] = 0;
	at = calls = reads = writes = launches = 0;
	seed = 0;
	sscanf(now, "%15[a-z+]:%ld:%lu", kind, &at, &seed);
	size_t length = strlen(kind);
	lasts = length && kind[length - 1] == '+';
	if (lasts) kind[length - 1] = 0;
	seed = (seed + 1) * 0x9e3779b97f4a7c15u;
	seed ^= seed >> 29;
	seed *= 0xbf58476d1ce4e5b9u;
	seed ^= seed >> 32;
}

// fails counts a call and says whether it is to fail.
static int fails(const char *name) {
	static int log_to = -2;
	pthread_mutex_lock(&lock);
	look();
	long n = ++calls;
	int f = !strcmp(kind, "fail") ? n == at : !strcmp(kind, "lose") && n >= at;
	if (log_to == -2) {
		const char *path = getenv("FAULT_LOG");
		log_to = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	}
	pthread_mutex_unlock(&lock);
	if (log_to >= 0) dprintf(log_to, "%ld %s%s\n", n, name, f ? " fails" : "");
	while (!strcmp(kind, "hang") && n == at) pause();
	return f;
}

// due counts what a kind of fault concerns and says whether it is at fault.
static int due(const char *what, long *count) {
	pthread_mutex_lock(&lock);
	long n = ++*count;
	int d = !strcmp(kind, what) && (lasts ? n >= at : n == at);
	pthread_mutex_unlock(&lock);
	return d;
}

static void turn(void *bytes, size_t size) {
	if (size) ((unsigned char *)bytes)[seed / 8 % size] ^= 1 << seed % 8;
}

// Buffers there are, by the order of their making.
#define MOST 4096
static struct { cl_mem mem; size_t size; } buffers[MOST];
static int made;

#define REAL(name) \
	static __typeof__(&name) real; \
	if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define INT(name, params, args) \
	cl_int CL_API_CALL name params { \
		REAL(name); \
		return fails(#name) ? CL_OUT_OF_RESOURCES : real args; \
	}
#define PTR(type, name, params, args) \
	type CL_API_CALL name params { \
		REAL(name); \
		if (!fails(#name)) return real args; \
		if (err) *err = CL_OUT_OF_RESOURCES; \
		return NULL; \
	}

INT(clGetPlatformIDs, (cl_uint a, cl_platform_id *b, cl_uint *c), (a, b, c))
INT(clGetPlatformInfo, (cl_platform_id a, cl_platform_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))
INT(clGetDeviceIDs, (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id *d, cl_uint *e), (a, b, c, d, e))
INT(clGetDeviceInfo, (cl_device_id a, cl_device_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))
INT(clReleaseContext, (cl_context a), (a))
INT(clReleaseCommandQueue, (cl_command_queue a), (a))
INT(clReleaseProgram, (cl_program a), (a))
INT(clReleaseKernel, (cl_kernel a), (a))
INT(clReleaseEvent, (cl_event a), (a))
INT(clBuildProgram,
    (cl_program a, cl_uint b, const cl_device_id *c, const char *d, void(CL_CALLBACK *e)(cl_program, void *), void *f),
    (a, b, c, d, e, f))
INT(clGetProgramBuildInfo,
    (cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void *e, size_t *f), (a, b, c, d, e, f))
INT(clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d))
INT(clGetKernelInfo, (cl_kernel a, cl_kernel_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))
INT(clGetKernelWorkGroupInfo,
    (cl_kernel a, cl_device_id b, cl_kernel_work_group_info c, size_t d, void *e, size_t *f), (a, b, c, d, e, f))
INT(clWaitForEvents, (cl_uint a, const cl_event *b), (a, b))
INT(clFinish, (cl_command_queue a), (a))
INT(clEnqueueFillBuffer,
    (cl_command_queue a, cl_mem b, const void *c, size_t d, size_t e, size_t f, cl_uint g, const cl_event *h,
     cl_event *i),
    (a, b, c, d, e, f, g, h, i))
PTR(cl_context, clCreateContext,
    (const cl_context_properties *a, cl_uint b, const cl_device_id *c,
     void(CL_CALLBACK *d)(const char *, const void *, size_t, void *), void *e, cl_int *err),
    (a, b, c, d, e, err))
PTR(cl_command_queue, clCreateCommandQueue,
    (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int *err), (a, b, c, err))
PTR(cl_program, clCreateProgramWithSource, (cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *err),
    (a, b, c, d, err))
PTR(cl_kernel, clCreateKernel, (cl_program a, const char *b, cl_int *err), (a, b, err))

cl_mem CL_API_CALL clCreateBuffer(cl_context a, cl_mem_flags b, size_t size, void *host, cl_int *err) {
	REAL(clCreateBuffer);
	if (fails("clCreateBuffer")) {
		if (err) *err = CL_OUT_OF_RESOURCES;
		return NULL;
	}
	cl_mem m = real(a, b, size, host, err);
	pthread_mutex_lock(&lock);
	if (m && made < MOST && !(b & CL_MEM_USE_HOST_PTR)) { // those are the host's memory
		buffers[made].mem = m;
		buffers[made++].size = size;
	}
	pthread_mutex_unlock(&lock);
	return m;
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem m) {
	REAL(clReleaseMemObject);
	if (fails("clReleaseMemObject")) return CL_OUT_OF_RESOURCES;
	pthread_mutex_lock(&lock);
	for (int k = 0; k < made; k++)
		if (buffers[k].mem == m) {
			memmove(buffers + k, buffers + k + 1, (--made - k) * sizeof *buffers);
			break;
		}
	pthread_mutex_unlock(&lock);
	return real(m);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t size, void *to,
                                       cl_uint g, const cl_event *h, cl_event *i) {
	REAL(clEnqueueReadBuffer);
	if (fails("clEnqueueReadBuffer")) return CL_OUT_OF_RESOURCES;
	int wrong = due("read", &reads);
	cl_int err = real(a, b, c || wrong, d, size, to, g, h, i);
	if (wrong && err == CL_SUCCESS) turn(to, size);
	return err;
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t size,
                                        const void *from, cl_uint g, const cl_event *h, cl_event *i) {
	REAL(clEnqueueWriteBuffer);
	if (fails("clEnqueueWriteBuffer")) return CL_OUT_OF_RESOURCES;
	if (!due("write", &writes)) return real(a, b, c, d, size, from, g, h, i);
	void *copy = malloc(size);
	memcpy(copy, from, size);
	turn(copy, size);
	cl_int err = real(a, b, CL_TRUE, d, size, copy, g, h, i);
	free(copy);
	return err;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e,
                                          const size_t *f, cl_uint g, const cl_event *h, cl_event *i) {
	REAL(clEnqueueNDRangeKernel);
	if (fails("clEnqueueNDRangeKernel")) return CL_OUT_OF_RESOURCES;
	cl_int err = real(a, b, c, d, e, f, g, h, i);
	if (!due("memory", &launches) || err != CL_SUCCESS || !made) return err;
	__typeof__(&clEnqueueReadBuffer) get;
	__typeof__(&clEnqueueWriteBuffer) put;
	*(void **)&get = dlsym(RTLD_NEXT, "clEnqueueReadBuffer");
	*(void **)&put = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
	unsigned char byte;
	int k = seed / 64 % made;
	size_t place = seed / 8 % buffers[k].size;
	if (get(a, buffers[k].mem, CL_TRUE, place, 1, &byte, 0, NULL, NULL) == CL_SUCCESS) {
		byte ^= 1 << seed % 8;
		put(a, buffers[k].mem, CL_TRUE, place, 1, &byte, 0, NULL, NULL);
	}
	return CL_SUCCESS;
}
