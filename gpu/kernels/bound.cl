#pragma OPENCL FP_CONTRACT OFF
// bound and assign_listed: regions of examples (clause 4) of which most need not be
// scored afresh. Package host/sketch has the mathematics.
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
//   radius  laid out as scores, which are off by at most radius + slack[r]·nu; where
//           it is 0 they are exact

#if CPU
typedef float16 lanes_t;
typedef int16 mask_t;
#define BLOCK LANES
#define LINE(r) (b * Q + (r))
#else
typedef float lanes_t;
typedef int mask_t;
#define BLOCK 1
#define LINE(r) SCORE(b, r)
#endif

//   changes  m rows of K+2 numbers: what changed the scores of class classes[c], by
//            direction, then Eta and Theta; followed by the slack of the Q classes
//   place    as in assign
//   list     room for rows examples; written: those whose place the bounds leave open
//   head     head[1], 0 before the call: how many they are
//   blocks   stride / BLOCK
__kernel void bound(__global const char *restrict sketch, __global const float *restrict about,
                    __global const float *restrict changes, __global const int *restrict classes,
                    __global float *restrict scores, __global float *restrict radius,
                    __global const int *restrict place, __global int *restrict list,
                    volatile __global int *restrict head,
                    ulong blocks, int rows, int Q, int K, int m, float alpha)
{
	const size_t b = get_global_id(0);
	if (b * BLOCK >= (size_t)rows)
		return;
	__global lanes_t *score = (__global lanes_t *)scores;
	__global lanes_t *off = (__global lanes_t *)radius;
	const lanes_t rho = ((__global const lanes_t *)about)[b];
	const lanes_t nu = ((__global const lanes_t *)about)[blocks + b];

	for (int c = 0; c < m; c += 2) {
		// Two classes cost one reading of the sketch.
		__global const float *change0 = changes + (size_t)c * (K + 2);
		__global const float *change1 = changes + (size_t)min(c + 1, m - 1) * (K + 2);
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
		score[r0] = score[r0] + sum0;
		off[r0] = (off[r0] + fma(rho, (lanes_t)(change0[K]), nu * change0[K + 1])) * (1.0f + 0x1p-20f);
		if (c + 1 < m) {
			const size_t r1 = LINE(classes[c + 1]);
			score[r1] = score[r1] + sum1;
			off[r1] = (off[r1] + fma(rho, (lanes_t)(change1[K]), nu * change1[K + 1])) * (1.0f + 0x1p-20f);
		}
	}

	// The score of the class that was predicted, low and high, against the highest
	// that another may have, and the highest that another has at least.
	__global const float *slack = changes + (size_t)m * (K + 2);
#if CPU
	int before[LANES];
	for (int l = 0; l < LANES; l++)
		before[l] = b * LANES + l < (size_t)rows ? place[b * LANES + l] : -1;
	const mask_t was = vload16(0, before);
#else
	const mask_t was = place[b];
#endif
	lanes_t low = -INFINITY, high = -INFINITY, rival_high = -INFINITY, rival_low = -INFINITY;
	for (int r = 0; r < Q; r++) {
		const lanes_t s = score[LINE(r)];
		const lanes_t o = fma(nu, (lanes_t)(slack[r]), off[LINE(r)]);
		const mask_t mine = (was >> 1) == (mask_t)(r);
#if !CPU
		const lanes_t a = s - o, z = s + o;
		if (mine) {
			low = a;
			high = z;
		} else {
			rival_low = a > rival_low ? a : rival_low;
			rival_high = z > rival_high || z != z ? z : rival_high; // a NaN stays
		}
#else
		const lanes_t a = s - o, z = s + o;
		low = select(low, a, mine);
		high = select(high, z, mine);
		rival_low = select(rival_low, a, (a > rival_low) & ~mine);
		rival_high = select(rival_high, z, ((z > rival_high) | (z != z)) & ~mine); // a NaN stays
#endif
	}
#if CPU
	const mask_t inside = (was & 1) == 1;
	const mask_t stays = (was >= 0) & (low > rival_high) &
	                     ((inside & (low - rival_high >= alpha)) | (~inside & (high - rival_low < alpha)));
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
	const int stays = was >= 0 && low > rival_high &&
	                  ((was & 1) ? low - rival_high >= alpha : high - rival_low < alpha);
	if (!stays)
		list[atomic_inc(head + 1)] = (int)b;
#endif
}

// assign for the listed examples, whose scores are exact. They are few: a work-item
// takes one after the other.
__kernel void assign_listed(__global const float *restrict scores, __global float *restrict radius,
                            __global int *restrict place, __global const int *restrict list,
                            volatile __global int *restrict moved,
                            int rows, int Q, float alpha)
{
	const int end = min(moved[1], rows);
	for (int u = (int)get_global_id(0); u < end; u += (int)get_global_size(0)) {
		const size_t i = list[u];
		for (int r = 0; r < Q; r++)
			radius[SCORE(i, r)] = 0.0f;
		assign_one(scores, place, moved, Q, alpha, i);
	}
}
