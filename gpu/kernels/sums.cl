#pragma OPENCL FP_CONTRACT OFF
// move_sums: keeps class sums up to date when dense examples move between cells (clauses 3 and 5).
// Integers, so neither order nor grouping matters.
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

#define EXAMPLE(entry) (x + (size_t)((entry) >= 0 ? (entry) : ~(entry)) * d + from)

//   x        examples of the tile (see contract.cl)
//   list     examples of the tile by cell: an entry i is added to the cell, example i of an entry
//            ~i is taken off it
//   cells    triples (cell, from, to): list[from..to-1] belong to that cell of sums,
//            0 <= cell < regions·Q; each cell is named once
//   sums     class sums, changed
//   scale    2^s of the fixed point
//   small    1 if all |x·2^s| < 2^51
// Work-item (b, c) owns columns b·SUM_COLUMNS to b·SUM_COLUMNS + SUM_COLUMNS-1, those below d, of
// the cell in triple c.
__kernel void move_sums(__global const float *restrict x, __global const int *restrict list,
                        __global const int *restrict cells, __global long *restrict sums,
                        float scale, int d, int small)
{
	const int from = SUM_COLUMNS * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(SUM_COLUMNS, d - from);
	const size_t c = 3 * get_global_id(1);
	const int begin = cells[c + 1], end = cells[c + 2];
	__global long *out = sums + (size_t)cells[c] * d + from;
	int done = 0;
#ifdef MAGIC
	// Eight columns at a time: one fma rounds x·2^s to the integer that integer_of
	// gives. MAGIC, as often as it was added, comes off at the end.
	if (small) {
		long8 sum[SUM_COLUMNS / 8];
		for (; done + 8 <= columns; done += 8)
			sum[done / 8] = 0;
		for (int at = begin; at < end; at++) {
			const int entry = list[at];
			const double8 by = (double8)(entry >= 0 ? scale : -scale);
			__global const float *xi = EXAMPLE(entry);
			const size_t ahead = (size_t)EXAMPLE(list[min(at + 4, end - 1)]);
			for (int j = 0; j < done; j += 64 / sizeof(float))
				FETCH(ahead + sizeof(float) * j);
			for (int j = 0; j < done; j += 8)
				sum[j / 8] += as_long8(fma(convert_double8(vload8(0, xi + j)), by, (double8)(MAGIC)));
		}
		const ulong magic = (ulong)as_long(MAGIC) * (ulong)(end - begin);
		for (int j = 0; j < done; j += 8)
			vstore8(vload8(0, out + j) + as_long8(as_ulong8(sum[j / 8]) - magic), 0, out + j);
	}
#endif
	for (int j = done; j < columns; j++) {
		long sum = 0;
		UNROLL(8)
		for (int at = begin; at < end; at++) {
			const int entry = list[at];
			const long q = integer_of(EXAMPLE(entry)[j], scale);
			sum += entry >= 0 ? q : -q;
		}
		out[j] += sum;
	}
}
