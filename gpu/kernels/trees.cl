#pragma OPENCL FP_CONTRACT OFF
// Trees over bins (clauses 25 and 26): histogram adds up the examples of a node, split_count and
// split_move divide a node, add_tree adds a tree to scores. All sums are integers.
//
//   bins    bins of the examples of a tile, row by row: bins[i * stride + f] is the bin of
//           feature f of example i
//   order   examples of the tile; a node is a range from..to-1 of it, in which they increase
//   rows    examples of the tile
//
// Macro, given by the host: GROUP, work-items in a work-group, a power of two. On a CPU a
// work-item does what a work-group does on a GPU.

#define PLACES 8 // features of a work-group of histogram, at most
#define BINS 256

// What a work-group of histogram keeps: on a GPU 32-bit sums, which local atomics add to; on a CPU,
// where one work-item owns them, g and h packed in one number, g * 2^PACKED + h.
#if CPU
typedef long cell_t;
#define CELLS (PLACES * BINS)
#define PACKED 30
#else
typedef uint cell_t;
#define CELLS (2 * PLACES * BINS)
#endif

#if CPU
#define ITEMS 1
#define ITEM 0
#define WORKER get_global_id(0)
#define SYNC
#define ADD(cell, v) (*(cell) += (v))
#else
#define ITEMS GROUP
#define ITEM ((int)get_local_id(0))
#define WORKER get_group_id(0)
#define SYNC barrier(CLK_LOCAL_MEM_FENCE);
#define ADD(cell, v) atomic_add(cell, (uint)(v))
#endif

//   grads     g and h of example i and class c: grads[2 * (c * rows + i)] and the number after it
//   labels    of the examples, if counted is 1
//   times     how often each counts, if often is 1; else once
//   features  three numbers each: the feature, where its sums begin, and its bins
//   partial   written, of range u, 0 <= u < ranges, the sums partial[u * size + j]; added to unless
//             fresh is 1
//   width     sums of a bin; those from low on are taken here, wide of them
//   limit     examples that a cell holds
//   count     features; a work-group takes per of them
// Dimension 0 is ranges, dimension 1 groups of features.
__kernel FIXED_GROUP
void histogram(__global const uchar *restrict bins, __global const int *restrict order,
               __global const int *restrict grads, __global const int *restrict labels,
               __global const uchar *restrict times, __global const int *restrict features,
               __global long *restrict partial, ulong size, int rows, int stride, int from, int to,
               int ranges, int class, int counted, int often, int width, int low, int wide,
               int limit, int count, int per, int fresh)
{
#if CPU
	cell_t cells[CELLS];
	const int kept = counted ? wide : 1;
#else
	__local cell_t cells[CELLS];
	const int kept = wide;
#endif
	const int u = (int)WORKER;
#if CPU
	if (u >= ranges)
		return;
#endif
	const int first = (int)get_global_id(1) * per, n = min(per, count - first), all = n * BINS * kept;
	const int share = (to - from + ranges - 1) / ranges;
	int at = min(from + u * share, to), set = fresh;
	const int end = min(at + share, to);
	__global const int *about = features + 3 * first;
	int feature[PLACES];
	for (int p = 0; p < PLACES; p++)
		feature[p] = BOUNDED(about[3 * min(p, n - 1)], stride);
	for (int k = ITEM; k < all; k += ITEMS)
		cells[k] = 0;
	do {
		const int last = min(at + limit, end);
		SYNC
		for (int k = at + ITEM; k < last; k += ITEMS) {
			const int i = BOUNDED(order[k], rows), m = often ? times[i] : 1;
			__global const uchar *row = bins + (size_t)i * stride;
			if (counted) {
				const int c = labels[i] - low;
				if (c >= 0 && c < wide)
					for (int p = 0; p < n; p++)
						ADD(cells + (p * BINS + row[feature[p]]) * kept + c, m);
				continue;
			}
			__global const int *own = grads + 2 * ((size_t)class * rows + i);
#if CPU
			const long v = (((long)own[0] << PACKED) + own[1]) * m;
			if (n == PLACES) {
				cells[row[feature[0]]] += v;
				cells[BINS + row[feature[1]]] += v;
				cells[2 * BINS + row[feature[2]]] += v;
				cells[3 * BINS + row[feature[3]]] += v;
				cells[4 * BINS + row[feature[4]]] += v;
				cells[5 * BINS + row[feature[5]]] += v;
				cells[6 * BINS + row[feature[6]]] += v;
				cells[7 * BINS + row[feature[7]]] += v;
			} else
				for (int p = 0; p < n; p++)
					cells[p * BINS + row[feature[p]]] += v;
#else
			const int g = own[0] * m, h = own[1] * m;
			for (int p = 0; p < n; p++) {
				__local cell_t *cell = cells + 2 * (p * BINS + row[feature[p]]);
				ADD(cell, g);
				ADD(cell + 1, h);
			}
#endif
		}
		SYNC
		for (int k = ITEM; k < all; k += ITEMS) {
			const int p = k / (BINS * kept), bin = k / kept % BINS, c = k % kept;
			if (bin >= about[3 * p + 2])
				continue;
			const cell_t v = cells[k];
			const ulong place = (ulong)about[3 * p + 1] + bin * width + low + c;
			if (place + wide / kept > size)
				continue;
			__global long *sum = partial + u * size + place;
#if CPU
			if (!counted) {
				const long g = v >> PACKED, h = v & ((1L << PACKED) - 1);
				sum[0] = set ? g : sum[0] + g;
				sum[1] = set ? h : sum[1] + h;
				cells[k] = 0;
				continue;
			}
			const long whole = v;
#else
			const long whole = (long)(int)v; // no cell holds 2^31
#endif
			*sum = set ? whole : *sum + whole;
			cells[k] = 0;
		}
		set = 0;
		at = last;
	} while (at < end);
}

// in_set is 1 if a bin is in the set of the four words.
int in_set(int bin, ulong a, ulong b, ulong c, ulong d)
{
	const ulong word = bin < 128 ? (bin < 64 ? a : b) : (bin < 192 ? c : d);
	return (int)(word >> (bin & 63) & 1);
}

//   lefts  written: of each span of the node's examples, span long, how many have a bin of the
//          feature in the set a, b, c, d
__kernel FIXED_GROUP
void split_count(__global const uchar *restrict bins, __global const int *restrict order,
                 __global int *restrict lefts, int rows, int stride, int feature, int from, int to, int span,
                 ulong a, ulong b, ulong c, ulong d)
{
	const int u = (int)WORKER, begin = from + u * span, end = min(begin + span, to);
	int own = 0;
	for (int k = begin + ITEM; k < end; k += ITEMS)
		own += in_set(bins[(size_t)BOUNDED(order[k], rows) * stride + feature], a, b, c, d);
#if CPU
	if (begin < to)
		lefts[u] = own;
#else
	__local int total;
	if (ITEM == 0)
		total = 0;
	SYNC
	atomic_add(&total, own);
	SYNC
	if (ITEM == 0)
		lefts[u] = total;
#endif
}

//   moved   written in the range of the node: the examples on the left, then the others, in order
//   lefts   of each span, how many examples of the spans before are on the left
//   middle  where the others begin
__kernel FIXED_GROUP
void split_move(__global const uchar *restrict bins, __global const int *restrict order,
                __global int *restrict moved, __global const int *restrict lefts, int rows, int stride,
                int feature, int from, int to, int span, int middle,
                ulong a, ulong b, ulong c, ulong d)
{
	const int u = (int)WORKER, begin = from + u * span, end = min(begin + span, to);
#if CPU
	if (begin >= to)
		return;
#endif
	int left = from + lefts[u], right = middle + u * span - lefts[u];
#if CPU
	for (int k = begin; k < end; k++) {
		const int i = BOUNDED(order[k], rows);
		if (in_set(bins[(size_t)i * stride + feature], a, b, c, d))
			moved[BOUNDED(left++, to)] = i;
		else
			moved[BOUNDED(right++, to)] = i;
	}
#else
	__local int before[GROUP];
	const int l = ITEM;
	for (int at = begin; at < end; at += GROUP) {
		const int here = at + l < end, i = here ? BOUNDED(order[at + l], rows) : 0;
		const int goes = here && in_set(bins[(size_t)i * stride + feature], a, b, c, d);
		before[l] = goes;
		for (int step = 1; step < GROUP; step *= 2) {
			SYNC
			const int more = l >= step ? before[l - step] : 0;
			SYNC
			before[l] += more;
		}
		SYNC
		const int mine = before[l] - goes, all = before[GROUP - 1];
		if (here)
			moved[BOUNDED(goes ? left + mine : right + l - mine, to)] = i;
		left += all;
		right += min(GROUP, end - at) - all;
		SYNC
	}
#endif
}

//   nodes   twelve numbers each: the feature, the two children (node c, or leaf -1 - c), 0, and the
//           set as words of 32 bits
//   values  one for each leaf, or Q of them if class is -1
//   count   nodes
//   leaves  of the tree
// Work-item i takes example i of n.
__kernel void add_tree(__global const uchar *restrict bins, __global const int *restrict nodes,
                       __global const float *restrict values, __global float *restrict scores,
                       int stride, int n, int Q, int class, int count, int leaves)
{
	const int i = get_global_id(0);
	if (i >= n)
		return;
	int at = count > 0 ? 0 : -1;
	while (at >= 0) {
		__global const int *node = nodes + 12 * at;
		const int bin = bins[(size_t)i * stride + BOUNDED(node[0], stride)];
		const int next = node[2 - (node[4 + bin / 32] >> bin % 32 & 1)];
		at = next < 0 || (next > at && next < count) ? next : -1; // no walk is endless
	}
	at = BOUNDED(-1 - at, leaves);
	if (class >= 0)
		scores[SCORE(i, class)] += values[at];
	else
		for (int r = 0; r < Q; r++)
			scores[SCORE(i, r)] += values[(size_t)at * Q + r];
}
