#pragma OPENCL FP_CONTRACT OFF
// product_sparse and squares_sparse: project.cl for sparse examples. Arguments that are not
// named here are those of product.
//
//   columns, values, slices, lengths  as in sparse.cl
//   order  row r of that order is row order[r] of out and squares
//   columns_of_b  lda of project.cl
// Work-item (r, u) computes columns WIDTH * u to WIDTH * u + WIDTH - 1 of the panels.
__kernel void product_sparse(__global const int *restrict columns, __global const float *restrict values,
                             __global const int *restrict slices, __global const int *restrict lengths,
                             __global const int *restrict order,
                             __global const float *restrict b, int columns_of_b,
                             __global float *restrict out, int ldo, int rows, int ending,
                             __global const float *restrict squares, __global const float *restrict more,
                             float gamma, float coef0, int degree)
{
	const size_t r = get_global_id(0);
	if (r >= (size_t)rows)
		return;
	const int u = (int)get_global_id(1) * WIDTH;
	const size_t i = (size_t)order[r];
	b += (size_t)(u / COLUMNS) * columns_of_b * COLUMNS + u % COLUMNS;
	size_t at = (size_t)slices[r / LANES] * LANES + r % LANES;

	vec_t total = 0.0f, acc = 0.0f;
	int chunk = 0;
	UNROLL(4)
	for (int k = lengths[r]; k > 0; k--, at += LANES) {
		const int j = columns[at];
		if (j / CHUNK != chunk) {
			total += acc;
			acc = 0.0f;
			chunk = j / CHUNK;
		}
		acc = fma((vec_t)(values[at]), WHOLE(0, b + (size_t)j * COLUMNS), acc);
	}
	put(ended(total + acc, ending, squares + i, more + u, gamma, coef0, degree), out + i * ldo, u, ldo);
}

__kernel void squares_sparse(__global const int *restrict columns, __global const float *restrict values,
                             __global const int *restrict slices, __global const int *restrict lengths,
                             __global const int *restrict order,
                             __global float *restrict squares, int rows)
{
	const size_t r = get_global_id(0);
	if (r >= (size_t)rows)
		return;
	size_t at = (size_t)slices[r / LANES] * LANES + r % LANES;
	float total = 0.0f, acc = 0.0f;
	int chunk = 0;
	UNROLL(4)
	for (int k = lengths[r]; k > 0; k--, at += LANES) {
		const int j = columns[at];
		if (j / CHUNK != chunk) {
			total += acc;
			acc = 0.0f;
			chunk = j / CHUNK;
		}
		acc = fma(values[at], values[at], acc);
	}
	squares[order[r]] = total + acc;
}
