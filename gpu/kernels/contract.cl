// Common head of every kernel of uma-gpu, put before all kernel files.
//
// Lay-outs shared by the kernels. A data set lies on the device in tiles of
// consecutive examples; sizes below are those of one tile.
//
//   x       dense examples, row-major as in host memory: the value of example i in
//           column j, 0 <= i < rows, 0 <= j < d, is x[i * d + j]
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
//
// Clause numbers are those of the numerics contract in package host/engine/contract.

#pragma OPENCL FP_CONTRACT OFF

#if !defined(CPU) || !defined(LANES) || !defined(CHUNK)
#error "the host must define CPU, LANES and CHUNK"
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

#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b) // of a type or function and a width, which may be nothing

// UNROLL(n) before a loop has a GPU's compiler do n rounds at once, UNROLL_ALL all, so that their loads
// are under way together and arrays stay in registers. A compiler that does not know how does them one
// by one.
// Processors are left as they were measured.
#define PRAGMA(text) _Pragma(#text)
#if !CPU && (defined(__clang__) || defined(cl_nv_pragma_unroll))
#define UNROLL(n) PRAGMA(unroll n)
#define UNROLL_ALL PRAGMA(unroll)
#else
#define UNROLL(n)
#define UNROLL_ALL
#endif

// FIRST(c, n, most) is the head of a loop over c = 0 … n-1, at most most rounds, which a GPU unrolls.
#if CPU
#define FIRST(c, n, most) for (int c = 0; c < min(most, n); c++)
#else
#define FIRST(c, n, most) UNROLL(most) for (int c = 0; c < most; c++) if (c < (n))
#endif

// A product before a sum or a difference is written fma(a, b, -0), which has the same bits and is
// nothing that a compiler could fuse with what follows, were it to ignore FP_CONTRACT. NOTHING_OF(scale)
// is that -0 for any scale > 0, not known before the kernel runs: of a constant, a compiler would make
// the product again.
#define NOTHING_OF(scale) (-0.0f * (scale))

// FIXED_GROUP is of kernels that on a GPU have GROUP work-items in a work-group, a macro of the host.
#if CPU
#define FIXED_GROUP
#else
#define FIXED_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif

#define IS_NAN(a) ((a) != (a)) // as the comparison: 1 or 0, of vectors -1 or 0 for each value

// BOUNDED is an index that was read from memory, and below n whatever a fault has made of it: no
// kernel follows it out of a buffer.
#define BOUNDED(index, n) (int)min((uint)(index), (uint)(n) - 1)

// integer_of is the integer of x in fixed point, scale = 2^s: x·2^s rounded to the
// nearest, ties to even (clause 3). The product is exact, or so small that it
// rounds to 0 in any case. Adding 2^23 to a smaller number leaves no room for a
// fraction, so the addition rounds it off; from 2^23 on there is none. (PoCL takes
// four times as long for rint, and for a conversion with a rounding mode.)
long integer_of(float x, float scale)
{
	const float v = x * scale;
	const float big = copysign(0x1p23f, v);
	return (long)(fabs(v) < 0x1p23f ? (v + big) - big : v);
}
