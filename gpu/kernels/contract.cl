// Common head of every kernel of uma-gpu, put before each kernel file.
//
// Lay-outs shared by the kernels. A data set lies on the device in tiles of
// consecutive examples; sizes below are those of one tile.
//
//   x       examples, interleaved in blocks of LANES: the value of example i in
//           column j, 0 <= i < rows, 0 <= j < d, is
//               x[(i / LANES * d + j) * LANES + i % LANES]
//           Lanes beyond the last example hold 0.
//   scores  one line per class: the score of example i for class r is
//               scores[r * stride + i],  stride = rows rounded up to LANES
//   sums    class sums of some consecutive regions, int64 in fixed point: region
//           p (counted from the first of them), noisy label k, column j is
//               sums[(p * Q + k) * d + j]
//
// Macros, given by the host when it builds:
//   LANES   examples interleaved in a block, 16
//   VEC     lanes (score) or columns (move_sums) one work-item computes: LANES on
//           a CPU, whose vector unit and pages want them; 1 on a GPU, where
//           neighbouring work-items take them
//   CHUNK   columns of a chunk of a dot product, 256 (clause 1)
//
// Clause numbers are those of the numerics contract in package host/engine.

#pragma OPENCL FP_CONTRACT OFF

#if !defined(LANES) || !defined(VEC) || !defined(CHUNK)
#error "the host must define LANES, VEC and CHUNK"
#endif

#if VEC == 16
typedef float16 lanes_t;
#elif VEC == 1
typedef float lanes_t;
#else
#error "VEC must be 1 or 16"
#endif

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
