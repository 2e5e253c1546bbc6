#pragma OPENCL FP_CONTRACT OFF
// score: the scores of chosen classes for every example of a tile (clause 1).
//
//   x        examples of the tile, interleaved (see contract.cl), as lanes_t
//   w        the m chosen rows of W, m×d
//   classes  the m classes they belong to, 0 <= classes[c] < Q
//   scores   written at the m chosen lines only, as lanes_t
//   blocks   lanes_t's in one line of scores, stride / VEC
//
// Work-item (b, g) computes classes 2g and 2g+1 (the last one twice where m is
// odd) for the lanes b, so that two classes cost one reading of x.
__kernel void score(__global const lanes_t *restrict x, __global const float *restrict w,
                    __global const int *restrict classes, __global lanes_t *restrict scores,
                    ulong blocks, int d, int m)
{
	const size_t b = get_global_id(0);
	if (b >= blocks)
		return;
	const int c0 = 2 * (int)get_global_id(1);
	const int c1 = min(c0 + 1, m - 1);
	__global const float *w0 = w + (size_t)c0 * d;
	__global const float *w1 = w + (size_t)c1 * d;
	// LANES / VEC work-items share a block; x advances by that many lanes_t.
	const size_t step = LANES / VEC;
	__global const lanes_t *xi = x + b / step * d * step + b % step;

	lanes_t total0 = 0.0f, total1 = 0.0f;
	for (int from = 0; from < d; from += CHUNK) {
		const int to = min(from + CHUNK, d);
		lanes_t acc0 = 0.0f, acc1 = 0.0f;
		for (int j = from; j < to; j++) {
			const lanes_t v = xi[j * step];
			acc0 = fma(v, (lanes_t)(w0[j]), acc0);
			acc1 = fma(v, (lanes_t)(w1[j]), acc1);
		}
		total0 = total0 + acc0;
		total1 = total1 + acc1;
	}
	scores[classes[c0] * blocks + b] = total0;
	scores[classes[c1] * blocks + b] = total1;
}
