#pragma OPENCL FP_CONTRACT OFF
// sum_groups: the first half of keeping class sums up to date when examples move
// between cells (clauses 3 and 5). An example that moves is read once: all that go from
// one cell to another are summed here; kernel add_groups then takes the sum from the one
// and gives it to the other. Integers, so neither order nor grouping matters.
//
// Macro, given by the host (gpu/kernels.go): a work-item takes SUM_COLUMNS columns,
// on a CPU a multiple of 8, on a GPU best 1, so that neighbours read neighbours.

#ifndef SUM_COLUMNS
#error "the host must define SUM_COLUMNS"
#endif

#if CPU && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// 1.5·2^52: in a double near it the last place is 1, so that adding it rounds to an
// integer, which then is in the lower bits.
#define MAGIC 0x1.8p52
#endif

//   x        examples of the tile (see contract.cl), or only those of the list, in its
//            order, if local is 1
//   list     examples of the tile, grouped
//   groups   pairs (from, to): group g is list[from..to-1]
//   partial  written: the sum of group g in column j is partial[g * d + j]
//   scale    2^s of the fixed point
//   small    1 if all |x·2^s| < 2^51
// Work-item (b, g) sums columns b·SUM_COLUMNS to b·SUM_COLUMNS + SUM_COLUMNS-1, those below d, of
// group g.
__kernel void sum_groups(__global const float *restrict x, __global const int *restrict list,
                         __global const int *restrict groups, __global long *restrict partial,
                         float scale, int d, int small, int local_x)
{
	const int from = SUM_COLUMNS * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(SUM_COLUMNS, d - from);
	const size_t g = get_global_id(1);
	const int begin = groups[2 * g], end = groups[2 * g + 1];
	__global long *out = partial + g * d + from;
	int done = 0;
#ifdef MAGIC
	// Eight columns at a time: one fma rounds x·2^s to the integer that integer_of
	// gives. MAGIC, as often as it was added, comes off at the end.
	if (small) {
		long8 sum[SUM_COLUMNS / 8];
		for (; done + 8 <= columns; done += 8)
			sum[done / 8] = 0;
		for (int at = begin; at < end; at++) {
			__global const float *xi = x + (size_t)(local_x ? at : list[at]) * d + from;
			const int next = min(at + 4, end - 1);
			const size_t ahead = (size_t)(x + (size_t)(local_x ? next : list[next]) * d + from);
			for (int j = 0; j < done; j += 64 / sizeof(float))
				FETCH(ahead + sizeof(float) * j);
			for (int j = 0; j < done; j += 8)
				sum[j / 8] += as_long8(fma(convert_double8(vload8(0, xi + j)), (double8)(scale), (double8)(MAGIC)));
		}
		const ulong magic = (ulong)as_long(MAGIC) * (ulong)(end - begin);
		for (int j = 0; j < done; j += 8)
			vstore8(as_long8(as_ulong8(sum[j / 8]) - magic), 0, out + j);
	}
#endif
	for (int j = done; j < columns; j++) {
		long sum = 0;
		UNROLL(8)
		for (int at = begin; at < end; at++)
			sum += integer_of(x[(size_t)(local_x ? at : list[at]) * d + from + j], scale);
		out[j] = sum;
	}
}
