#pragma OPENCL FP_CONTRACT OFF
// predict and assign: from scores to predictions and regions (clause 4).
//
//   scores  of the tile (see contract.cl)
//   rows    examples of the tile
//
// Work-item i takes example i.

// predict_one scans classes upwards: prediction, and margin to the runner-up.
int predict_one(__global const float *scores, int Q, size_t i, float *margin)
{
	float best = -INFINITY, second = -INFINITY;
	int class = 0;
	for (int r = 0; r < Q; r++) {
		const float s = scores[SCORE(i, r)];
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
                      int rows, int Q)
{
	const size_t i = get_global_id(0);
	if (i >= (size_t)rows)
		return;
	float margin;
	prediction[i] = predict_one(scores, Q, i, &margin);
}

// assign_one brings the place of example i up to date and notes it if it moved.
void assign_one(__global const float *scores, __global int *place, volatile __global int *moved,
                int Q, float alpha, size_t i)
{
	float margin;
	const int p = predict_one(scores, Q, i, &margin);
	const int now = 2 * p + (margin >= alpha ? 1 : 0);
	const int before = place[i];
	if (now != before) {
		const size_t at = 2 + 3 * (size_t)atomic_inc(moved);
		moved[at] = (int)i;
		moved[at + 1] = before;
		moved[at + 2] = now;
		place[i] = now;
	}
}

//   place  what the last assignment said of each example: 2·prediction, plus 1 if
//          its margin reached alpha, which puts it in the region; -1 before the
//          first. Brought up to date.
//   moved  how many examples changed their place, 0 before the call; a number that
//          only kernels of bound.cl use; and then room for rows triples (example,
//          old place, new place), written for those examples in no particular order
__kernel void assign(__global const float *restrict scores, __global int *restrict place,
                     volatile __global int *restrict moved,
                     int rows, int Q, float alpha)
{
	const size_t i = get_global_id(0);
	if (i < (size_t)rows)
		assign_one(scores, place, moved, Q, alpha, i);
}
