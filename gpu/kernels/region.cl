#pragma OPENCL FP_CONTRACT OFF
// predict and assign: from scores to predictions and regions (clause 4).
//
//   scores  Q lines of the tile (see contract.cl)
//   stride  length of a line
//   rows    examples of the tile
//
// Work-item i takes example i.

// predict_one scans classes upwards: prediction, and margin to the runner-up.
int predict_one(__global const float *scores, ulong stride, int Q, size_t i, float *margin)
{
	float best = -INFINITY, second = -INFINITY;
	int class = 0;
	for (int r = 0; r < Q; r++) {
		const float s = scores[r * stride + i];
		if (s > best) {
			second = best;
			best = s;
			class = r;
		} else if (s > second) {
			second = s;
		}
	}
	*margin = best - second;
	return class;
}

//   prediction  written, one class per example
__kernel void predict(__global const float *restrict scores, __global int *restrict prediction,
                      ulong stride, int rows, int Q)
{
	const size_t i = get_global_id(0);
	if (i >= (size_t)rows)
		return;
	float margin;
	prediction[i] = predict_one(scores, stride, Q, i, &margin);
}

//   place  what the last assignment said of each example: 2·prediction, plus 1 if
//          its margin reached alpha, which puts it in the region; -1 before the
//          first. Brought up to date.
//   moved  room for rows triples (example, old place, new place); written for the
//          examples whose place changed, in no particular order
//   count  one int, 0 before the call: how many triples were written
__kernel void assign(__global const float *restrict scores, __global int *restrict place,
                     __global int *restrict moved, volatile __global int *restrict count,
                     ulong stride, int rows, int Q, float alpha)
{
	const size_t i = get_global_id(0);
	if (i >= (size_t)rows)
		return;
	float margin;
	const int p = predict_one(scores, stride, Q, i, &margin);
	const int now = 2 * p + (margin >= alpha ? 1 : 0);
	const int before = place[i];
	if (now != before) {
		const size_t at = 3 * (size_t)atomic_inc(count);
		moved[at] = (int)i;
		moved[at + 1] = before;
		moved[at + 2] = now;
		place[i] = now;
	}
}
