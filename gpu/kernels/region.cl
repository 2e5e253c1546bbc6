#pragma OPENCL FP_CONTRACT OFF
// predict and assign: from scores to predictions and regions (clause 4).
//
//   scores  of the tile (see contract.cl)
//   rows    examples of the tile
//
// Work-item i takes example i, unless a kernel says otherwise.

#if CPU
// predict_block scans classes upwards, for all lanes of block b: predictions, and margins to the
// runners-up.
void predict_block(__global const float *scores, int Q, size_t b, float *classes, float *margins)
{
	__global const float16 *score = (__global const float16 *)scores + b * Q;
	float16 best = -INFINITY, second = -INFINITY;
	float16 class = 0.0f; // only moved, and so exact
	for (int r = 0; r < Q; r++) {
		const float16 s = score[r];
		const int16 leads = best < s;
		second = select(select(second, s, second < s), best, leads);
		best = select(best, s, leads);
		class = select(class, (float16)(r), leads);
	}
	vstore16(class, 0, classes);
	vstore16(best - second, 0, margins);
}
#else
// predict_one scans classes upwards: prediction, and margin to the runner-up.
int predict_one(__global const float *scores, int Q, size_t i, float *margin)
{
	float best = -INFINITY, second = -INFINITY;
	int class = 0;
	UNROLL(4)
	for (int r = 0; r < Q; r++) {
		const float s = scores[SCORE(i, r)];
		if (best < s) {
			second = best;
			best = s;
			class = r;
		} else if (second < s) {
			second = s;
		}
	}
	*margin = best - second;
	return class;
}
#endif

//   prediction  written, one class per example
// On a CPU work-item b takes the examples of block b.
__kernel void predict(__global const float *restrict scores, __global int *restrict prediction,
                      int rows, int Q)
{
#if CPU
	const size_t b = get_global_id(0);
	if (b * LANES >= (size_t)rows)
		return;
	float classes[LANES], margins[LANES];
	predict_block(scores, Q, b, classes, margins);
	for (size_t l = 0; l < LANES && b * LANES + l < (size_t)rows; l++)
		prediction[b * LANES + l] = (int)classes[l];
#else
	const size_t i = get_global_id(0);
	if (i >= (size_t)rows)
		return;
	float margin;
	prediction[i] = predict_one(scores, Q, i, &margin);
#endif
}

// place_one brings the place of example i up to date and notes it if it moved.
void place_one(__global int *place, volatile __global int *moved, size_t i, int now)
{
	const int before = place[i];
	if (now != before) {
		const size_t at = 1 + 3 * (size_t)atomic_inc(moved);
		moved[at] = (int)i;
		moved[at + 1] = before;
		moved[at + 2] = now;
		place[i] = now;
	}
}

//   place  what the last assignment said of each example: 2·prediction, plus 1 if
//          its margin reached alpha, which puts it in the region; -1 before the
//          first. Brought up to date.
//   moved  how many examples changed their place, 0 before the call; and then room for
//          rows triples (example, old place, new place), written for those examples in
//          no particular order
// On a CPU work-item b takes the examples of block b.
__kernel void assign(__global const float *restrict scores, __global int *restrict place,
                     volatile __global int *restrict moved,
                     int rows, int Q, float alpha)
{
#if CPU
	const size_t b = get_global_id(0);
	if (b * LANES >= (size_t)rows)
		return;
	float classes[LANES], margins[LANES];
	predict_block(scores, Q, b, classes, margins);
	for (size_t l = 0; l < LANES && b * LANES + l < (size_t)rows; l++)
		place_one(place, moved, b * LANES + l, 2 * (int)classes[l] + (margins[l] >= alpha ? 1 : 0));
#else
	const size_t i = get_global_id(0);
	if (i < (size_t)rows) {
		float margin;
		const int p = predict_one(scores, Q, i, &margin);
		place_one(place, moved, i, 2 * p + (margin >= alpha ? 1 : 0));
	}
#endif
}
