/* What the machine can do at most: peak [THREADS] prints "G B", the rate of float32 fused
 * multiply-adds in registers, two operations each, in GFLOP/s, and that of reading memory in
 * GB/s. All threads (as many as processors) work at once, in short turns; the best turn counts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 100, CHAINS = 24, STEPS = 200000 };
static const size_t bytes = (size_t)192 << 20;
static char *memory;
static long threads;
static pthread_barrier_t barrier;
static double flops, rate;
static volatile float sink;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* As many chains as hide the latency of an fma, and their code for vectors of LANES. */
#define LEVEL(NAME, TARGET, LANES)                                                                                \
	typedef float NAME##_vector __attribute__((vector_size(4 * LANES)));                                      \
	__attribute__((target(TARGET), optimize("fp-contract=fast"))) static void NAME##_multiply(void)           \
	{                                                                                                         \
		NAME##_vector a[CHAINS] = {}, x = {}, y = {}, sum = {};                                           \
		x += 1.0f, y += 0.5f;                                                                             \
		for (int i = 0; i < CHAINS; i++)                                                                  \
			a[i] += (float)i;                                                                         \
		for (long k = 0; k < STEPS; k++)                                                                  \
			_Pragma("GCC unroll 24") for (int i = 0; i < CHAINS; i++) a[i] = a[i] * y + x;            \
		for (int i = 0; i < CHAINS; i++)                                                                  \
			sum += a[i];                                                                              \
		sink = sum[0];                                                                                    \
	}                                                                                                         \
	__attribute__((target(TARGET))) static void NAME##_read(const char *from, size_t n)                       \
	{                                                                                                         \
		NAME##_vector a[4] = {};                                                                          \
		const NAME##_vector *v = (const void *)from;                                                      \
		for (size_t k = 0; k < n / sizeof *v; k += 4)                                                     \
			for (int i = 0; i < 4; i++)                                                               \
				a[i] += v[k + i];                                                                 \
		sink = (a[0] + a[1] + a[2] + a[3])[0];                                                            \
	}
LEVEL(avx512, "avx512f", 16)
LEVEL(avx2, "avx2,fma", 8)

static int wide;

static void *work(void *number)
{
	const long id = (long)number;
	const char *own = memory + bytes / threads / 4096 * 4096 * id;
	for (int turn = 0; turn < TURNS; turn++) {
		double start = now(); /* before the others are there: no turn looks shorter than it is */
		pthread_barrier_wait(&barrier);
		wide ? avx512_multiply() : avx2_multiply();
		pthread_barrier_wait(&barrier);
		double best = 2.0 * (wide ? 16 : 8) * CHAINS * STEPS * threads / (now() - start) / 1e9;
		if (id == 0 && best > flops)
			flops = best;
		start = now();
		pthread_barrier_wait(&barrier);
		size_t n = bytes / threads / 4096 * 4096;
		wide ? avx512_read(own, n) : avx2_read(own, n);
		pthread_barrier_wait(&barrier);
		best = n * threads / (now() - start) / 1e9;
		if (id == 0 && best > rate)
			rate = best;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	threads = argc > 1 ? atol(argv[1]) : sysconf(_SC_NPROCESSORS_ONLN);
	memory = aligned_alloc(4096, bytes);
	if (!memory || threads < 1 || !__builtin_cpu_supports("fma"))
		return fputs("peak: wanted memory, at least one thread and a processor with fma\n", stderr), 1;
	wide = __builtin_cpu_supports("avx512f");
	memset(memory, 0, bytes);
	pthread_barrier_init(&barrier, NULL, threads);
	pthread_t *all = calloc(threads, sizeof *all);
	for (long i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)i);
	for (long i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	printf("%.1f %.1f\n", flops, rate);
	return 0;
}
