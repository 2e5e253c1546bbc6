#pragma OPENCL FP_CONTRACT OFF
// sum_groups and add_groups: keep the class sums of some regions up to date by moving
// examples between cells (clauses 3 and 5). An example that moves is read once: all
// that go from one cell to another are summed first, and the sum then taken from the
// one and given to the other. Integers, so neither order nor grouping matters.
//
// Macro of the tuning (Tuning in gpu/tuning.go): a work-item takes COLUMNS columns,
// on a CPU a multiple of 8, on a GPU best 1, so that neighbours read neighbours.

#ifndef COLUMNS
#error "the host must define COLUMNS"
#endif

#if CPU && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// 1.5·2^52: in a double near it the last place is 1, so that adding it rounds to an
// integer, which then stands in the lower bits.
#define MAGIC 0x1.8p52
#endif

//   x        examples of the tile (see contract.cl), or only those of the list, in its
//            order, if local is 1
//   list     examples of the tile, grouped
//   groups   pairs (from, to): group g is list[from..to-1]
//   partial  written: the sum of group g in column j is partial[g * d + j]
//   scale    2^s of the fixed point
//   small    1 if all |x·2^s| < 2^51
// Work-item (b, g) sums columns b·COLUMNS to b·COLUMNS + COLUMNS-1, those below d, of
// group g.
__kernel void sum_groups(__global const float *restrict x, __global const int *restrict list,
                         __global const int *restrict groups, __global long *restrict partial,
                         float scale, int d, int small, int local_x)
{
	const int from = COLUMNS * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(COLUMNS, d - from);
	const size_t g = get_global_id(1);
	const int begin = groups[2 * g], end = groups[2 * g + 1];
	__global long *out = partial + g * d + from;
	int done = 0;
#ifdef MAGIC
	// Eight columns at a time: one fma rounds x·2^s to the integer that integer_of
	// gives. MAGIC, as often as it was added, comes off at the end.
	if (small) {
		long8 sum[COLUMNS / 8];
		for (; done + 8 <= columns; done += 8)
			sum[done / 8] = 0;
		for (int at = begin; at < end; at++) {
			__global const float *xi = x + (size_t)(local_x ? at : list[at]) * d + from;
			const int next = min(at + 4, end - 1);
			const size_t ahead = (size_t)(x + (size_t)(local_x ? next : list[next]) * d + from);
			for (int j = 0; j < done; j += 16)
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
		for (int at = begin; at < end; at++)
			sum += integer_of(x[(size_t)(local_x ? at : list[at]) * d + from + j], scale);
		out[j] = sum;
	}
}

//   terms   groups by cell: group g is added to the cell if g >= 0, group ~g is
//           taken off it
//   cells   triples (cell, from, to): terms[from..to-1] belong to that cell of sums,
//           0 <= cell < regions·Q; each cell is named once
//   sums    class sums, changed
// Work-item (b, c) owns columns b·COLUMNS to b·COLUMNS + COLUMNS-1, those below d, of
// the cell in triple c.
__kernel void add_groups(__global const long *restrict partial, __global const int *restrict terms,
                         __global const int *restrict cells, __global long *restrict sums, int d)
{
	const int from = COLUMNS * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(COLUMNS, d - from);
	const size_t c = 3 * get_global_id(1);
	__global long *cell = sums + (size_t)cells[c] * d + from;
	for (int at = cells[c + 1]; at < cells[c + 2]; at++) {
		const int term = terms[at];
		__global const long *sum = partial + (size_t)(term >= 0 ? term : ~term) * d + from;
		if (term >= 0)
			for (int j = 0; j < columns; j++)
				cell[j] += sum[j];
		else
			for (int j = 0; j < columns; j++)
				cell[j] -= sum[j];
	}
}
