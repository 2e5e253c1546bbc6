#pragma OPENCL FP_CONTRACT OFF
// add_ranges: adds up what kernel weighted sums by ranges (clause 14). clear_sums: zeros.
//
// Macro, given by the host (gpu/kernels.go): on a CPU a work-item takes SUM_COLUMNS sums. On a GPU
// a work-group takes WIDE sums, and ADDERS of its items share the ranges of each.

#ifndef SUM_COLUMNS
#error "the host must define SUM_COLUMNS"
#endif

#define ADDERS (GROUP < 8 ? GROUP : 8) // host: adders
#define WIDE (GROUP / ADDERS)

//   partial  of range u, 0 <= u < ranges, sum j is partial[u * n + j]
//   sums     written, n of them
// Work-item b owns sums b·SUM_COLUMNS to b·SUM_COLUMNS + SUM_COLUMNS-1, those below n; a
// work-group of a GPU WIDE of them.
__kernel FIXED_GROUP
void add_ranges(__global const long *restrict partial, __global long *restrict sums, ulong n,
                int ranges)
{
#if CPU
	const size_t from = SUM_COLUMNS * get_global_id(0);
	if (from >= n)
		return;
	const int columns = (int)min((size_t)SUM_COLUMNS, (size_t)n - from);
	for (int j = 0; j < columns; j++)
		sums[from + j] = partial[from + j];
	for (int u = 1; u < ranges; u++)
		for (int j = 0; j < columns; j++)
			sums[from + j] += partial[u * (size_t)n + from + j];
#else
	__local long part[GROUP];
	const int l = (int)get_local_id(0);
	const size_t j = get_group_id(0) * WIDE + l % WIDE;
	long total = 0;
	UNROLL(4)
	for (int u = l / WIDE; u < ranges; u += ADDERS)
		total += partial[u * (size_t)n + min(j, (size_t)n - 1)];
	part[l] = total;
	for (int rest = ADDERS / 2; rest >= 1; rest /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < rest * WIDE)
			part[l] += part[l + rest * WIDE];
	}
	if (l < WIDE && j < n)
		sums[j] = part[l];
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

// clear_sums sets the sums of two buffers to 0.
__kernel void clear_sums(__global long *restrict a, ulong na, __global long *restrict b, ulong nb)
{
	clear(a, na);
	clear(b, nb);
}
