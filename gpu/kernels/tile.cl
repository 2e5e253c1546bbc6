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
//
// A kernel's file defines
//   STEP_A(n), ROW_A(n)  which step and row of the tile is the n-th value of the first factor that
//                        work-items bring, so that neighbours read neighbours
//   A(s, r), B(s, c)     the value of the factors in step s, one that there is, and in row r or
//                        column c of the tile, whether there is one or not

#if !defined(GROUP) || !defined(BIG)
#error "the host must define GROUP and BIG"
#endif

#define STEPS 8 // whose values have room in registers
#define GAP 4 // values after each step, to spread the banks

#define ITEMS (CLASSES > 16 ? BIG : GROUP)
#define ROWS (CLASSES > 16 ? 8 : 4)
#define COLS (CLASSES < 8 ? 4 : 8)
#define ACROSS (ITEMS < CLASSES / COLS ? ITEMS : CLASSES / COLS)
#define DOWN (ITEMS / ACROSS)
#define TALL (DOWN * ROWS)
#define BROAD (ACROSS * COLS)
#define TILE_KERNEL __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))

// What a kernel declares: local memory, twice; the item l of the work-group; the sums of the item.
#define TILE									\
	__local float4 la[2][STEPS][(TALL + GAP) / 4], lb[2][STEPS][BROAD / 4];	\
	const uint l = get_local_id(0) % ITEMS;					\
	int side = 0;								\
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

// PARTS is how many values of STEPS steps an item brings, EACH_PART the head of a loop over them: the
// n-th values of all. Steps from `to` on are zeros, which leave sums as they are; the last step is
// read in their place, since loads without conditions are all under way at once.
#define PARTS(wide) ((STEPS * (wide) + ITEMS - 1) / ITEMS)
#define EACH_PART(wide)								\
	UNROLL_ALL								\
	for (uint k = 0, n = l; k < PARTS(wide); k++, n += ITEMS)		\
		if (STEPS * (wide) % ITEMS == 0 || n < STEPS * (wide))
#define BRING(from, to)								\
	EACH_PART(TALL)								\
		next_a[k] = UP_TO(to, (from) + STEP_A(n), A, ROW_A(n));		\
	EACH_PART(BROAD)							\
		next_b[k] = UP_TO(to, (from) + (int)(n / BROAD), B, (int)(n % BROAD));
#define UP_TO(to, s, F, place) select(0.0f, F(min(s, (to) - 1), place), (s) < (to) ? -1 : 0)

// SUM leaves in acc the sums over steps from..to-1, which begin at 0.
#define SUM(from, to)								\
	{									\
		float next_a[PARTS(TALL)], next_b[PARTS(BROAD)];		\
		EACH_SUM acc[k][v] = 0.0f;					\
		BRING(from, to)							\
		for (int s = (from); s < (to); s += STEPS, side ^= 1) {		\
			EACH_PART(TALL)						\
				((__local float *)la[side][STEP_A(n)])[ROW_A(n)] = next_a[k]; \
			EACH_PART(BROAD)					\
				((__local float *)lb[side])[n] = next_b[k];	\
			barrier(CLK_LOCAL_MEM_FENCE);				\
			if (s + STEPS < (to)) {					\
				BRING(s + STEPS, to)				\
			}							\
			UNROLL_ALL						\
			for (int t = 0; t < STEPS; t++)				\
				STEP(la[side][t], lb[side][t])			\
		}								\
	}
#define STEP(a, b)								\
	UNROLL_ALL								\
	for (int k = 0; k < ROWS; k += 4) {					\
		const float4 four = a[k / 4 * DOWN + l / ACROSS];		\
		UNROLL_ALL							\
		for (int v = 0; v < COLS / 4; v++) {				\
			const float4 columns = b[v * ACROSS + l % ACROSS];	\
			acc[k][v] = fma((float4)(four.s0), columns, acc[k][v]);	\
			acc[k + 1][v] = fma((float4)(four.s1), columns, acc[k + 1][v]); \
			acc[k + 2][v] = fma((float4)(four.s2), columns, acc[k + 2][v]); \
			acc[k + 3][v] = fma((float4)(four.s3), columns, acc[k + 3][v]); \
		}								\
	}
