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
// Work-item (g, c) owns columns g·VEC to g·VEC + VEC-1, those below d, of the cell
// in triple c. On a CPU it so reads neighbouring lines of an example, where one
// column at a time would touch another page for every example.
__kernel void move_sums(__global const float *restrict x, __global const int *restrict list,
                        __global const int *restrict cells, __global long *restrict sums,
                        float scale, int d)
{
	const int from = VEC * (int)get_global_id(0);
	if (from >= d)
		return;
	const int columns = min(VEC, d - from);
	const size_t c = 3 * get_global_id(1);
	const int to = cells[c + 2];
	long sum[VEC];
	for (int j = 0; j < columns; j++)
		sum[j] = 0;
	for (int at = cells[c + 1]; at < to; at++) {
		const int entry = list[at];
		const size_t i = entry >= 0 ? entry : ~entry;
		__global const float *xi = x + (i / LANES * d + from) * LANES + i % LANES;
		for (int j = 0; j < columns; j++) {
			const long k = integer_of(xi[j * LANES], scale);
			sum[j] += entry >= 0 ? k : -k;
		}
	}
	__global long *cell = sums + (size_t)cells[c] * d + from;
	for (int j = 0; j < columns; j++)
		cell[j] += sum[j];
}
