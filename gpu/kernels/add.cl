#pragma OPENCL FP_CONTRACT OFF
// add_groups: brings the class sums of some regions up to date with the sums of groups
// of examples that go from one cell to another, of kernel sum_groups (clause 5). So it also
// adds up what kernel weighted sums by ranges; class sums are then those of classes.
//
// Macro, given by the host (gpu/kernels.go): on a CPU a work-item takes SUM_COLUMNS columns. On a GPU
// a work-group takes WIDE columns, and PARTS of its items share the groups of each.

#ifndef SUM_COLUMNS
#error "the host must define SUM_COLUMNS"
#endif

#define PARTS (GROUP < 8 ? GROUP : 8) // host: addParts
#define WIDE (GROUP / PARTS)

//   partial the sum of group g in column j is partial[g * d + j]
//   terms   groups by cell: group g is added to the cell if g >= 0, group ~g is
//           taken off it
//   cells   triples (cell, from, to): terms[from..to-1] belong to that cell of sums,
//           0 <= cell < regions·Q; each cell is named once
//   sums    class sums, changed
// Work-item (b, c) owns columns b·SUM_COLUMNS to b·SUM_COLUMNS + SUM_COLUMNS-1, those below d, of
// the cell in triple c; a work-group of a GPU WIDE of them.
__kernel FIXED_GROUP
void add_groups(__global const long *restrict partial, __global const int *restrict terms,
                __global const int *restrict cells, __global long *restrict sums, int d)
{
	const size_t c = 3 * get_global_id(1);
#if CPU
	const int from = SUM_COLUMNS * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(SUM_COLUMNS, d - from);
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
#else
	__local long part[GROUP];
	const int l = (int)get_local_id(0), j = (int)get_group_id(0) * WIDE + l % WIDE;
	long total = 0;
	UNROLL(4)
	for (int at = cells[c + 1] + l / WIDE; at < cells[c + 2]; at += PARTS) {
		const int term = terms[at];
		const long sum = partial[(size_t)(term >= 0 ? term : ~term) * d + min(j, d - 1)];
		total += term >= 0 ? sum : -sum;
	}
	part[l] = total;
	for (int rest = PARTS / 2; rest >= 1; rest /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < rest * WIDE)
			part[l] += part[l + rest * WIDE];
	}
	if (l < WIDE && j < d)
		sums[(size_t)cells[c] * d + j] += part[l];
#endif
}

// clear sets n sums to 0.
void clear(__global long *restrict sums, ulong n)
{
#if CPU
	const size_t share = (n + get_global_size(0) - 1) / get_global_size(0);
	const size_t from = get_global_id(0) * share, to = min((size_t)n, from + share), step = 1;
#else
	const size_t from = get_global_id(0), to = n, step = get_global_size(0);
#endif
	for (size_t k = from; k < to; k += step)
		sums[k] = 0;
}

// clear_sums sets some sums to 0, in each of three buffers.
__kernel void clear_sums(__global long *restrict a, ulong na, __global long *restrict b, ulong nb,
                         __global long *restrict c, ulong nc)
{
	clear(a, na);
	clear(b, nb);
	clear(c, nc);
}
