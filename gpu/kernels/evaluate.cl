#pragma OPENCL FP_CONTRACT OFF
// evaluate: scores, residuals and their weighted sums of dense examples, block by block (clauses 1,
// 14 and 16), for processors: a block that was read for its scores is still in the cache of the core
// when it is summed. The host puts score.cl, residual.cl and weighted.cl before this file; they say
// what the arguments are.
//
//   w, classes  all Q classes, in groups of few classes if there are not more, else of many
//   a           room for a block of coefficients for each of the ranges
//   losses      pairs, one for each range
//   scale, loss_scale  2^s of the fixed points of weighted sums and of losses
//
// Work-item u takes the blocks of range u.

__kernel void evaluate(__global const float *restrict x, __global const float *restrict w,
                       __global const int *restrict classes, __global float *restrict scores,
                       __global const float *restrict targets,
                       __global const float *restrict weight, __global float *restrict a,
                       __global long *restrict losses, __global long *restrict partial,
                       float scale, float loss_scale, int rows, int d, int Q, int given, int ranges)
{
	const int u = (int)get_global_id(0);
	a += (size_t)u * BLOCK * Q;
	partial += (size_t)u * Q * d;
	long total = 0, refused = 0;
	for (int from = u * BLOCK; from < rows; from += ranges * BLOCK) {
		const int to = min(from + BLOCK, rows);
		if (Q <= FEW)
			NAME(score_rows_, FEW)(x, w, classes, scores, from, ROWS, to, d, Q, Q, 0);
		else
			for (int g = 0; g * MANY < Q; g++)
				NAME(score_rows_, MANY)(x, w, classes, scores, from, ROWS, to, d, Q, Q, g);
		for (int b = from / WIDTH; b * WIDTH < to; b++)
			residuals_at(b, scores, targets, weight, classes, a, from, to, Q, given, 0, loss_scale, &total, &refused);
		for (int left = 0; left < d; left += COLUMNS)
			weigh(x, a, partial, scale, from, to, left, min(left + COLUMNS, d), d, Q, Q);
	}
	losses[2 * u] += total;
	losses[2 * u + 1] += refused;
}
