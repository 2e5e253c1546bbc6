#pragma OPENCL FP_CONTRACT OFF
// residuals: from scores and targets to coefficients of weighted sums, and losses (clause 16).
//
// In vectors of WIDTH examples (vector.cl), the widest that there are on a CPU, 1 on a GPU.
//
// Macro, given by the host: GROUP, work-items in a work-group, a power of two.

// Vectors in a line of scores; where vector b has the score of class r.
#define PER_LINE (LANES / WIDTH)
#define LINE(r) ((b / PER_LINE * Q + (r)) * PER_LINE + b % PER_LINE)

// A CPU remembers the terms of the sums of the first classes; computing them again costs a GPU less
// than remembering.
#if CPU
#define MOST_KEPT 64
#define KEEP(terms) vec_t terms[MOST_KEPT];
#define STORE_KEPT(terms, r, term)                                              \
	if (r < MOST_KEPT)                                                      \
		terms[r] = term;
#define KEPT(terms, r, again) (r < MOST_KEPT ? terms[r] : again)
#else
#define KEEP(terms)
#define STORE_KEPT(terms, r, term)
#define KEPT(terms, r, again) (again)
#endif

// The largest loss that counts.
#define MOST 0x1.fffffep14f

//   scores   of the tile (see contract.cl), all classes
//   targets  in the lay-out of the scores: logarithms, or, if given is 1, the targets themselves
//   weight   of each example, in the order of the scores, up to a multiple of LANES
//   order    if sorted is 1, which example of the tile the scores of place i belong to
//   a        written: the residual of example i, first <= i < end, of class r is
//                a[(i - first) * Q + r]
//   first    a multiple of LANES; 0 if sorted
//   scale    2^s of the fixed point of losses
//   grads    if trees, a number of examples, is not 0: written in place of a, as the integers
//            of clause 24, g and h from grads[2 * (r * trees + i)] on

// residuals_at writes those of vector b, and adds their losses, in fixed point, to total and the
// examples refused to refused.
// It is inlined, and oclgrind bears no restrict of what is: that of the kernels' arguments is enough.
static void residuals_at(size_t b, __global const float *scores, __global const float *targets,
                  __global const float *weight, __global const int *order,
                  __global float *a, int first, int end, int Q, int given, int sorted, float scale,
                  __global int *grads, int trees, long *total, long *refused)
{
	__global const vec_t *score = (__global const vec_t *)scores;
	__global const vec_t *target = (__global const vec_t *)targets;

	// The largest scores, and what is NaN if one is not finite.
	vec_t m = (vec_t)(-INFINITY), m2 = m, odd = 0.0f;
	UNROLL(4)
	for (int r = 0; r < Q; r++) {
		const vec_t s = score[LINE(r)], v = s + target[LINE(r)];
		odd += s - s;
		m = select(m, s, m < s);
		m2 = select(m2, v, m2 < v);
	}
	vec_t sum = 0.0f, sum2 = 0.0f;
	KEEP(terms)
	KEEP(terms2)
	UNROLL(2)
	for (int r = 0; r < Q; r++) {
		const vec_t s = score[LINE(r)], term = exponential(s - m);
		sum += term;
		STORE_KEPT(terms, r, term)
		if (!given) {
			const vec_t term2 = exponential(s + target[LINE(r)] - m2);
			sum2 += term2;
			STORE_KEPT(terms2, r, term2)
		}
	}
	const vec_t inverse = reciprocal(sum), inverse2 = reciprocal(sum2);
	vec_t loss = logarithm(sum);
	if (given) {
		UNROLL(4)
		for (int r = 0; r < Q; r++)
			loss = fma(-target[LINE(r)], score[LINE(r)] - m, loss);
	} else
		loss = m - m2 + (loss - logarithm(sum2));
	const vec_t u = ((__global const vec_t *)weight)[b];
	loss *= u;

	// If m2 is not finite, neither is the loss.
	const vec_t size = NAME(as_float, W)(NAME(as_uint, W)(loss) & (bits_t)(0x7fffffffu));
	const ints_t counts = (VECTOR(MOST) >= size) & (IS_NAN(odd) == 0);
	float part[WIDTH];
	int counted[WIDTH];
	size_t at[WIDTH];
	STORE(loss, 0, part);
	STORE(counts, 0, counted);
	const int lanes = WIDTH == 1 ? 1 : min(WIDTH, end - (int)(b * WIDTH));
	for (int l = 0; l < lanes; l++) {
		const size_t i = b * WIDTH + l;
		at[l] = (sorted ? (size_t)BOUNDED(order[i], end) : i - first) * Q;
		*total += counted[l] ? integer_of(part[l], scale) : 0;
		*refused += counted[l] ? 0 : 1;
	}
	const vec_t nothing = (vec_t)(NOTHING_OF(scale));
	UNROLL(2)
	for (int r = 0; r < (trees ? 0 : Q); r++) {
		const vec_t s = score[LINE(r)], t = target[LINE(r)];
		const vec_t p = fma(KEPT(terms, r, exponential(s - m)), inverse, nothing);
		const vec_t wanted = given ? t : fma(KEPT(terms2, r, exponential(s + t - m2)), inverse2, nothing);
		const vec_t residual = select((vec_t)(0.0f), (p - wanted) * u, counts);
		STORE(residual, 0, part);
		for (int l = 0; l < lanes; l++)
			a[at[l] + r] = part[l];
	}
	for (int r = 0; r < (trees ? Q : 0); r++) {
		const vec_t s = score[LINE(r)], t = target[LINE(r)];
		const vec_t p = fma(KEPT(terms, r, exponential(s - m)), inverse, nothing);
		const vec_t wanted = given ? t : fma(KEPT(terms2, r, exponential(s + t - m2)), inverse2, nothing);
		float h[WIDTH];
		STORE(select((vec_t)(0.0f), (p - wanted) * u, counts), 0, part);
		STORE(select((vec_t)(0.0f), p * (VECTOR(1.0f) - p) * u, counts), 0, h);
		__global int *to = grads + 2 * ((size_t)r * trees + b * WIDTH);
		for (int l = 0; l < lanes; l++) {
			to[2 * l] = (int)integer_of(part[l], 0x1p18f);
			to[2 * l + 1] = (int)integer_of(h[l], 0x1p18f);
		}
	}
}

//   losses   pairs: the sum of losses in fixed point, and the examples refused. A work-item on a
//            CPU, a work-group on a GPU adds to one of its own
__kernel FIXED_GROUP
void residuals(__global const float *restrict scores, __global const float *restrict targets,
               __global const float *restrict weight, __global const int *restrict order,
               __global float *restrict a, __global long *restrict losses,
               int first, int end, int Q, int given, int sorted, float scale,
               __global int *restrict grads, int trees)
{
	long total = 0, refused = 0;
	for (size_t b = first / WIDTH + get_global_id(0); b * WIDTH < (size_t)end; b += get_global_size(0))
		residuals_at(b, scores, targets, weight, order, a, first, end, Q, given, sorted, scale,
		             grads, trees, &total, &refused);
#if CPU
	losses[2 * get_global_id(0)] += total;
	losses[2 * get_global_id(0) + 1] += refused;
#else
	__local long sums[2 * GROUP];
	const int l = (int)get_local_id(0);
	sums[2 * l] = total;
	sums[2 * l + 1] = refused;
	for (int rest = GROUP; rest >= 2; rest /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < rest)
			sums[l] += sums[l + rest];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = l; k < 2; k += GROUP)
		losses[2 * get_group_id(0) + k] += sums[k];
#endif
}
