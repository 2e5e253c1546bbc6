#pragma OPENCL FP_CONTRACT OFF
// A tile of a matrix product on a GPU: what kernels score, product and weighted have in common. Their
// files follow this one.
//
// A work-group computes the sums of a tile of TALL rows by BROAD columns, one step after the other
// (clauses 1 and 14). It brings STEPS steps of both factors to local memory, and the next steps to
// registers while it computes with these. Each work-item owns ROWS rows by COLS columns of the tile:
// with 8 × 8, a step is 64 fma for 4 loads of 4 values. Of few columns it owns fewer rows, since it
// brings more of the first factor, for which there have to be registers. Rows and columns of an item
// come by fours, a four of the next item beside each, to spread the banks.
//
// Macros, given by the host (gpu/kernels.go):
//   CLASSES  columns of a panel of the second factor: 4, 16 or 64. A file is there once for each that
//            it needs
//   GROUP    work-items in a work-group for up to 16 columns, a power of two
//   BIG      the same for more columns
//   STEPS    steps that are brought at a time, 2, 4, 8 or 16: more take more registers
//   SUB_GROUP  work-items that run together, where the compiler knows the attribute; or not defined
//
// A kernel's file defines
//   A, A_PITCH           the first factor, and how far apart its steps lie; B, B_PITCH the second
//   STEP_A(m, i), ROW_A(m, i)  which step and row of the tile is value i of the m-th vector of the first
//                        factor that work-items bring, so that neighbours read neighbours
//   AT_A(s, r), AT_B(s, c)  where the value of step s and of row r or column c of the tile lies behind
//                        the step that is brought first; of rows and columns that there are not, any
//   KEEP_A(v, is)        v; or KEEP_B's, where v may be infinite

#if !defined(GROUP) || !defined(BIG) || !defined(STEPS)
#error "the host must define GROUP, BIG and STEPS"
#endif

#define GAP 4 // values after each step, to spread the banks

#define ITEMS (CLASSES > 16 ? BIG : GROUP)
#define ROWS (CLASSES > 16 ? 8 : 4)
#define COLS (CLASSES < 8 ? 4 : 8)
#define ACROSS (ITEMS < CLASSES / COLS ? ITEMS : CLASSES / COLS)
#define DOWN (ITEMS / ACROSS)
#define TALL (DOWN * ROWS)
#define BROAD (ACROSS * COLS)
#define SIDE (STEPS * (TALL + GAP + BROAD) / 4)
#ifdef SUB_GROUP
#define RUN_TOGETHER __attribute__((intel_reqd_sub_group_size(SUB_GROUP)))
#else
#define RUN_TOGETHER
#endif
#define TILE_KERNEL __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) RUN_TOGETHER

// What a kernel declares: local memory, twice; the item l of the work-group; the sums of the item.
#define TILE									\
	__local float4 sides[2 * SIDE];						\
	const uint l = get_local_id(0) % ITEMS;					\
	int side = 0; /* where the current one begins */			\
	float4 acc[ROWS][COLS / 4];

// EACH_SUM is the head of a loop over the sums of the item, vectors of four columns: acc[k][v] is of
// row MY_ROW(k) and columns MY_COLUMN(v) to MY_COLUMN(v) + 3 of the tile.
#define EACH_SUM								\
	UNROLL_ALL								\
	for (int k = 0; k < ROWS; k++)						\
		UNROLL_ALL							\
		for (int v = 0; v < COLS / 4; v++)
#define MY_ROW(k) (int)(4 * ((k) / 4 * DOWN + l / ACROSS) + (k) % 4)
#define MY_COLUMN(v) (int)(4 * ((v) * ACROSS + l % ACROSS))

// What an item brings of STEPS steps: PARTS_A vectors of the first factor, whose values lie side by side
// in memory, and PARTS_B values of the second. from_a and from_b are where they come from, to_a and to_b
// where they go, so that a step costs little arithmetic of addresses.
#define VALUES_A (STEPS * ROWS / ACROSS)
#define VEC (VALUES_A % 4 || STEPS % 4 ? 2 : 4)
#define PARTS_A (VALUES_A / VEC)
#define PARTS_B ((STEPS * BROAD + ITEMS - 1) / ITEMS)
#define EACH_A UNROLL_ALL for (uint k = 0, m = l; k < PARTS_A; k++, m += ITEMS)
#define EACH_B									\
	UNROLL_ALL								\
	for (uint k = 0, n = l; k < PARTS_B; k++, n += ITEMS)			\
		if (STEPS * BROAD % ITEMS == 0 || n < STEPS * BROAD)
#define BESIDE (STEP_A(0, 1) * (TALL + GAP) + ROW_A(0, 1)) // how far apart its values go
#define EACH_VALUE UNROLL_ALL for (int i = 0; i < VEC; i++)
#define STEP_B(n) (int)((n) / BROAD)

// BRING brings STEPS steps. The last that there are are brought with `skip` before them, as zeros of the
// second factor, which leave sums as they are: so STEPS steps lie side by side. FEW brings them where
// there are fewer in all.
#define BRING(skip)								\
	EACH_A EACH_VALUE							\
		next_a[k][i] = KEEP_A(from_a[k][i], STEP_A(m, i) >= (skip));	\
	EACH_B									\
		next_b[k] = KEEP_B(*from_b[k], STEP_B(n) >= (skip));
#define ADVANCE(steps)								\
	EACH_A from_a[k] += (steps) * A_PITCH;					\
	EACH_B from_b[k] += (steps) * B_PITCH;
#define FEW(to)									\
	{									\
		EACH_A EACH_VALUE						\
			next_a[k][i] = KEEP_B(A[AT_A(min(STEP_A(m, i), (to) - 1), ROW_A(m, i))], \
			                      STEP_A(m, i) < (to));		\
		EACH_B								\
			next_b[k] = KEEP_B(B[AT_B(min(STEP_B(n), (to) - 1), (int)(n % BROAD))], STEP_B(n) < (to)); \
	}
#define KEEP_B(v, is) select(0.0f, v, (is) ? -1 : 0)

// SUM leaves in acc the sums over steps from..to-1, which begin at 0. Steps are counted from the first
// that there is.
#define SUM(from, to)								\
	{									\
		float next_a[PARTS_A][VEC], next_b[PARTS_B];			\
		__global const float *from_a[PARTS_A], *from_b[PARTS_B];	\
		const int start = max(0, min(from, (to) - STEPS));		\
		EACH_A from_a[k] = A + (size_t)start * A_PITCH + AT_A(STEP_A(m, 0), ROW_A(m, 0)); \
		EACH_B from_b[k] = B + (size_t)start * B_PITCH + AT_B(STEP_B(n), (int)(n % BROAD)); \
		__local float *to_a[PARTS_A], *to_b = (__local float *)sides + STEPS * (TALL + GAP) + l; \
		EACH_A to_a[k] = (__local float *)sides + STEP_A(m, 0) * (TALL + GAP) + ROW_A(m, 0); \
		EACH_SUM acc[k][v] = 0.0f;					\
		if ((to) >= STEPS) {						\
			BRING((from) - start)					\
		} else								\
			FEW(to)							\
		for (int left = (to) - (from); left > 0; side = SIDE - side) {	\
			EACH_A EACH_VALUE					\
				(to_a[k] + 4 * side)[i * BESIDE] = next_a[k][i]; \
			EACH_B							\
				(to_b + 4 * side)[k * ITEMS] = next_b[k];	\
			barrier(CLK_LOCAL_MEM_FENCE);				\
			left -= STEPS;						\
			if (left > 0) {						\
				const int more = min(STEPS, left);		\
				ADVANCE(more)					\
				BRING(STEPS - more)				\
			}							\
			UNROLL_ALL						\
			for (int t = 0; t < STEPS; t++)				\
				STEP(sides + side + t * (TALL + GAP) / 4,	\
				     sides + side + (STEPS * (TALL + GAP) + t * BROAD) / 4) \
		}								\
	}
#define STEP(a, b)								\
	UNROLL_ALL								\
	for (int k = 0; k < ROWS; k += 4) {					\
		const float4 four = (a)[k / 4 * DOWN + l / ACROSS];		\
		UNROLL_ALL							\
		for (int v = 0; v < COLS / 4; v++) {				\
			const float4 columns = (b)[v * ACROSS + l % ACROSS];	\
			acc[k][v] = fma((float4)(four.s0), columns, acc[k][v]);	\
			acc[k + 1][v] = fma((float4)(four.s1), columns, acc[k + 1][v]); \
			acc[k + 2][v] = fma((float4)(four.s2), columns, acc[k + 2][v]); \
			acc[k + 3][v] = fma((float4)(four.s3), columns, acc[k + 3][v]); \
		}								\
	}
