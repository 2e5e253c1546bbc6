#pragma OPENCL FP_CONTRACT OFF
// score_sparse_wide: the scores of many classes for all sparse examples of a tile (clause 1), as
// evaluations want them. It reads an example once for WIDTH classes (vector.cl).
//
//   columns, values, slices, lengths  as in sparse.cl
//   w        the m chosen rows of W in groups of WIDTH, transposed, the last group filled up with
//            zeros: row c of group g has in column j the value w[(g * d + j) * WIDTH + c]
//   classes  the m classes they belong to
// Work-item (r, g) computes group g for the example in row r.
__kernel void score_sparse_wide(__global const int *restrict columns, __global const float *restrict values,
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
	for (int k = lengths[r]; k > 0; k--, at += LANES) {
		const uint j = (uint)columns[at];
		if (j / CHUNK != chunk) {
			total += acc;
			acc = 0.0f;
			chunk = j / CHUNK;
		}
		acc = fma((vec_t)(values[at]), LOAD(j, wg), acc);
	}
	float score[WIDTH];
	STORE(total + acc, 0, score);
	for (int c = 0; c < WIDTH && g * WIDTH + c < m; c++)
		scores[SCORE(r, classes[g * WIDTH + c])] = score[c];
}
