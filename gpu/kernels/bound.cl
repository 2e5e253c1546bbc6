#pragma OPENCL FP_CONTRACT OFF
// bound and assign_listed: regions of examples (clause 4), when most examples need not be
// scored afresh. Package internal/sketch has the mathematics.
//
// Besides what contract.cl describes, a tile has, where stride is rows rounded up to
// LANES:
//
//   sketch  small integers; that of example i in direction t, 0 <= t < K, is on a CPU
//               sketch[(i / LANES * K + t) * LANES + i % LANES],
//           whose work-items take LANES examples, and on a GPU
//               sketch[(t / 4 * stride + i) * 4 + t % 4],
//           whose work-items take one example and read four directions at once
//   about   for each example at least the length of what the sketch leaves of it (rho),
//           and, stride numbers further on, at least its length (nu)
//   scored  the round in which all scores of the example were computed last

#if CPU
typedef float16 lanes_t;
typedef int16 mask_t;
#define BLOCK LANES
#define LINE(r) (b * Q + (r))
#define EACH_LANE(k)                                                            \
	(float16)(error[0][k], error[1][k], error[2][k], error[3][k],           \
	          error[4][k], error[5][k], error[6][k], error[7][k],           \
	          error[8][k], error[9][k], error[10][k], error[11][k],         \
	          error[12][k], error[13][k], error[14][k], error[15][k])
#else
typedef float lanes_t;
typedef int mask_t;
#define BLOCK 1
#define LINE(r) SCORE(b, r)
#endif

//   changes  m rows of K numbers: what changes the estimates of class classes[c], by
//            direction; followed by the slack of the Q classes
//   errors   of estimates, by the slot of the round in which they were scores: that of
//            class r is at most
//                errors[(slot * Q + r) * 2] * rho + (errors[(slot * Q + r) * 2 + 1] + slack[r]) * nu,
//            slot = round % span, of the last span rounds up to now
//   place    as in assign
//   list     room for rows examples; written: those whose place the bounds leave open
//   head     head[1], 0 before the call: how many they are
//   blocks   stride / BLOCK
__kernel void bound(__global const char *restrict sketch, __global const float *restrict about,
                    __global const float *restrict changes, __global const int *restrict classes,
                    __global const float *restrict errors, __global float *restrict scores,
                    __global const int *restrict scored, __global const int *restrict place,
                    __global int *restrict list, volatile __global int *restrict head,
                    ulong blocks, int rows, int Q, int K, int m, int span, int now, float alpha)
{
	const size_t b = get_global_id(0);
	if (b * BLOCK >= (size_t)rows)
		return;
	__global lanes_t *score = (__global lanes_t *)scores;
	const lanes_t rho = ((__global const lanes_t *)about)[b];
	const lanes_t nu = ((__global const lanes_t *)about)[blocks + b];

	for (int c = 0; c < m; c += 2) {
		// Two classes cost one reading of the sketch.
		__global const float *change0 = changes + (size_t)c * K;
		__global const float *change1 = changes + (size_t)min(c + 1, m - 1) * K;
		lanes_t sum0 = 0.0f, sum1 = 0.0f;
#if CPU
		for (int t = 0; t < K; t++) {
			const float16 s = convert_float16(((__global const char16 *)sketch)[b * K + t]);
			sum0 = fma(s, (float16)(change0[t]), sum0);
			sum1 = fma(s, (float16)(change1[t]), sum1);
		}
#else
		for (int t = 0; t < K; t += 4) {
			const float4 s = convert_float4(((__global const char4 *)sketch)[t / 4 * blocks + b]);
			sum0 = fma(s.s0, change0[t], fma(s.s1, change0[t + 1], fma(s.s2, change0[t + 2], fma(s.s3, change0[t + 3], sum0))));
			sum1 = fma(s.s0, change1[t], fma(s.s1, change1[t + 1], fma(s.s2, change1[t + 2], fma(s.s3, change1[t + 3], sum1))));
		}
#endif
		const size_t r0 = LINE(classes[c]);
		score[r0] += sum0;
		if (c + 1 < m) {
			const size_t r1 = LINE(classes[c + 1]);
			score[r1] += sum1;
		}
	}

	// The score of the class that was predicted, low and high, against the highest
	// that another may have, and the highest that another has at least.
	__global const float *slack = changes + (size_t)m * K;
#if CPU
	int before[LANES];
	__global const float *error[LANES];
	for (int l = 0; l < LANES; l++) {
		const size_t i = b * LANES + l;
		const int then = i < (size_t)rows ? scored[i] : now;
		before[l] = i < (size_t)rows && now - then < span ? place[i] : -1;
		error[l] = errors + (size_t)(then % span) * Q * 2;
	}
	const mask_t was = vload16(0, before);
#else
	const mask_t was = now - scored[b] < span ? place[b] : -1;
	__global const float *error = errors + (size_t)(scored[b] % span) * Q * 2;
#endif
	lanes_t low = -INFINITY, high = low, rival_high = low, rival_low = low;
	for (int r = 0; r < Q; r++) {
		const lanes_t s = score[LINE(r)];
#if CPU
		const lanes_t eta = EACH_LANE(2 * r), theta = EACH_LANE(2 * r + 1);
#else
		const lanes_t eta = error[2 * r], theta = error[2 * r + 1];
#endif
		const lanes_t o = fma(rho, eta, nu * (theta + (lanes_t)(slack[r])));
		const mask_t mine = (was >> 1) == (mask_t)(r);
#if !CPU
		const lanes_t a = s - o, z = s + o;
		if (mine) {
			low = a;
			high = z;
		} else {
			rival_low = rival_low < a ? a : rival_low;
			rival_high = (rival_high < z) || IS_NAN(z) ? z : rival_high; // a NaN stays
		}
#else
		const lanes_t a = s - o, z = s + o;
		low = select(low, a, mine);
		high = select(high, z, mine);
		rival_low = select(rival_low, a, (rival_low < a) & ~mine);
		rival_high = select(rival_high, z, ((rival_high < z) | IS_NAN(z)) & ~mine); // a NaN stays
#endif
	}
#if CPU
	const mask_t inside = (was & 1) == 1;
	const mask_t stays = (was >= 0) & (rival_high < low) &
	                     ((inside & (low - rival_high >= (lanes_t)(alpha))) |
	                      (~inside & (high - rival_low < (lanes_t)(alpha))));
	int open[LANES], n = 0;
	vstore16(stays, 0, before);
	for (int l = 0; l < LANES; l++) {
		open[n] = (int)(b * LANES) + l;
		n += before[l] == 0 && b * LANES + l < (size_t)rows;
	}
	if (n > 0) {
		const int at = atomic_add(head + 1, n);
		for (int l = 0; l < n; l++)
			list[at + l] = open[l];
	}
#else
	const int stays = was >= 0 && (rival_high < low) &&
	                  ((was & 1) ? low - rival_high >= alpha : high - rival_low < alpha);
	if (!stays)
		list[atomic_inc(head + 1)] = (int)b;
#endif
}

// assign for the listed examples, whose scores are exact. They are few: a work-item
// takes one after the other.
__kernel void assign_listed(__global const float *restrict scores, __global int *restrict scored,
                            __global int *restrict place, __global const int *restrict list,
                            volatile __global int *restrict moved,
                            int rows, int Q, int now, float alpha)
{
	const int end = min(moved[1], rows);
	for (int u = (int)get_global_id(0); u < end; u += (int)get_global_size(0)) {
		const size_t i = list[u];
		scored[i] = now;
		assign_one(scores, place, moved, Q, alpha, i);
	}
}
