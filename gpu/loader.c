//go:build linux && cgo && !noopencl

// Forwards every OpenCL function that the binding refers to, to the OpenCL
// loader found at run time.
//
// The binding links against libOpenCL, and a program that lists a library it
// cannot find does not even start. Because the names are defined here, the
// linker takes nothing from libOpenCL (see --as-needed in load.go), the program
// starts on every machine, and a missing loader becomes an ordinary error with
// advice in it instead of a message of the dynamic linker.
//
// The definitions are hidden: libOpenCL and the drivers must not see them.

#define _GNU_SOURCE // RTLD_DEFAULT
#include <CL/cl.h>
#include <dlfcn.h>
#include <stddef.h>

// One row per function: result type, name, parameters, arguments.
#define FUNCTIONS(INT, PTR) \
	INT(clGetPlatformIDs, (cl_uint a, cl_platform_id *b, cl_uint *c), (a, b, c)) \
	INT(clGetPlatformInfo, (cl_platform_id a, cl_platform_info b, size_t c, void *d, size_t *e), (a, b, c, d, e)) \
	INT(clGetDeviceIDs, (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id *d, cl_uint *e), (a, b, c, d, e)) \
	INT(clGetDeviceInfo, (cl_device_id a, cl_device_info b, size_t c, void *d, size_t *e), (a, b, c, d, e)) \
	INT(clReleaseContext, (cl_context a), (a)) \
	INT(clReleaseCommandQueue, (cl_command_queue a), (a)) \
	INT(clReleaseMemObject, (cl_mem a), (a)) \
	INT(clReleaseProgram, (cl_program a), (a)) \
	INT(clReleaseKernel, (cl_kernel a), (a)) \
	INT(clReleaseEvent, (cl_event a), (a)) \
	INT(clBuildProgram, \
		(cl_program a, cl_uint b, const cl_device_id *c, const char *d, \
		 void (CL_CALLBACK *e)(cl_program, void *), void *f), \
		(a, b, c, d, e, f)) \
	INT(clGetProgramBuildInfo, \
		(cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void *e, size_t *f), \
		(a, b, c, d, e, f)) \
	INT(clGetProgramInfo, (cl_program a, cl_program_info b, size_t c, void *d, size_t *e), (a, b, c, d, e)) \
	INT(clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d)) \
	INT(clGetKernelInfo, (cl_kernel a, cl_kernel_info b, size_t c, void *d, size_t *e), (a, b, c, d, e)) \
	INT(clGetKernelArgInfo, \
		(cl_kernel a, cl_uint b, cl_kernel_arg_info c, size_t d, void *e, size_t *f), \
		(a, b, c, d, e, f)) \
	INT(clGetKernelWorkGroupInfo, \
		(cl_kernel a, cl_device_id b, cl_kernel_work_group_info c, size_t d, void *e, size_t *f), \
		(a, b, c, d, e, f)) \
	INT(clWaitForEvents, (cl_uint a, const cl_event *b), (a, b)) \
	INT(clSetUserEventStatus, (cl_event a, cl_int b), (a, b)) \
	INT(clGetEventProfilingInfo, (cl_event a, cl_profiling_info b, size_t c, void *d, size_t *e), (a, b, c, d, e)) \
	INT(clFinish, (cl_command_queue a), (a)) \
	INT(clFlush, (cl_command_queue a), (a)) \
	INT(clGetSupportedImageFormats, \
		(cl_context a, cl_mem_flags b, cl_mem_object_type c, cl_uint d, cl_image_format *e, cl_uint *f), \
		(a, b, c, d, e, f)) \
	INT(clEnqueueReadBuffer, \
		(cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void *f, \
		 cl_uint g, const cl_event *h, cl_event *i), \
		(a, b, c, d, e, f, g, h, i)) \
	INT(clEnqueueWriteBuffer, \
		(cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void *f, \
		 cl_uint g, const cl_event *h, cl_event *i), \
		(a, b, c, d, e, f, g, h, i)) \
	INT(clEnqueueFillBuffer, \
		(cl_command_queue a, cl_mem b, const void *c, size_t d, size_t e, size_t f, \
		 cl_uint g, const cl_event *h, cl_event *i), \
		(a, b, c, d, e, f, g, h, i)) \
	INT(clEnqueueCopyBuffer, \
		(cl_command_queue a, cl_mem b, cl_mem c, size_t d, size_t e, size_t f, \
		 cl_uint g, const cl_event *h, cl_event *i), \
		(a, b, c, d, e, f, g, h, i)) \
	INT(clEnqueueReadImage, \
		(cl_command_queue a, cl_mem b, cl_bool c, const size_t *d, const size_t *e, size_t f, \
		 size_t g, void *h, cl_uint i, const cl_event *j, cl_event *k), \
		(a, b, c, d, e, f, g, h, i, j, k)) \
	INT(clEnqueueWriteImage, \
		(cl_command_queue a, cl_mem b, cl_bool c, const size_t *d, const size_t *e, size_t f, size_t g, \
		 const void *h, cl_uint i, const cl_event *j, cl_event *k), \
		(a, b, c, d, e, f, g, h, i, j, k)) \
	INT(clEnqueueUnmapMemObject, \
		(cl_command_queue a, cl_mem b, void *c, cl_uint d, const cl_event *e, cl_event *f), \
		(a, b, c, d, e, f)) \
	INT(clEnqueueNDRangeKernel, \
		(cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e, \
		 const size_t *f, cl_uint g, const cl_event *h, cl_event *i), \
		(a, b, c, d, e, f, g, h, i)) \
	INT(clEnqueueTask, (cl_command_queue a, cl_kernel b, cl_uint c, const cl_event *d, cl_event *e), (a, b, c, d, e)) \
	INT(clEnqueueMarkerWithWaitList, (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d)) \
	INT(clEnqueueBarrierWithWaitList, (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d)) \
	PTR(cl_context, clCreateContext, \
		(const cl_context_properties *a, cl_uint b, const cl_device_id *c, \
		 void (CL_CALLBACK *d)(const char *, const void *, size_t, void *), void *e, cl_int *err), \
		(a, b, c, d, e, err)) \
	PTR(cl_command_queue, clCreateCommandQueue, \
		(cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int *err), \
		(a, b, c, err)) \
	PTR(cl_mem, clCreateBuffer, (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *err), (a, b, c, d, err)) \
	PTR(cl_mem, clCreateImage, \
		(cl_context a, cl_mem_flags b, const cl_image_format *c, const cl_image_desc *d, void *e, cl_int *err), \
		(a, b, c, d, e, err)) \
	PTR(cl_program, clCreateProgramWithSource, \
		(cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *err), \
		(a, b, c, d, err)) \
	PTR(cl_kernel, clCreateKernel, (cl_program a, const char *b, cl_int *err), (a, b, err)) \
	PTR(cl_event, clCreateUserEvent, (cl_context a, cl_int *err), (a, err)) \
	PTR(void *, clEnqueueMapBuffer, \
		(cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, size_t e, size_t f, \
		 cl_uint g, const cl_event *h, cl_event *i, cl_int *err), \
		(a, b, c, d, e, f, g, h, i, err)) \
	PTR(void *, clEnqueueMapImage, \
		(cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, const size_t *e, const size_t *f, size_t *g, \
		 size_t *h, cl_uint i, const cl_event *j, cl_event *k, cl_int *err), \
		(a, b, c, d, e, f, g, h, i, j, k, err))

// Before uma_load_opencl has succeeded every function fails with this code.
#define NOT_LOADED CL_INVALID_OPERATION
#define HIDDEN __attribute__((visibility("hidden")))

#define DEFINE_INT(name, params, args) \
	static cl_int (CL_API_CALL *real_##name) params; \
	HIDDEN cl_int CL_API_CALL name params { return real_##name ? real_##name args : NOT_LOADED; }
#define DEFINE_PTR(type, name, params, args) \
	static type (CL_API_CALL *real_##name) params; \
	HIDDEN type CL_API_CALL name params { \
		if (real_##name) return real_##name args; \
		if (err) *err = NOT_LOADED; \
		return NULL; \
	}
FUNCTIONS(DEFINE_INT, DEFINE_PTR)

// uma_load_opencl finds the OpenCL loader and returns NULL, or a message that
// stays valid. A library that was loaded before the program (LD_PRELOAD, as
// oclgrind does) comes first. Call it once, before any other function.
HIDDEN const char *uma_load_opencl(const char *library) {
	void *from = RTLD_DEFAULT;
	if (!dlsym(from, "clGetPlatformIDs")) {
		from = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
		if (!from) return dlerror();
	}
#define RESOLVE_INT(name, params, args) \
	*(void **)&real_##name = dlsym(from, #name); \
	if (!real_##name) return "it lacks the function " #name;
#define RESOLVE_PTR(type, name, params, args) RESOLVE_INT(name, params, args)
	FUNCTIONS(RESOLVE_INT, RESOLVE_PTR)
	return NULL;
}
