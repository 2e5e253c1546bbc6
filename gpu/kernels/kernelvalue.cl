#pragma OPENCL FP_CONTRACT OFF
// What becomes of a dot product in a projection (clauses 11 and 13), for the kernels of
// project.cl and projectsparse.cl, before which this file stands. All of it is in vectors of
// WIDTH neighbouring columns.
//
//   COLUMNS  columns of a panel (see project.cl)
//   ending   what becomes of a total: NOTHING; a kernel value, KERNEL_POLY or KERNEL_RBF; or
//            OFFSET, which adds one

#define COLUMNS 64
#define NOTHING 0
#define KERNEL_POLY 1
#define KERNEL_RBF 2
#define OFFSET 3

#ifndef WIDTH
#error "the host must define WIDTH, the values of a vector: 4, 8 or 16"
#endif

#define vec_t NAME(float, WIDTH)
#define VECTOR(v) ((vec_t)(CONSTANT(v)))
#define LOAD NAME(vload, WIDTH)
#define STORE NAME(vstore, WIDTH)

// exponential is exp(x) for x <= 0 (clause 11), that is without its upper end.
vec_t exponential(vec_t x)
{
	const vec_t t = FMA(x, VECTOR(0x1.715476p0f), VECTOR(0x1.8p23f));
	const vec_t k = SUB(t, VECTOR(0x1.8p23f));
	vec_t r = FMA(NEG(k), VECTOR(0x1.62e4p-1f), x);
	r = FMA(NEG(k), VECTOR(0x1.7f7d1cp-20f), r);
	vec_t p = VECTOR(0x1.6a23dp-10f);
	p = FMA(p, r, VECTOR(0x1.123a2p-7f));
	p = FMA(p, r, VECTOR(0x1.5558f2p-5f));
	p = FMA(p, r, VECTOR(0x1.555492p-3f));
	p = FMA(p, r, VECTOR(0x1.fffffcp-2f));
	p = FMA(p, r, VECTOR(1.0f));
	p = FMA(p, r, VECTOR(1.0f));
	const vec_t y = OF_BITS(WIDTH, BITS(WIDTH, p) + (BITS(WIDTH, t) << 23));
	return select(select(y, (vec_t)(0.0f), LESS(x, VECTOR(-0x1.5d589ep6f))), x, IS_NAN(x));
}

// ended is the total with its ending; xx and more are those of its row and columns.
vec_t ended(vec_t total, int ending, __global const float *xx, __global const float *more,
            float gamma, float coef0, int degree)
{
	if (ending == KERNEL_RBF) {
		const vec_t t = FMA(VECTOR(-2.0f), total, ADD((vec_t)(*xx), LOAD(0, more)));
		return exponential(NEG(MUL((vec_t)(gamma), select(t, (vec_t)(0.0f), LESS(t, (vec_t)(0.0f))))));
	}
	if (ending == KERNEL_POLY) {
		const vec_t b = FMA((vec_t)(gamma), total, (vec_t)(coef0));
		vec_t v = b;
		for (int k = 1; k < degree; k++)
			v = MUL(v, b);
		return v;
	}
	if (ending == OFFSET)
		return ADD(total, LOAD(0, more));
	return total;
}

// kept is the vector from a column of a row of out on, put writes it, as far as ldo.
vec_t kept(__global const float *row, int column, int ldo)
{
	if (column + WIDTH <= ldo)
		return LOAD(0, row + column);
	float part[WIDTH];
	for (int c = 0; c < WIDTH; c++)
		part[c] = column + c < ldo ? row[column + c] : CONSTANT(0.0f);
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
	for (int c = 0; column + c < ldo; c++)
		row[column + c] = part[c];
}
