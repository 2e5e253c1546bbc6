#pragma OPENCL FP_CONTRACT OFF
// Vectors of WIDTH values, 1, 4, 8 or 16, and functions of them: exp, log and 1/x by fma steps
// (clauses 11 and 15), and integers in fixed point (clause 3). The host puts this file before the
// files that use it.

#ifndef WIDTH
#error "the host must define WIDTH, the values of a vector: 1, 4, 8 or 16"
#endif

#if WIDTH == 1
#define W // of a number, in names
#define STORE(value, at, to) ((to)[at] = (value))
#else
#define W WIDTH
#define LOAD NAME(vload, WIDTH)
#define WHOLE(at, from) ((__global const vec_t *)(from))[at] // LOAD where vectors begin at multiples of their size
#define STORE NAME(vstore, WIDTH)
#define longs_t NAME(long, WIDTH)
#endif
#define vec_t NAME(float, W)
#define ints_t NAME(int, W)
#define bits_t NAME(uint, W)
#define VECTOR(v) ((vec_t)(v))

// exponential is exp(x) for x <= 0 (clause 11), that is without its upper end.
vec_t exponential(vec_t x)
{
	const vec_t t = fma(x, VECTOR(0x1.715476p0f), VECTOR(0x1.8p23f));
	const vec_t k = t - VECTOR(0x1.8p23f);
	vec_t r = fma(-k, VECTOR(0x1.62e4p-1f), x);
	r = fma(-k, VECTOR(0x1.7f7d1cp-20f), r);
	vec_t p = VECTOR(0x1.6a23dp-10f);
	p = fma(p, r, VECTOR(0x1.123a2p-7f));
	p = fma(p, r, VECTOR(0x1.5558f2p-5f));
	p = fma(p, r, VECTOR(0x1.555492p-3f));
	p = fma(p, r, VECTOR(0x1.fffffcp-2f));
	p = fma(p, r, VECTOR(1.0f));
	p = fma(p, r, VECTOR(1.0f));
	const vec_t y = NAME(as_float, W)(NAME(as_uint, W)(p) + (NAME(as_uint, W)(t) << 23));
	return select(select(y, (vec_t)(0.0f), x < VECTOR(-0x1.5d589ep6f)), x, IS_NAN(x));
}

// logarithm is log(x) of a normal x > 0 (clause 15); 1 + f is x between the roots of 1/2 and 2.
vec_t logarithm(vec_t x)
{
	const bits_t u = NAME(as_uint, W)(x) - (bits_t)(0x3f3504f3u);
	const vec_t k = NAME(convert_float, W)(NAME(as_int, W)(u) >> 23);
	const vec_t f = NAME(as_float, W)((u & (bits_t)(0x7fffffu)) + (bits_t)(0x3f3504f3u)) - VECTOR(1.0f);
	vec_t p = VECTOR(-0x1.38c08ep-4f);
	p = fma(p, f, VECTOR(0x1.055ba6p-3f));
	p = fma(p, f, VECTOR(-0x1.0d8304p-3f));
	p = fma(p, f, VECTOR(0x1.22d9e4p-3f));
	p = fma(p, f, VECTOR(-0x1.547282p-3f));
	p = fma(p, f, VECTOR(0x1.99a00ep-3f));
	p = fma(p, f, VECTOR(-0x1.000226p-2f));
	p = fma(p, f, VECTOR(0x1.555554p-2f));
	p = fma(p, f, VECTOR(-0.5f));
	return fma(k, VECTOR(0x1.62e4p-1f), f + fma(f * f, p, k * VECTOR(0x1.7f7d1cp-20f)));
}

// reciprocal is 1/x of an x from 1 to 2^100 (clause 15).
vec_t reciprocal(vec_t x)
{
	vec_t y = NAME(as_float, W)((bits_t)(0x7ef311c7u) - NAME(as_uint, W)(x));
	for (int k = 0; k < 4; k++)
		y = fma(y, fma(-x, y, VECTOR(1.0f)), y);
	return y;
}

#if WIDTH > 1
// integers_of is integer_of of each value.
longs_t integers_of(vec_t x, float scale)
{
	const vec_t v = x * (vec_t)(scale);
	const vec_t big = copysign((vec_t)(0x1p23f), v);
	return NAME(convert_long, WIDTH)(select(v, (v + big) - big, fabs(v) < (vec_t)(0x1p23f)));
}
#endif
