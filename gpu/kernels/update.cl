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
	UNROLL(4)
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
//   partial  written: for pair t = 0..m·Q-1, that is region regions[t / Q] and class t % Q,
//            the chunk results of ‖z‖² are
//                partial[t * chunks + c],  chunks = ceil(d / CHUNK)
//            which the host adds in order of c
// On a GPU work-item (t, c) takes chunk c of pair t. On a CPU work-item (u, c) takes chunk
// c of GROUPED classes of a region, region regions[u / groups] and the classes from
// u % groups * GROUPED on, groups = ceil(Q / GROUPED): each class sum is converted once
// for all of them, and their squares, which join one after the other, do not wait for
// each other. Where there are fewer classes, the last stands for the missing ones.
#define GROUPED 4 // host: normClasses
__kernel void norms(__global const long *restrict sums, __global const float *restrict inv,
                    __global const int *restrict regions, __global float *restrict partial,
                    float unit, int d, int Q, int chunks, int m)
{
	const int c = (int)get_global_id(1);
	const int to = min((c + 1) * CHUNK, d);
	int j = c * CHUNK;
#if CPU
	const int groups = (Q + GROUPED - 1) / GROUPED;
	const int u = (int)get_global_id(0);
	if (u >= m * groups)
		return;
	const int p = u / groups, first = u % groups * GROUPED;
	const int q1 = min(first + 1, Q - 1), q2 = min(first + 2, Q - 1), q3 = min(first + 3, Q - 1);
	__global const long *sums_p = sums + (size_t)regions[p] * Q * d;
	__global const float *inv0 = inv + first * Q, *inv1 = inv + q1 * Q, *inv2 = inv + q2 * Q, *inv3 = inv + q3 * Q;
	float acc0 = 0.0f, acc1 = 0.0f, acc2 = 0.0f, acc3 = 0.0f;
	for (; j + 16 <= to; j += 16) {
		float16 z0 = 0.0f, z1 = 0.0f, z2 = 0.0f, z3 = 0.0f;
		for (int k = 0; k < Q; k++) {
			const float16 g = convert_float16(vload16(0, sums_p + (size_t)k * d + j));
			z0 = fma((float16)(inv0[k]), g, z0);
			z1 = fma((float16)(inv1[k]), g, z1);
			z2 = fma((float16)(inv2[k]), g, z2);
			z3 = fma((float16)(inv3[k]), g, z3);
		}
		float part[GROUPED][16];
		vstore16(z0 * (float16)(unit), 0, part[0]);
		vstore16(z1 * (float16)(unit), 0, part[1]);
		vstore16(z2 * (float16)(unit), 0, part[2]);
		vstore16(z3 * (float16)(unit), 0, part[3]);
		for (int k = 0; k < 16; k++) {
			acc0 = fma(part[0][k], part[0][k], acc0);
			acc1 = fma(part[1][k], part[1][k], acc1);
			acc2 = fma(part[2][k], part[2][k], acc2);
			acc3 = fma(part[3][k], part[3][k], acc3);
		}
	}
	for (; j < to; j++) {
		const float z0 = component(sums_p, inv0, unit, d, Q, j), z1 = component(sums_p, inv1, unit, d, Q, j);
		const float z2 = component(sums_p, inv2, unit, d, Q, j), z3 = component(sums_p, inv3, unit, d, Q, j);
		acc0 = fma(z0, z0, acc0);
		acc1 = fma(z1, z1, acc1);
		acc2 = fma(z2, z2, acc2);
		acc3 = fma(z3, z3, acc3);
	}
	__global float *out = partial + (size_t)p * Q * chunks + c;
	out[(size_t)first * chunks] = acc0;
	out[(size_t)q1 * chunks] = acc1;
	out[(size_t)q2 * chunks] = acc2;
	out[(size_t)q3 * chunks] = acc3;
#else
	const size_t t = get_global_id(0);
	if (t >= (size_t)m * Q)
		return;
	__global const long *sums_p = sums + (size_t)regions[t / Q] * Q * d;
	__global const float *inv_q = inv + t % Q * Q;
	float acc = 0.0f;
	for (; j < to; j++) {
		const float z = component(sums_p, inv_q, unit, d, Q, j);
		acc = fma(z, z, acc);
	}
	partial[t * chunks + c] = acc;
#endif
}
