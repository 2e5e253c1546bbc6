package dataset

import (
	"cmp"
	"slices"
)

// apportion divides classes of the given sizes among parts of the given sizes,
// which have the same sum n, below 2^31. Part k gets of class q, at [q][k], the
// share sizes[q]·parts[k]/n rounded down or up, and all sums are kept: rows sum to
// sizes, columns to parts. Such a table always exists, since the exact shares
// meet the sums, and a flow with whole bounds and a fractional solution has a
// whole one. Shares with the largest remainders are rounded up first (ties: first
// class, then first part); where that runs into a dead end, what was rounded up
// is moved along an augmenting path.
func apportion(sizes, parts []int) [][]int {
	a := apportionment{left: slices.Clone(parts)}
	n := 0
	for _, c := range parts {
		n += c
	}
	table, missing := make([][]int, len(sizes)), slices.Clone(sizes)
	type cell struct {
		remainder   int64
		class, part int
	}
	var cells []cell
	for q, size := range sizes {
		table[q] = make([]int, len(parts))
		a.open, a.up = append(a.open, make([]bool, len(parts))), append(a.up, make([]bool, len(parts)))
		for k, c := range parts {
			product := int64(size) * int64(c)
			table[q][k] = int(product / int64(n))
			missing[q] -= table[q][k]
			a.left[k] -= table[q][k]
			if r := product % int64(n); r > 0 {
				a.open[q][k] = true
				cells = append(cells, cell{r, q, k})
			}
		}
	}
	slices.SortStableFunc(cells, func(x, y cell) int { return cmp.Compare(y.remainder, x.remainder) })
	for _, c := range cells {
		if missing[c.class] > 0 && a.left[c.part] > 0 {
			a.up[c.class][c.part] = true
			missing[c.class]--
			a.left[c.part]--
		}
	}
	for q := range sizes {
		for ; missing[q] > 0; missing[q]-- {
			a.place(q, make([]bool, len(parts)))
		}
	}
	for q := range sizes { // when all is settled
		for k, up := range a.up[q] {
			if up {
				table[q][k]++
			}
		}
	}
	return table
}

// apportionment is which shares are rounded up so far.
type apportionment struct {
	open [][]bool // [q][k]: the share is not whole, so it may be rounded up
	up   [][]bool // [q][k]: it is
	left []int    // examples that each part still lacks
}

// place rounds one more share of class q up, and moves another class's to another
// part where that is needed. seen are the parts that were tried.
func (a *apportionment) place(q int, seen []bool) bool {
	for k := range a.left {
		if !a.open[q][k] || a.up[q][k] || seen[k] {
			continue
		}
		seen[k] = true
		if a.left[k] > 0 {
			a.left[k]--
			a.up[q][k] = true
			return true
		}
		for other := range a.up {
			if a.up[other][k] && a.place(other, seen) {
				a.up[other][k], a.up[q][k] = false, true
				return true
			}
		}
	}
	return false
}
