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
//   GROUP   on a GPU, work-items in a work-group of score, a power of two
//   FETCHES defined where the compiler has __builtin_prefetch
//   CHUNK   columns of a chunk of a dot product, 256 (clause 1)
//   WIDTH   values of a vector in project.cl: 4 on a GPU; 4, 8 or 16 on a processor
//
// Clause numbers are those of the numerics contract in package host/engine.

#pragma OPENCL FP_CONTRACT OFF

#if !defined(CPU) || !defined(LANES) || !defined(GROUP) || !defined(CHUNK)
#error "the host must define CPU, LANES, GROUP and CHUNK"
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
