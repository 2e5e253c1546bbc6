#pragma OPENCL FP_CONTRACT OFF
// What becomes of a dot product in a projection (clauses 11 and 13), for the kernels of
// project.cl and projectsparse.cl, before which this file stands. All of it is in vectors of
// WIDTH neighbouring columns (vector.cl).
//
//   COLUMNS  columns of a panel (see project.cl)
//   ending   what becomes of a total: NOTHING; a kernel value, KERNEL_POLY or KERNEL_RBF; or
//            OFFSET, which adds one

#define COLUMNS 64
#define NOTHING 0
#define KERNEL_POLY 1
#define KERNEL_RBF 2
#define OFFSET 3

// ended is the total with its ending; xx and more are those of its row and columns.
vec_t ended(vec_t total, int ending, __global const float *xx, __global const float *more,
            float gamma, float coef0, int degree)
{
	if (ending == KERNEL_RBF) {
		const vec_t t = fma(VECTOR(-2.0f), total, (vec_t)(*xx) + LOAD(0, more));
		return exponential(-((vec_t)(gamma) * select(t, (vec_t)(0.0f), t < (vec_t)(0.0f))));
	}
	if (ending == KERNEL_POLY) {
		const vec_t b = fma((vec_t)(gamma), total, (vec_t)(coef0));
		vec_t v = b;
		for (int k = 1; k < degree; k++)
			v *= b;
		return v;
	}
	if (ending == OFFSET)
		return total + LOAD(0, more);
	return total;
}

// kept is the vector from a column of a row of out on, put writes it, as far as ldo.
vec_t kept(__global const float *row, int column, int ldo)
{
	if (column + WIDTH <= ldo)
		return LOAD(0, row + column);
	float part[WIDTH];
	UNROLL(WIDTH)
	for (int c = 0; c < WIDTH; c++)
		part[c] = column + c < ldo ? row[column + c] : 0.0f;
	return LOAD(0, part);
}

void put(vec_t v, __global float *row, int column, int ldo)
{
	if (column + WIDTH <= ldo) {
		STORE(v, 0, row + column);
		return;
	}
	float part[WIDTH];
	STORE(v, 0, part);
	FIRST(c, ldo - column, WIDTH)
		row[column + c] = part[c];
}
