#pragma OPENCL FP_CONTRACT OFF
// update_vectors and norms: from class sums to z_pq and ‖z_pq‖² (clause 6).
//
//   sums  class sums of some regions (see contract.cl)
//   inv   B = float32(C⁻¹), Q×Q row-major
//   unit  u = float32(2^-s / n)

// component computes z_pq[j] from the class sums of region p and row q of B.
float component(__global const long *sums_p, __global const float *inv_q, float unit, int d, int Q, int j)
{
	float acc = 0.0f;
	for (int k = 0; k < Q; k++)
		acc = fma(inv_q[k], convert_float(sums_p[(size_t)k * d + j]), acc);
	return acc * unit;
}

//   pairs  the pairs asked for, (p, q) by (p, q), p counted from the first region of sums
//   z      written: work-item (j, t) takes component j of pair t, z[t * d + j]
__kernel void update_vectors(__global const long *restrict sums, __global const float *restrict inv,
                             __global const int *restrict pairs, __global float *restrict z,
                             float unit, int d, int Q)
{
	const int j = (int)get_global_id(0);
	if (j >= d)
		return;
	const size_t t = get_global_id(1);
	z[t * d + j] = component(sums + (size_t)pairs[2 * t] * Q * d, inv + (size_t)pairs[2 * t + 1] * Q, unit, d, Q, j);
}

//   regions  the m regions asked for, counted from the first of sums
//   partial  written: for pair t = 0..pairs-1, pairs = m·Q, that is region regions[t / Q] and
//            class t % Q, the chunk results of ‖z‖² are
//                partial[t * chunks + c],  chunks = ceil(d / CHUNK)
//            which the host adds in order of c
// Work-item (t, c).
__kernel void norms(__global const long *restrict sums, __global const float *restrict inv,
                    __global const int *restrict regions, __global float *restrict partial,
                    float unit, int d, int Q, int chunks, int pairs)
{
	const size_t t = get_global_id(0);
	if (t >= (size_t)pairs)
		return;
	const int c = (int)get_global_id(1);
	__global const long *sums_p = sums + (size_t)regions[t / Q] * Q * d;
	__global const float *inv_q = inv + t % Q * Q;
	const int to = min((c + 1) * CHUNK, d);
	int j = c * CHUNK;
	float acc = 0.0f;
#if CPU
	// Sixteen components at a time; their squares still join one after the other.
	for (; j + 16 <= to; j += 16) {
		float16 z = 0.0f;
		for (int k = 0; k < Q; k++)
			z = fma((float16)(inv_q[k]), convert_float16(vload16(0, sums_p + (size_t)k * d + j)), z);
		float part[16];
		vstore16(z * unit, 0, part);
		for (int k = 0; k < 16; k++)
			acc = fma(part[k], part[k], acc);
	}
#endif
	for (; j < to; j++) {
		const float z = component(sums_p, inv_q, unit, d, Q, j);
		acc = fma(z, z, acc);
	}
	partial[t * chunks + c] = acc;
}
