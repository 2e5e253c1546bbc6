#pragma OPENCL FP_CONTRACT OFF
// score_sparse and move_sums_sparse: score.cl and sums.cl for sparse examples.
//
// Lay-out of the examples of a tile: sorted by falling number of stored values and
// cut in slices of LANES, so that the work-items of a slice have about equal
// work; within a slice the k-th stored values of its examples lie side by side.
// The k-th stored value of example r, 0 <= k < lengths[r], is at
//     (slices[r / LANES] + k) * LANES + r % LANES
// of columns (increasing in k, 0 <= column < d) and of values. The numbers r of
// this order are also those of scores and places; the host knows whose they are.
//
//   slices   where each slice begins, in units of LANES
//   lengths  stored values of each example

//   w        the m chosen rows of W in groups of WIDTH (vector.cl), transposed, the last group
//            filled up with zeros: row c of group g has in column j the value
//                w[(g * d + j) * WIDTH + c]
//   classes  the m classes they belong to
//   scores   written for the m chosen classes only
// Work-item (r, g) computes group g for the example in row r, which it reads once for WIDTH classes.
__kernel void score_sparse(__global const int *restrict columns, __global const float *restrict values,
                           __global const int *restrict slices, __global const int *restrict lengths,
                           __global const float *restrict w, __global const int *restrict classes,
                           __global float *restrict scores, int rows, int d, int Q, int m)
{
	const size_t r = get_global_id(0);
	if (r >= (size_t)rows)
		return;
	const int g = (int)get_global_id(1);
	__global const float *wg = w + (size_t)g * d * WIDTH;
	size_t at = (size_t)slices[r / LANES] * LANES + r % LANES;

	// A chunk without stored columns would add +0, which changes nothing.
	vec_t total = 0.0f, acc = 0.0f;
	uint chunk = 0;
	UNROLL(4)
	for (int k = lengths[r]; k > 0; k--, at += LANES) {
		const uint j = (uint)columns[at];
		if (j / CHUNK != chunk) {
			total += acc;
			acc = 0.0f;
			chunk = j / CHUNK;
		}
		acc = fma((vec_t)(values[at]), WHOLE(j, wg), acc);
	}
	float score[WIDTH];
	STORE(total + acc, 0, score);
	FIRST(c, m - g * WIDTH, WIDTH)
		scores[SCORE(r, classes[g * WIDTH + c])] = score[c];
}

//   list, cells, sums, scale  as in sums.cl
// Work-group c owns the cell in triple c. Its work-items share out the stored
// values of one example after the other; the columns of an example differ, and
// a barrier keeps the next example's apart from them.
__kernel void move_sums_sparse(__global const int *restrict columns, __global const float *restrict values,
                               __global const int *restrict slices, __global const int *restrict lengths,
                               __global const int *restrict list, __global const int *restrict cells,
                               __global long *restrict sums, float scale, int d)
{
	const size_t c = 3 * get_group_id(0);
	const int to = cells[c + 2];
	__global long *sum = sums + (size_t)cells[c] * d;
	for (int n = cells[c + 1]; n < to; n++) {
		const int entry = list[n];
		const size_t r = entry >= 0 ? entry : ~entry;
		const size_t base = (size_t)slices[r / LANES] * LANES + r % LANES;
		const int length = lengths[r];
		for (int k = (int)get_local_id(0); k < length; k += (int)get_local_size(0)) {
			const long q = integer_of(values[base + (size_t)k * LANES], scale);
			sum[columns[base + (size_t)k * LANES]] += entry >= 0 ? q : -q;
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
}
