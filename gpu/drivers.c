//go:build cgo && !noopencl

// Asks the OpenCL drivers what they are, in a process of their own: this program, started once more with a
// library's name in UMA_GPU_ASK_DRIVERS. It does so before Go begins, so that nothing but drivers runs in it, and
// ends by ASKED, unless a driver ends it.

#include <CL/cl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define ASKING "uma-gpu asks the drivers\n" // see drivers.go
#define ASKED 75

const char *uma_load_opencl(const char *library);

// ask has OpenCL do what Devices wants of it. Errors are for those to find who can tell them.
static void ask(const char *library) {
	static const cl_device_info infos[] = {
		CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_TYPE, CL_DEVICE_VERSION, CL_DRIVER_VERSION, CL_DEVICE_GLOBAL_MEM_SIZE,
		CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_SINGLE_FP_CONFIG,
		CL_DEVICE_HOST_UNIFIED_MEMORY,
	};
	cl_platform_id platforms[64];
	cl_device_id devices[64];
	cl_uint p = 0, d, most = 64;
	char text[4096];
	if (uma_load_opencl(library) || clGetPlatformIDs(most, platforms, &p)) return;
	for (cl_uint i = 0; i < p && i < most; i++) {
		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof text, text, NULL);
		d = 0;
		if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, most, devices, &d)) continue;
		for (cl_uint j = 0; j < d && j < most; j++)
			for (size_t k = 0; k < sizeof infos / sizeof *infos; k++)
				clGetDeviceInfo(devices[j], infos[k], sizeof text, text, NULL);
	}
}

__attribute__((constructor)) static void answer(void) {
	const char *library = getenv("UMA_GPU_ASK_DRIVERS");
	if (!library) return;
	if (write(STDOUT_FILENO, ASKING, sizeof ASKING - 1) < 0) _exit(0);
	int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
	for (size_t k = 0; k < sizeof deadly / sizeof *deadly; k++) signal(deadly[k], SIG_DFL); // whoever took them
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	ask(library);
	_exit(ASKED);
}
