#pragma OPENCL FP_CONTRACT OFF
// product and squares: projection on landmarks (clause 13). A projection is two products, each
// with its own ending: of the examples with the landmarks, and of the kernel values with the axes.
// squares computes ⟨x,x⟩ of each row of a.
//
//   a     rows × lda, row-major
//   b     the other factor in panels of COLUMNS of its rows, transposed, the last panel
//         filled up with zeros: row c of panel p has in column j < lda the value
//             b[(p * lda + j) * COLUMNS + c]
//   out   written, rows × ldo, row-major: the product of row i of a and row c of panel p is
//         out[i * ldo + p * COLUMNS + c], and is not written beyond ldo columns
//   ending  what becomes of a total. With KERNEL_POLY and KERNEL_RBF they become kernel values, of
//         parameters gamma, coef0 and degree; squares[i] is then ⟨x,x⟩ of row i, and
//         more[p * COLUMNS + c] ⟨y,y⟩ of the landmark. With OFFSET, more is added.

#if CPU

#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5)
#define ROWS 6
#if WIDTH == 16 // and 32 registers; else 16
#define EACH_VECTOR(F, k) F(k, 0) F(k, 1) F(k, 2) F(k, 3)
#define VECTORS 4
#else
#define EACH_VECTOR(F, k) F(k, 0) F(k, 1)
#define VECTORS 2
#endif
#define BLOCKS 16

// Work-item (p, u) computes panel p for BLOCKS blocks of ROWS rows: as many sums of a block at
// a time as there are registers for, and a chunk of the panel stays in a cache for all blocks.
// The last block of all begins as many rows early as it has too few, which are computed twice and
// written once; a has ROWS rows at least.
#define START(block) max(0, min(first + (block) * ROWS, rows - ROWS))
#define BEGIN_ROW(k) __global const float *a##k = a + (size_t)(start + k) * lda;
#define BEGIN_SUM(k, v) vec_t acc##k##_##v = 0.0f;
#define BEGIN_SUMS(k) EACH_VECTOR(BEGIN_SUM, k)
#define LOAD_B(k, v) const vec_t b##v = LOAD(v, bj);
#define STEP(k, v) acc##k##_##v = fma(value##k, b##v, acc##k##_##v);
#define STEPS(k)                                                                \
	const vec_t value##k = (vec_t)(a##k[j]);                                \
	EACH_VECTOR(STEP, k)
#define END_SUM(k, v) total[block][k][part + v] += acc##k##_##v;
#define END_SUMS(k) EACH_VECTOR(END_SUM, k)

__kernel void product(__global const float *restrict a, int lda,
                      __global const float *restrict b, __global float *restrict out,
                      int ldo, int rows, int ending, __global const float *restrict squares,
                      __global const float *restrict more, float gamma, float coef0, int degree)
{
	const int p = (int)get_global_id(0);
	const int first = ROWS * BLOCKS * (int)get_global_id(1);
	const int end = min(first + ROWS * BLOCKS, rows);
	const int column = p * COLUMNS;
	b += (size_t)p * lda * COLUMNS;
	more += column;
	vec_t total[BLOCKS][ROWS][COLUMNS / WIDTH];

	for (int block = 0; first + block * ROWS < end; block++)
		for (int k = 0; k < ROWS; k++)
			for (int v = 0; v < COLUMNS / WIDTH; v++)
				total[block][k][v] = 0.0f;
	for (int low = 0; low < lda; low += CHUNK) {
		const int high = min(low + CHUNK, lda);
		for (int block = 0; first + block * ROWS < end; block++) {
			const int start = START(block);
			EACH_ROW(BEGIN_ROW)
			for (int part = 0; part < COLUMNS / WIDTH; part += VECTORS) {
				__global const float *bj = b + (size_t)low * COLUMNS + part * WIDTH;
				EACH_ROW(BEGIN_SUMS)
				for (int j = low; j < high; j++, bj += COLUMNS) {
					EACH_VECTOR(LOAD_B, 0)
					EACH_ROW(STEPS)
				}
				EACH_ROW(END_SUMS)
			}
		}
	}
	for (int block = 0; first + block * ROWS < end; block++)
		for (int k = 0; k < ROWS; k++) {
			const int i = START(block) + k;
			if (i < first + block * ROWS || i >= end)
				continue;
			for (int v = 0; v < COLUMNS / WIDTH; v++)
				put(ended(total[block][k][v], ending, squares + i, more + v * WIDTH, gamma, coef0, degree),
				    out + (size_t)i * ldo, column + v * WIDTH, ldo);
		}
}

#else

// A step is a column, a row of the tile one of a (tile.cl).
#define STEP_A(m, i) (int)((m) % (STEPS / VEC) * VEC + (i))
#define ROW_A(m, i) (int)((m) / (STEPS / VEC))
#define A a
#define A_PITCH 1
#define AT_A(s, r) ((size_t)min(r, rows - 1 - first) * lda + (s))
#define KEEP_A(v, is) KEEP_B(v, is)
#define B b
#define B_PITCH COLUMNS
#define AT_B(s, c) ((s) * COLUMNS + (c))

#if CLASSES != COLUMNS || WIDTH != 4
#error "the host must define CLASSES as COLUMNS, and WIDTH as 4, the values of a vector of tile.cl"
#endif

// Work-group (p, t) computes rows t·TALL and more of the p-th BROAD columns: those of the same rows
// run side by side, and all but the first find these in a cache.
TILE_KERNEL
void product(__global const float *restrict a, int lda,
             __global const float *restrict b, __global float *restrict out, int ldo, int rows, int ending,
             __global const float *restrict squares, __global const float *restrict more,
             float gamma, float coef0, int degree)
{
	TILE
	const int begin = (int)get_group_id(0) * BROAD;
	const int first = (int)get_global_id(1) * TALL;
	a += (size_t)first * lda;
	b += (size_t)(begin / COLUMNS) * lda * COLUMNS + begin % COLUMNS;
#define ROW(k) (first + MY_ROW(k))
#define COLUMN(v) (begin + MY_COLUMN(v))

	// The totals of chunks lie where they are written: registers are for the sums.
	for (int low = 0; low < lda; low += CHUNK) {
		SUM(low, min(low + CHUNK, lda))
		EACH_SUM
			if (ROW(k) < rows) {
				__global float *row = out + (size_t)ROW(k) * ldo;
				const float4 before = low > 0 ? kept(row, COLUMN(v), ldo) : (float4)(0.0f);
				put(before + acc[k][v], row, COLUMN(v), ldo);
			}
	}
	// Once for all sums, not once for each.
	for (int n = 0; ending != NOTHING && n < ROWS * COLS / 4; n++) {
		const int i = ROW(n % ROWS), column = COLUMN(n / ROWS);
		__global float *row = out + (size_t)i * ldo;
		if (i < rows)
			put(ended(kept(row, column, ldo), ending, squares + i, more + column, gamma, coef0, degree),
			    row, column, ldo);
	}
}

#endif

__kernel void squares(__global const float *restrict a, __global float *restrict squares,
                      int rows, int lda)
{
	const size_t i = get_global_id(0);
	if (i >= (size_t)rows)
		return;
	a += i * lda;
	float total = 0.0f;
	for (int low = 0; low < lda; low += CHUNK) {
		const int high = min(low + CHUNK, lda);
		float acc = 0.0f;
		UNROLL(8)
		for (int j = low; j < high; j++)
			acc = fma(a[j], a[j], acc);
		total += acc;
	}
	squares[i] = total;
}
