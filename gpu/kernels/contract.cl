// Common head of every kernel of uma-gpu, put before all kernel files.
//
// Lay-outs shared by the kernels. A data set lies on the device in tiles of
// consecutive examples; sizes below are those of one tile.
//
//   x       dense examples, row-major as in host memory: the value of example i in
//           column j, 0 <= i < rows, 0 <= j < d, is x[i * d + j]
//           Or narrow (macro NARROW): small integers, from which the value is prepared
//           whenever it is read (clause 2):
//               fma(x[i * d + j] + least, map[j], map[d + j]) * unit[i]
//   map     of narrow examples, factors and offsets of the d columns; (1, 0) for one that
//           is not mapped
//   unit    of narrow examples, what scales the examples to length 1, or 1
//   scores  in blocks of LANES examples, a line per class in each block: the score
//           of example i for class r, 0 <= r < Q, is scores[SCORE(i, r)]. So LANES
//           neighbours are one vector, and the scores of one example lie close.
//   sums    class sums of some consecutive regions, int64 in fixed point: region
//           p (counted from the first of them), noisy label k, column j is
//               sums[(p * Q + k) * d + j]
//
// Macros, given by the host when it builds:
//   CPU     1 on a processor, where a work-item takes several examples or columns
//           and computes with vectors; 0 on a GPU, where neighbouring work-items
//           take neighbouring ones
//   LANES   examples side by side in a block of scores or a slice of sparse examples, 16
//   FETCHES defined where the compiler has __builtin_prefetch
//   CHUNK   columns of a chunk of a dot product, 256 (clause 1)
//   NARROW  bytes of a value of narrow examples, 1 or 2; 0 for those in float32.
//           Programs that read dense examples are compiled once for each
//   SOFTWARE  1 where the device's own float32 operations failed the probe (probe.cl), so
//           that they are made of integers; else 0
//   LOOPS   1 where the driver ends loops before their time, which the probe finds out; else 0
//
// Clause numbers are those of the numerics contract in package host/engine/contract.

#pragma OPENCL FP_CONTRACT OFF

#if !defined(CPU) || !defined(LANES) || !defined(CHUNK) || !defined(NARROW) || !defined(SOFTWARE) || !defined(LOOPS)
#error "the host must define CPU, LANES, CHUNK, NARROW, SOFTWARE and LOOPS"
#endif

#if LANES != 16
#error "LANES must be 16, the width of the widest vectors"
#endif

// What is read next is not always where a processor expects it. A compiler that knows
// how to fetch ahead is told; the bits do not depend on it.
#ifdef FETCHES
#define FETCH(address) __builtin_prefetch((const void *)(address))
#else
#define FETCH(address)
#endif

#define SCORE(i, r) (((size_t)(i) / LANES * Q + (r)) * LANES + (size_t)(i) % LANES)

// llvmpipe gives all loops of a work-item 65535 rounds together; from then on each is ended after
// its first, and nobody is told. So a kernel's last parameter is LOOPS_PARAMETER, its last
// statement CHECK_LOOPS, a loop of two rounds, which tells the host if it was ended after one.
//
//   loops  loops[0] is written, 1, if loops were ended; loops[1] is 2
#if LOOPS
#define LOOPS_PARAMETER , volatile __global int *restrict loops
#define CHECK_LOOPS                                                             \
	int rounds_done = 0;                                                    \
	while (rounds_done < loops[1])                                          \
		rounds_done++;                                                  \
	if (rounds_done != loops[1])                                            \
		loops[0] = 1;
#else
#define LOOPS_PARAMETER
#define CHECK_LOOPS
#endif

#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

// Arithmetic. Kernels compute float32 by these names alone, never by an operator, by fma or
// by a conversion of OpenCL, since SOFTWARE makes float another name of uint: bits, which
// may be loaded, stored, moved and selected. What is forgotten is then no small mistake but
// the sum of two patterns of bits, which the conformance suite does not miss.
//
//   FMA(a, b, c), ADD(a, b), SUB(a, b), MUL(a, b), NEG(a)
//                    numbers, or vectors of one width: (float4)(x) makes one of a number
//   LESS(a, b), AT_LEAST(a, b), IS_NAN(a)
//                    as the operators: 1 or 0, of vectors -1 or 0 for each component
//   FLOAT(n, v)      the nearest to integers of any type, ties to even, where n is the width
//                    of vector v, nothing for a number
//   CONSTANT(v)      a constant; 0.0f needs no name but after ? or :, which would make the other
//                    choice a float again
//   BITS(n, v), OF_BITS(n, v)   the bits of numbers as uint, and back
//   integer_of(x, scale)   of fixed point
#if SOFTWARE

#define float uint
#define float4 uint4
#define float8 uint8
#define float16 uint16
#define FMA(a, b, c) software_fma(a, b, c)
#define ADD(a, b) software_add(a, b)
#define SUB(a, b) software_add(a, NEG(b))
#define MUL(a, b) software_mul(a, b)
#define NEG(a) ((a) ^ 0x80000000u)
#define LESS(a, b) software_less(a, b)
#define AT_LEAST(a, b) software_at_least(a, b)
#define IS_NAN(a) (((a) & 0x7fffffffu) > 0x7f800000u)
#define FLOAT(n, v) NAME(software_float, n)(NAME(convert_long, n)(v))
#define CONSTANT(v) as_uint(v)
#define BITS(n, v) (v)
#define OF_BITS(n, v) (v)
#define OVERLOADED __attribute__((overloadable))

// shifted is v shifted right, its last bit set if any that is lost was, 0 <= by < 64.
ulong shifted(ulong v, int by)
{
	const ulong s = v >> by;
	return s | ((s << by) != v);
}

// rounded is the number nearest to v times 2^(exponent - 189), ties to even, for v < 2^63,
// so that exponent is that of the result's bits if bit 62 of v is its first.
uint rounded(uint sign, int exponent, ulong v)
{
	if (v == 0)
		return sign;
	const int n = (int)clz(v) - 1;
	exponent -= n;
	v = shifted(v << n, clamp(1 - exponent, 0, 63)); // subnormal
	v = (v + 0x3fffffffffUL + ((v >> 39) & 1)) >> 39;
	const uint bits = ((uint)max(exponent - 1, 0) << 23) + (uint)v; // a carry is right
	return sign | min(bits, 0x7f800000u);
}

// significand is that of a finite number, its first bit being 23, or 0; exponent becomes such
// that the number is significand * 2^(exponent - 150).
uint significand(uint bits, int *exponent)
{
	const uint m = bits & 0x7fffffu;
	const int e = (int)((bits >> 23) & 255), n = (int)clz(m) - 8;
	*exponent = e > 0 ? e : m > 0 ? 1 - n : -1000;
	return e > 0 ? m | 0x800000u : m << (n & 31);
}

uint OVERLOADED software_fma(uint a, uint b, uint c)
{
	int ea, eb, ec;
	const uint ma = significand(a, &ea), mb = significand(b, &eb), mc = significand(c, &ec);
	const uint sign = (a ^ b) & 0x80000000u, sign_c = c & 0x80000000u;

	// Product and c with 62 bits each, the one of lower exponent shifted.
	const int apart = ea + eb - 125 - (ec + 1);
	const ulong product = shifted(((ulong)ma * mb) << 14, clamp(-apart, 0, 63));
	const ulong addend = shifted((ulong)mc << 38, clamp(apart, 0, 63));
	const long sum = sign == sign_c ? product + addend : product - addend;
	const uint sign_sum = sum > 0 ? sign : sum < 0 ? sign_c : sign & sign_c;
	const uint finite = rounded(sign_sum, max(ea + eb - 125, ec + 1), abs(sum));

	const uint size_a = a & 0x7fffffffu, size_b = b & 0x7fffffffu, size_c = c & 0x7fffffffu;
	const uint most = max(size_a, size_b), infinity = 0x7f800000u;
	const int nan = most > infinity || size_c > infinity || (most == infinity &&
	                (min(size_a, size_b) == 0 || (size_c == infinity && sign != sign_c)));
	return nan ? 0x7fc00000u : most == infinity ? sign | infinity : size_c == infinity ? c : finite;
}

uint OVERLOADED software_add(uint a, uint b) { return software_fma(a, as_uint(1.0f), b); }
uint OVERLOADED software_mul(uint a, uint b) { return software_fma(a, b, (a ^ b) & 0x80000000u); }

// From component to component, since compilers that need this take long.
#define COMPONENTS(n)                                                           \
	uint##n OVERLOADED software_fma(uint##n a, uint##n b, uint##n c)        \
	{                                                                       \
		uint x[n], y[n], z[n];                                          \
		vstore##n(a, 0, x);                                             \
		vstore##n(b, 0, y);                                             \
		vstore##n(c, 0, z);                                             \
		for (int k = 0; k < n; k++)                                     \
			x[k] = software_fma(x[k], y[k], z[k]);                  \
		return vload##n(0, x);                                          \
	}                                                                       \
	uint##n OVERLOADED software_add(uint##n a, uint##n b)                   \
	{                                                                       \
		return software_fma(a, (uint##n)(as_uint(1.0f)), b);            \
	}                                                                       \
	uint##n OVERLOADED software_mul(uint##n a, uint##n b)                   \
	{                                                                       \
		return software_fma(a, b, (a ^ b) & 0x80000000u);               \
	}
COMPONENTS(4)
COMPONENTS(8)
COMPONENTS(16)

// Numbers in order of the integers that they become, but for NaN.
#define COMPARISONS(n)                                                          \
	int##n OVERLOADED in_order(uint##n v)                                   \
	{                                                                       \
		const int##n sign = NAME(as_int, n)(v) >> 31;                   \
		return (NAME(as_int, n)(v & 0x7fffffffu) ^ sign) - sign;        \
	}                                                                       \
	int##n OVERLOADED software_less(uint##n a, uint##n b)                   \
	{                                                                       \
		return (in_order(a) < in_order(b)) & ~(IS_NAN(a) | IS_NAN(b));  \
	}                                                                       \
	int##n OVERLOADED software_at_least(uint##n a, uint##n b)               \
	{                                                                       \
		return (in_order(a) >= in_order(b)) & ~(IS_NAN(a) | IS_NAN(b)); \
	}
COMPARISONS()
COMPARISONS(4)
COMPARISONS(8)
COMPARISONS(16)

uint software_float(long v)
{
	const ulong size = abs(v);
	const int n = (int)clz(size);
	return v == 0 ? 0 : rounded(v < 0 ? 0x80000000u : 0, 190 - n, (size << n) >> 1);
}

#define FLOATS(n)                                                               \
	uint##n software_float##n(long##n v)                                    \
	{                                                                       \
		long x[n];                                                      \
		uint y[n];                                                      \
		vstore##n(v, 0, x);                                             \
		for (int k = 0; k < n; k++)                                     \
			y[k] = software_float(x[k]);                            \
		return vload##n(0, y);                                          \
	}
FLOATS(4)
FLOATS(8)
FLOATS(16)

#else

#define FMA(a, b, c) fma(a, b, c)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define LESS(a, b) ((a) < (b))
#define AT_LEAST(a, b) ((a) >= (b))
#define IS_NAN(a) ((a) != (a))
#define FLOAT(n, v) NAME(convert_float, n)(v)
#define CONSTANT(v) (v)
#define BITS(n, v) NAME(as_uint, n)(v)
#define OF_BITS(n, v) NAME(as_float, n)(v)

#endif

// integer_of is the integer of x in fixed point, scale = 2^s: x·2^s rounded to the
// nearest, ties to even (clause 3). The product is exact, or so small that it
// rounds to 0 in any case. Adding 2^23 to a smaller number leaves no room for a
// fraction, so the addition rounds it off; from 2^23 on there is none. (PoCL takes
// four times as long for rint, and for a conversion with a rounding mode.)
long integer_of(float x, float scale)
{
	const float v = MUL(x, scale);
#if SOFTWARE
	const int e = (int)((v >> 23) & 255), n = clamp(150 - e, 1, 25); // from 25 on nothing is left
	const long m = (v & 0x7fffffu) | 0x800000u;
	const long size = e >= 150 ? m << ((e - 150) & 63) : (m + (1L << (n - 1)) - 1 + ((m >> n) & 1)) >> n;
	return v >> 31 ? -size : size;
#else
	const float big = copysign(0x1p23f, v);
	return (long)(fabs(v) < 0x1p23f ? (v + big) - big : v);
#endif
}

// What kernels that read dense examples take, and hand on, and how they read them: X(example, row, j)
// is the value in column j of the example that lies in that row of x.
#if NARROW
#if NARROW == 1
typedef uchar x_t;
#define VLOAD_X(n, at) FLOAT(n, NAME(vload, n)(0, (__global const uchar *)(at)))
#else
typedef ushort x_t;
#define VLOAD_X(n, at) FLOAT(n, NAME(vload, n)(0, (__global const ushort *)(at)))
#endif
#define EXAMPLES \
	__global const x_t *restrict x, __global const float *restrict map, \
	__global const float *restrict unit, float least
#define THE_EXAMPLES x, map, unit, least
#define PREPARE(n, v, a, b, r) MUL(FMA(ADD(v, (NAME(float, n))(least)), a, b), (NAME(float, n))(r))
#define X(example, row, j) PREPARE(, FLOAT(, x[(size_t)(row) * d + (j)]), map[j], map[d + (j)], unit[example])
#else
typedef float x_t;
#define EXAMPLES __global const float *restrict x
#define THE_EXAMPLES x
#define X(example, row, j) x[(size_t)(row) * d + (j)]
#endif


#if CPU && NARROW
// prepare puts n prepared values of a row of x, from column j on, into part; map points
// to the factor of column j.
void prepare(float *part, __global const x_t *x, __global const float *map, int n, int d, float least, float unit)
{
	int j = 0;
	for (; j + 16 <= n; j += 16)
		vstore16(PREPARE(16, VLOAD_X(16, x + j), vload16(0, map + j), vload16(0, map + d + j), unit), 0, part + j);
	for (; j < n; j++)
		part[j] = PREPARE(, FLOAT(, x[j]), map[j], map[d + j], unit);
}
#endif
