#pragma OPENCL FP_CONTRACT OFF
// score_4, score_16 and, on a GPU, score_64: the scores of chosen classes for all examples of a
// tile (clause 1). The host puts this file into the program once for each number of CLASSES that are
// computed at once. One reading of an example serves them all, and the classes of a group lie side by
// side in w.
//
//   x        examples of the tile (see contract.cl)
//   w        the m chosen rows of W in groups of CLASSES, transposed, the last group
//            filled up with zeros: row c of group g has in column j the value
//                w[(g * d + j) * CLASSES + c]
//   classes  the m classes they belong to, 0 <= classes[c] < Q
//   scores   written for the m chosen classes only
//
// Work-item (u, g) computes group g for ROWS examples at a time on a CPU, whose fma
// needs several sums under way to be busy. On a GPU work-group (g, t) computes BROAD classes for
// examples t·TALL and more (tile.cl): those of the same examples run side by side, and all but the
// first find these in a cache.

#if CPU

#define vec_t NAME(float, CLASSES)
#if ROWS != 8
#error "the host must define ROWS as 8, as in EACH_ROW"
#endif
#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

// The rows that are fetched while others are computed.
#define AHEAD (2 * ROWS)

#define ROW(u) (size_t)min(u, end - 1)
#define BEGIN_ROW(k)                                                            \
	__global const float *x##k = x + ROW(first + k) * d;                      \
	const size_t next##k = (size_t)(x + ROW(first + AHEAD + k) * d);        \
	vec_t total##k = 0.0f;
#define BEGIN_CHUNK(k) vec_t acc##k = 0.0f;
#define FETCH_NEXT(k) FETCH(next##k + sizeof(float) * j);
#define STEP(k) acc##k = fma((vec_t)(x##k[j]), v, acc##k);
#define END_CHUNK(k) total##k += acc##k;
#define END_ROW(k)                                                              \
	if (first + k < end) {                                                  \
		const int i = first + k;                                        \
		NAME(vstore, CLASSES)(total##k, 0, score);                      \
		for (int c = 0; c < mine; c++)                                  \
			scores[SCORE(i, classes[c])] = score[c];                \
	}

__kernel void NAME(score_, CLASSES)(__global const float *restrict x, __global const float *restrict w,
                                    __global const int *restrict classes, __global float *restrict scores,
                                    int rows, int d, int Q, int m)
{
	const int end = rows, step = ROWS * (int)get_global_size(0), g = (int)get_global_id(1);
	const int mine = min(CLASSES, m - g * CLASSES);
	classes += g * CLASSES;
	__global const vec_t *wg = (__global const vec_t *)w + (size_t)g * d;
	float score[CLASSES];

	for (int first = ROWS * (int)get_global_id(0); first < end; first += step) {
		EACH_ROW(BEGIN_ROW)
		for (int from = 0; from < d; from += CHUNK) {
			const int to = min(from + CHUNK, d);
			EACH_ROW(BEGIN_CHUNK)
			for (int j = from; j < to; j++) {
				const vec_t v = wg[j];
				if (j % (64 / sizeof(float)) == 0) {
					EACH_ROW(FETCH_NEXT)
				}
				EACH_ROW(STEP)
			}
			EACH_ROW(END_CHUNK)
		}
		EACH_ROW(END_ROW)
	}
}

#undef vec_t
#undef EACH_ROW
#undef AHEAD
#undef ROW
#undef BEGIN_ROW
#undef BEGIN_CHUNK
#undef FETCH_NEXT
#undef STEP
#undef END_CHUNK
#undef END_ROW

#else

// A step is a column, a row of the tile an example (tile.cl).
#define STEP_A(m, i) (int)((m) % (STEPS / VEC) * VEC + (i))
#define ROW_A(m, i) (int)((m) / (STEPS / VEC))
#define A tile
#define A_PITCH 1
#define AT_A(s, r) ((size_t)min(r, rows - 1 - first) * d + (s))
#define KEEP_A(v, is) v
#define B wg
#define B_PITCH CLASSES
#define AT_B(s, c) ((s) * CLASSES + (c))

TILE_KERNEL
void NAME(score_, CLASSES)(__global const float *restrict x, __global const float *restrict w,
                           __global const int *restrict classes, __global float *restrict scores,
                           int rows, int d, int Q, int m)
{
	TILE
	const int column = (int)get_group_id(0) * BROAD;
	const int first = (int)get_global_id(1) * TALL;
	__global const float *tile = x + (size_t)first * d;
	__global const float *wg = w + (size_t)(column / CLASSES) * d * CLASSES + column % CLASSES;

	// The totals of chunks lie where they are written: registers are for the sums.
	for (int from = 0; from < d; from += CHUNK) {
		SUM(from, min(from + CHUNK, d))
		EACH_SUM {
			const int i = first + MY_ROW(k), c = column + MY_COLUMN(v);
			__global float *line = scores + SCORE(i, 0);
			float sum[4];
			vstore4(acc[k][v], 0, sum);
			if (i < rows)
				FIRST(n, m - c, 4) {
					__global float *score = line + (size_t)classes[c + n] * LANES;
					*score = (from > 0 ? *score : 0.0f) + sum[n];
				}
		}
	}
}

#endif
