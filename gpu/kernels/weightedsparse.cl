#pragma OPENCL FP_CONTRACT OFF
// weighted_sparse: weighted.cl for sparse examples.
//
// A tile has a second copy of its stored values, by columns, and in a column in increasing order
// of the examples, so that a chain is a walk along neighbouring places.
//
//   example   of each value: which of the tile it belongs to
//   values    of the columns
//   segments  quadruples (column, from, to, range): values from..to-1 belong to that column, and
//             to range 0 <= range < ranges. Blocks lie in one segment of a column as a whole, and
//             no two segments have the same column and range
//   a, partial, scale, classes, ranges  as in weighted.cl, with first = 0
//   BLOCK     examples of a block, 256
//
// Work-item s·groups + g, groups = ceil(classes / WIDTH), takes segment s for WIDTH classes from
// g·WIDTH on. It reads coefficients beyond those of the last, which a has room for.

__kernel void weighted_sparse(__global const int *restrict example, __global const float *restrict values,
                              __global const int *restrict segments, __global const float *restrict a,
                              __global long *restrict partial, float scale, int count, int d,
                              int classes)
{
	const int groups = (classes + WIDTH - 1) / WIDTH;
	const size_t s = get_global_id(0) / groups;
	if (s >= (size_t)count)
		return;
	const int group = (int)(get_global_id(0) % groups) * WIDTH;
	const int column = segments[4 * s], to = segments[4 * s + 2], range = segments[4 * s + 3];
	a += group;
	vec_t acc = 0.0f;
	longs_t sum = 0;
	int end = 0; // of the block
	UNROLL(4)
	for (int at = segments[4 * s + 1]; at < to; at++) {
		const int i = example[at];
		if (i >= end) {
			sum += integers_of(acc, scale);
			acc = 0.0f;
			end = (i / BLOCK + 1) * BLOCK;
		}
		acc = fma(LOAD(0, a + (size_t)i * classes), (vec_t)(values[at]), acc);
	}
	long total[WIDTH];
	STORE(sum + integers_of(acc, scale), 0, total);
	partial += ((size_t)range * classes + group) * d + column;
	FIRST(c, classes - group, WIDTH)
		partial[(size_t)c * d] += total[c];
}
