#pragma OPENCL FP_CONTRACT OFF
// weighted: weighted sums of dense examples (clause 14). A chain of fma over the examples of a
// block, in order, for each class and column; then an integer.
//
//   x        examples of the tile (see contract.cl)
//   a        coefficients of examples first..end-1: for example i and class c, 0 <= c < classes,
//            is a[(i - first) * classes + c]
//   partial  added to: the sum of range u for class c in column j is
//                partial[((size_t)u * classes + c) * d + j]
//   first    a multiple of BLOCK: where the blocks begin that are to be summed. They end at end
//   ranges   block b belongs to range b % ranges, so that each cell of partial has one owner
//   scale    2^s of the fixed point
//
//   BLOCK    examples of a block, 256
//   COLUMNS  on a CPU, columns that a work-item takes, a multiple of 64
//
// On a GPU the file is there once for each number of CLASSES that are summed at once: weighted_16 and
// weighted_64.

#if CPU

#ifndef COLUMNS
#error "the host must define COLUMNS"
#endif

// As many chains at a time as there are registers for: AT_ONCE classes by VECTORS vectors of
// columns. If the classes or the columns at the end do not fill them, some are computed twice;
// they are added once.
#define AT_ONCE 5
#define EACH_CLASS(F, v) F(0, v) F(1, v) F(2, v) F(3, v) F(4, v)
#if WIDTH == 16 // and 32 registers; else 16
#define EACH_VECTOR(F) F(0) F(1) F(2) F(3)
#define TILE (4 * WIDTH)
#else
#define EACH_VECTOR(F) F(0) F(1)
#define TILE (2 * WIDTH)
#endif
#define ONE_VECTOR(F) F(0)

#define CLASS(c, v) const int class##c = min(group + c, classes - 1);
#define BEGIN(c, v) vec_t acc##c##_##v = 0.0f;
#define BEGIN_ALL(v) EACH_CLASS(BEGIN, v)
#define STEP(c, v) acc##c##_##v = fma((vec_t)(ai[class##c]), x##v, acc##c##_##v);
#define STEP_ALL(v)                                                             \
	const vec_t x##v = LOAD(v, xi);                                         \
	EACH_CLASS(STEP, v)
#define END(c, v)                                                               \
	if (group + c < classes)                                                \
		add(acc##c##_##v, out + (size_t)(group + c) * d + v * WIDTH, skip, count, scale);
#define END_ALL(v) EACH_CLASS(END, v)
// The chains of AT_ONCE classes over the rows that begin at xi, so far apart.
#define CHAINS(EACH, pitch)                                                     \
	EACH(BEGIN_ALL)                                                         \
	for (int i = from; i < to; i++, xi += (pitch), ai += classes) {               \
		EACH(STEP_ALL)                                                  \
	}                                                                       \
	EACH(END_ALL)

// add adds the integers of values skip..count-1 of a vector.
void add(vec_t acc, __global long *out, int skip, int count, float scale)
{
	if (skip == 0 && count >= WIDTH) {
		STORE(LOAD(0, out) + integers_of(acc, scale), 0, out);
		return;
	}
	float part[WIDTH];
	STORE(acc, 0, part);
	for (int k = skip; k < min(count, WIDTH); k++)
		out[k] += integer_of(part[k], scale);
}

// weigh adds the weighted sums of examples from..to-1, a block, in columns left..right-1 for so
// many classes to sums, whose rows are the classes. a begins with the coefficient of the first
// example for the first class.
void weigh(__global const float *restrict x, __global const float *restrict a,
           __global long *restrict sums, float scale, int from, int to, int left, int right, int d, int classes)
{
	// Fewer columns than a vector has.
	float part[BLOCK * WIDTH];
	if (d < WIDTH)
		for (int k = 0; k < BLOCK * WIDTH; k++)
			part[k] = 0.0f;

	for (int j = left; j < right;) {
		const int whole = j + TILE <= right;
		const int columns = whole ? TILE : WIDTH;
		const int start = max(min(j, d - columns), 0), skip = j - start, count = min(columns, d);
		if (d < WIDTH)
			for (int i = from; i < to; i++)
				for (int k = 0; k < d; k++)
					part[(i - from) * WIDTH + k] = x[(size_t)i * d + k];
		for (int group = 0; group < classes; group += AT_ONCE) {
			EACH_CLASS(CLASS, 0)
			__global const float *ai = a;
			__global long *out = sums + start;
			if (d >= WIDTH) {
				__global const float *xi = x + (size_t)from * d + start;
				if (whole) {
					CHAINS(EACH_VECTOR, d)
				} else {
					CHAINS(ONE_VECTOR, d)
				}
				continue;
			}
			const float *xi = part;
			CHAINS(ONE_VECTOR, WIDTH)
		}
		j += columns;
	}
}

// Work-item (v, u) takes COLUMNS columns from v·COLUMNS on, for the blocks of range u.
__kernel void weighted(__global const float *restrict x, __global const float *restrict a,
                       __global long *restrict partial, float scale, int first, int end,
                       int d, int classes, int ranges)
{
	const int left = COLUMNS * (int)get_global_id(0);
	const int u = (int)get_global_id(1);
	partial += (size_t)u * classes * d;
	for (int from = first + u * BLOCK; from < end; from += ranges * BLOCK)
		weigh(x, a + (size_t)(from - first) * classes, partial, scale, from, min(from + BLOCK, end),
		      left, min(left + COLUMNS, d), d, classes);
}

#else

// A step is an example, a row of the tile a column, a column of it a class (tile.cl).
#define STEP_A(m, i) (int)((m) / (TALL / VEC))
#define ROW_A(m, i) (int)((m) % (TALL / VEC) * VEC + (i))
#define A x
#define A_PITCH d
#define AT_A(s, r) ((size_t)(s) * d + min(left + (r), d - 1))
#define KEEP_A(v, is) v
#define B a
#define B_PITCH classes
#define AT_B(s, c) ((size_t)(s) * classes + min(group + (c), classes - 1))

// Work-group (v, u·groups + g) takes columns v·TALL and more for the g-th BROAD classes, and the
// blocks of range u. Groups of one range run together: its examples are soon in a cache.
TILE_KERNEL
void NAME(weighted_, CLASSES)(__global const float *restrict x, __global const float *restrict a,
                              __global long *restrict partial, float scale, int first, int end,
                       int d, int classes, int ranges)
{
	TILE
	const int left = (int)get_group_id(0) * TALL;
	const int groups = (classes + BROAD - 1) / BROAD;
	const int u = (int)get_global_id(1) / groups;
	const int group = (int)get_global_id(1) % groups * BROAD;
	partial += (size_t)u * classes * d;
	x += (size_t)first * d;

	for (int from = first + u * BLOCK; from < end; from += ranges * BLOCK) {
		SUM(from - first, min(from + BLOCK, end) - first)
		EACH_SUM {
			const int j = left + MY_ROW(k), c = group + MY_COLUMN(v);
			float sum[4];
			vstore4(acc[k][v], 0, sum);
			if (j < d)
				FIRST(n, classes - c, 4)
					partial[(size_t)(c + n) * d + j] += integer_of(sum[n], scale);
		}
	}
}

#endif
