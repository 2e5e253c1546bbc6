#pragma OPENCL FP_CONTRACT OFF
// Vectors of WIDTH values, 1, 4, 8 or 16, and of such: exp, log and 1/x of fma steps (clauses
// 11 and 15), and integers in fixed point (clause 3). This file stands before those that want
// them.

#ifndef WIDTH
#error "the host must define WIDTH, the values of a vector: 1, 4, 8 or 16"
#endif

#if WIDTH == 1
#define vec_t float
#define ints_t int
#define bits_t uint
#define AS_BITS as_uint
#define AS_INT as_int
#define AS_VEC as_float
#define TO_VEC convert_float
#define STORE(value, at, to) ((to)[at] = (value))
#else
#define vec_t NAME(float, WIDTH)
#define ints_t NAME(int, WIDTH)
#define bits_t NAME(uint, WIDTH)
#define AS_BITS NAME(as_uint, WIDTH)
#define AS_INT NAME(as_int, WIDTH)
#define AS_VEC NAME(as_float, WIDTH)
#define TO_VEC NAME(convert_float, WIDTH)
#define TO_LONG NAME(convert_long, WIDTH)
#define longs_t NAME(long, WIDTH)
#define LOAD NAME(vload, WIDTH)
#define STORE NAME(vstore, WIDTH)
#endif

// exponential is exp(x) for x <= 0 (clause 11), that is without its upper end.
vec_t exponential(vec_t x)
{
	const vec_t t = fma(x, (vec_t)(0x1.715476p0f), (vec_t)(0x1.8p23f));
	const vec_t k = t - (vec_t)(0x1.8p23f);
	vec_t r = fma(-k, (vec_t)(0x1.62e4p-1f), x);
	r = fma(-k, (vec_t)(0x1.7f7d1cp-20f), r);
	vec_t p = (vec_t)(0x1.6a23dp-10f);
	p = fma(p, r, (vec_t)(0x1.123a2p-7f));
	p = fma(p, r, (vec_t)(0x1.5558f2p-5f));
	p = fma(p, r, (vec_t)(0x1.555492p-3f));
	p = fma(p, r, (vec_t)(0x1.fffffcp-2f));
	p = fma(p, r, (vec_t)(1.0f));
	p = fma(p, r, (vec_t)(1.0f));
	const vec_t y = AS_VEC(AS_BITS(p) + (AS_BITS(t) << 23));
	return select(select(y, (vec_t)(0.0f), x < (vec_t)(-0x1.5d589ep6f)), x, x != x);
}

// logarithm is log(x) of a normal x > 0 (clause 15); 1 + f is x between the roots of 1/2 and 2.
vec_t logarithm(vec_t x)
{
	const bits_t u = AS_BITS(x) - (bits_t)(0x3f3504f3u);
	const vec_t k = TO_VEC(AS_INT(u) >> 23);
	const vec_t f = AS_VEC((u & (bits_t)(0x7fffffu)) + (bits_t)(0x3f3504f3u)) - (vec_t)(1.0f);
	vec_t p = (vec_t)(-0x1.38c08ep-4f);
	p = fma(p, f, (vec_t)(0x1.055ba6p-3f));
	p = fma(p, f, (vec_t)(-0x1.0d8304p-3f));
	p = fma(p, f, (vec_t)(0x1.22d9e4p-3f));
	p = fma(p, f, (vec_t)(-0x1.547282p-3f));
	p = fma(p, f, (vec_t)(0x1.99a00ep-3f));
	p = fma(p, f, (vec_t)(-0x1.000226p-2f));
	p = fma(p, f, (vec_t)(0x1.555554p-2f));
	p = fma(p, f, (vec_t)(-0.5f));
	return fma(k, (vec_t)(0x1.62e4p-1f), f + fma(f * f, p, k * (vec_t)(0x1.7f7d1cp-20f)));
}

// reciprocal is 1/x of an x from 1 to 2^100 (clause 15).
vec_t reciprocal(vec_t x)
{
	vec_t y = AS_VEC((bits_t)(0x7ef311c7u) - AS_BITS(x));
	for (int k = 0; k < 4; k++)
		y = fma(y, fma(-x, y, (vec_t)(1.0f)), y);
	return y;
}

#if WIDTH > 1
// integers_of is integer_of of each value.
longs_t integers_of(vec_t x, float scale)
{
	const vec_t v = x * scale;
	const vec_t big = copysign((vec_t)(0x1p23f), v);
	return TO_LONG(select(v, (v + big) - big, fabs(v) < (vec_t)(0x1p23f)));
}
#endif
