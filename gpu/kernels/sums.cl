#pragma OPENCL FP_CONTRACT OFF
// move_sums: keeps the class sums of some regions up to date by moving examples
// between cells (clauses 3 and 5). Integers, so the order does not matter.
//
//   x      examples of the tile, interleaved (see contract.cl), as float
//   list   examples of the tile, grouped by cell; i >= 0 enters the cell, ~i
//          leaves it
//   cells  triples (cell, from, to): list[from..to-1] belongs to that cell of
//          sums, 0 <= cell < regions·Q; each cell is named once
//   sums   class sums, changed
//   scale  2^s of the fixed point
//
// Work-item (j, c) owns column j of the cell in triple c.
__kernel void move_sums(__global const float *restrict x, __global const int *restrict list,
                        __global const int *restrict cells, __global long *restrict sums,
                        float scale, int d)
{
	const int j = (int)get_global_id(0);
	if (j >= d)
		return;
	const size_t c = 3 * get_global_id(1);
	const int to = cells[c + 2];
	long sum = 0;
	for (int at = cells[c + 1]; at < to; at++) {
		const int entry = list[at];
		const size_t i = entry >= 0 ? entry : ~entry;
		const float v = x[(i / LANES * d + j) * LANES + i % LANES];
		// v·scale is exact, or so small that it rounds to 0 in any case.
		const long k = convert_long(rint(v * scale));
		sum += entry >= 0 ? k : -k;
	}
	sums[(size_t)cells[c] * d + j] += sum;
}
