#pragma OPENCL FP_CONTRACT OFF
// score_4 and score_16: the scores of chosen classes for all examples of a tile (clause 1).
// The host puts this file into the program once for each number of CLASSES that a
// work-item computes at once. One reading of an example serves them all, and the
// classes of a group lie side by side in w.
//
//   x        examples of the tile (see contract.cl)
//   w        the m chosen rows of W in groups of CLASSES, transposed, the last group
//            filled up with zeros: row c of group g has in column j the value
//                w[(g * d + j) * CLASSES + c]
//   classes  the m classes they belong to, 0 <= classes[c] < Q
//   scores   written for the m chosen classes only
//
// Work-item (u, g) computes group g for ROWS examples at a time on a CPU, whose fma
// needs several sums under way to be busy. On a GPU work-group (g, t) computes it for
// examples t·GROUP and more, one a work-item: those of the same examples run side by side,
// and all but the first find these in a cache.
//
// Macros, given by the host (gpu/kernels.go):
//   ROWS   on a CPU, as above: 8
//   GROUP  on a GPU, work-items in a work-group, a power of two
//   WIDTH  on a GPU, columns that a work-group reads at once, a power of two, at most GROUP

#if !defined(ROWS) || !defined(GROUP) || !defined(WIDTH)
#error "the host must define ROWS, GROUP and WIDTH"
#endif

#define vec_t NAME(float, CLASSES)

#if CPU

#if ROWS != 8
#error "ROWS must be 8, as in EACH_ROW"
#endif
#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

// The rows that are fetched while others are computed.
#define AHEAD (2 * ROWS)

#define ROW(u) (size_t)min(u, end - 1)
#define BEGIN_ROW(k)                                                            \
	__global const x_t *x##k = x + ROW(first + k) * d;                      \
	const size_t next##k = (size_t)(x + ROW(first + AHEAD + k) * d);        \
	vec_t total##k = 0.0f;
#if NARROW
// A chunk of each row is prepared at a time.
#define BEGIN_CHUNK(k)                                                          \
	prepare(part + k * CHUNK, x##k + from, map + from, to - from, d, least, unit##k); \
	vec_t acc##k = 0.0f;
#define UNIT(k) const float unit##k = unit[min(first + k, end - 1)];
#define VALUE(k) part[k * CHUNK + j - from]
#else
#define BEGIN_CHUNK(k) vec_t acc##k = 0.0f;
#define UNIT(k)
#define VALUE(k) x##k[j]
#endif
#define FETCH_NEXT(k) FETCH(next##k + sizeof(x_t) * j);
#define STEP(k) acc##k = fma((vec_t)(VALUE(k)), v, acc##k);
#define END_CHUNK(k) total##k += acc##k;
#define END_ROW(k)                                                              \
	if (first + k < end) {                                                  \
		const int i = first + k;                                        \
		NAME(vstore, CLASSES)(total##k, 0, score);                      \
		for (int c = 0; c < mine; c++)                                  \
			scores[SCORE(i, classes[c])] = score[c];                \
	}

// score_rows is the work for group g, with the examples first to first + ROWS-1, and again step
// further on, as far as end.
void NAME(score_rows_, CLASSES)(EXAMPLES, __global const float *restrict w,
                                __global const int *restrict classes, __global float *restrict scores,
                                int first, int step, int end, int d, int Q, int m, int g)
{
	const int mine = min(CLASSES, m - g * CLASSES);
	classes += g * CLASSES;
	__global const vec_t *wg = (__global const vec_t *)w + (size_t)g * d;
	float score[CLASSES];
#if NARROW
	float part[ROWS * CHUNK];
#endif

	for (; first < end; first += step) {
		EACH_ROW(BEGIN_ROW)
		EACH_ROW(UNIT)
		for (int from = 0; from < d; from += CHUNK) {
			const int to = min(from + CHUNK, d);
			EACH_ROW(BEGIN_CHUNK)
			for (int j = from; j < to; j++) {
				const vec_t v = wg[j];
				if (j % (64 / sizeof(x_t)) == 0) {
					EACH_ROW(FETCH_NEXT)
				}
				EACH_ROW(STEP)
			}
			EACH_ROW(END_CHUNK)
		}
		EACH_ROW(END_ROW)
	}
}

__kernel void NAME(score_, CLASSES)(EXAMPLES, __global const float *restrict w,
                                    __global const int *restrict classes, __global float *restrict scores,
                                    int rows, int d, int Q, int m)
{
	const int first = ROWS * (int)get_global_id(0);
	NAME(score_rows_, CLASSES)(THE_EXAMPLES, w, classes, scores, first, ROWS * (int)get_global_size(0), rows,
	                           d, Q, m, (int)get_global_id(1));
}

#undef EACH_ROW
#undef AHEAD
#undef ROW
#undef BEGIN_ROW
#undef BEGIN_CHUNK
#undef UNIT
#undef VALUE
#undef FETCH_NEXT
#undef STEP
#undef END_CHUNK
#undef END_ROW

#else

// A work-group of GROUP reads its examples WIDTH columns at a time, so that
// neighbouring work-items read neighbouring columns, and each work-item finds its
// own example in local memory, in lines one longer than WIDTH to spread the banks.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void NAME(score_, CLASSES)(EXAMPLES, __global const float *restrict w,
                           __global const int *restrict classes, __global float *restrict scores,
                           int rows, int d, int Q, int m)
{
	__local float part[GROUP * (WIDTH + 1)];
	const int l = (int)get_local_id(0);
	const int g = (int)get_group_id(0);
	const int u = (int)get_global_id(1) * GROUP + l; // its example; u - l is the first one of the group
	__global const vec_t *wg = (__global const vec_t *)w + (size_t)g * d;

	vec_t total = 0.0f;
	for (int from = 0; from < d; from += CHUNK) {
		const int to = min(from + CHUNK, d);
		vec_t acc = 0.0f;
		for (int j = from; j < to; j += WIDTH) {
			const int width = min(WIDTH, to - j);
			barrier(CLK_LOCAL_MEM_FENCE);
			const int column = l % WIDTH;
			UNROLL(8)
			for (int k = 0; k < WIDTH; k++) {
				const int r = l / WIDTH + k * (GROUP / WIDTH), i = min(u - l + r, rows - 1);
				part[r * (WIDTH + 1) + column] = X(i, i, j + min(column, width - 1));
			}
			barrier(CLK_LOCAL_MEM_FENCE);
#define COLUMN(k) acc = fma((vec_t)(part[l * (WIDTH + 1) + (k)]), wg[j + (k)], acc);
			if (width == WIDTH) {
				UNROLL(8)
				for (int k = 0; k < WIDTH; k++)
					COLUMN(k)
			} else {
				for (int k = 0; k < width; k++)
					COLUMN(k)
			}
		}
		total += acc;
	}
	if (u < rows) {
		float score[CLASSES];
		NAME(vstore, CLASSES)(total, 0, score);
		FIRST(c, m - g * CLASSES, CLASSES)
			scores[SCORE(u, classes[g * CLASSES + c])] = score[c];
	}
}

#undef COLUMN
#endif

#undef vec_t
