package ensemble

import (
	"cmp"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// How many bins a column has at most beside bin 0: of numbers and of a category.
const (
	mostBins   = 255
	mostLevels = 254
)

// Column says how a column becomes bins. Bin 0 has missing values; of a category also rare levels
// and levels that the training data lack.
type Column struct {
	// Feature is the column's feature, a category's first one: its levels have one each.
	Feature int `json:"feature"`
	// Missing is the feature that is 1 where the value is missing, -1 if there is none. A NaN is
	// missing too.
	Missing int `json:"missing"`
	// Cuts are where a number's bins end, in increasing order: v is in bin 1 + the number of cuts of
	// at most v.
	Cuts []float32 `json:"cuts,omitempty"`
	// Levels are the bins of a category's levels; nil for a number.
	Levels []int `json:"levels,omitempty"`
}

// Bins returns the number of bins.
func (c *Column) Bins() int {
	if c.Levels == nil {
		return len(c.Cuts) + 2
	}
	return slices.Max(c.Levels) + 1
}

// ColumnsOf returns the columns of an encoding, without bins, and their indexes in it; of nil, d
// numbers. Texts, and columns without a number or a level, are left out.
func ColumnsOf(e *dataset.Encoding, d int) (columns []Column, which []int) {
	if e == nil {
		for j := range d {
			columns, which = append(columns, Column{Feature: j, Missing: -1}), append(which, j)
		}
		return columns, which
	}
	feature := 0
	for k := range e.Columns {
		of := &e.Columns[k]
		c := Column{Feature: feature, Missing: -1}
		if feature += of.Width(); of.Indicator {
			c.Missing = feature - 1
		}
		switch {
		case len(of.Levels) > 0:
			c.Levels = make([]int, len(of.Levels))
		case of.Kind != dataset.KindNumber:
			continue
		}
		columns, which = append(columns, c), append(which, k)
	}
	return columns, which
}

// FindBins gives the columns bins that spread the examples evenly.
func FindBins(columns []Column, x dataset.Examples) {
	// As many columns are gathered in one reading as share a line of the processor's cache.
	const memory, line = 1 << 24, 16
	group := min(max(1, memory/max(1, x.N)), line)
	tasks := (len(columns) + group - 1) / group
	workers := parallel.Workers(tasks, 1)
	spare := make([]sorter, workers)
	byColumn := transposed(x)
	parallel.Share(workers, tasks, func(worker, task int) {
		s := &spare[worker]
		some := columns[task*group : min((task+1)*group, len(columns))]
		s.gather(some, x, byColumn)
		for k := range some {
			if some[k].Levels != nil {
				rank(some[k].Levels, s.levels[k])
			} else {
				some[k].Cuts = cuts(s.count(k))
			}
		}
	})
}

// transposed returns sparse examples by column: D rows of N. It returns dense ones as they are.
func transposed(x dataset.Examples) dataset.Examples {
	if !x.Sparse() {
		return x
	}
	t := dataset.Examples{N: x.D, D: x.N, Starts: make([]int64, x.D+1),
		Columns: make([]int32, len(x.Values)), Values: make([]float32, len(x.Values))}
	for _, j := range x.Columns {
		t.Starts[j+1]++
	}
	for j := range x.D {
		t.Starts[j+1] += t.Starts[j]
	}
	next := slices.Clone(t.Starts)
	for i := range x.N {
		columns, values := x.SparseRow(i)
		for k, j := range columns {
			t.Columns[next[j]], t.Values[next[j]] = int32(i), values[k]
			next[j]++
		}
	}
	return t
}

// sorter counts the values of a few columns.
type sorter struct {
	keys   [][]uint32 // of the numbers that are not missing
	zeros  []int      // that are not stored
	levels [][]int    // examples of each level
	spare  []uint32
	values []float32
	counts []int
}

// gather reads the columns.
func (s *sorter) gather(columns []Column, x, byColumn dataset.Examples) {
	for len(s.keys) < len(columns) {
		s.keys, s.levels = append(s.keys, make([]uint32, 0, x.N)), append(s.levels, nil)
	}
	s.zeros = make([]int, len(columns))
	for k := range columns {
		s.keys[k], s.levels[k] = s.keys[k][:0], make([]int, len(columns[k].Levels))
	}
	if x.Sparse() {
		for k := range columns {
			s.gatherSparse(k, &columns[k], byColumn)
		}
		return
	}
	for i := range x.N {
		row := x.Row(i)
		for k := range columns {
			c := &columns[k]
			switch {
			case c.Levels != nil:
				for l, v := range row[c.Feature : c.Feature+len(c.Levels)] {
					if v != 0 {
						s.levels[k][l]++
					}
				}
			case c.Missing < 0 || row[c.Missing] == 0:
				s.add(k, row[c.Feature])
			}
		}
	}
}

// gatherSparse reads column k of examples by column.
func (s *sorter) gatherSparse(k int, c *Column, byColumn dataset.Examples) {
	stored := func(feature int) int {
		return int(byColumn.Starts[feature+1] - byColumn.Starts[feature])
	}
	for l := range c.Levels {
		s.levels[k][l] = stored(c.Feature + l)
	}
	if c.Levels != nil {
		return
	}
	var gaps []int32 // examples without a value
	if c.Missing >= 0 {
		gaps, _ = byColumn.SparseRow(c.Missing)
	}
	rows, values := byColumn.SparseRow(c.Feature)
	s.zeros[k] = byColumn.D - len(values) - len(gaps)
	for m, v := range values {
		if _, missing := slices.BinarySearch(gaps, rows[m]); missing {
			s.zeros[k]++
		} else {
			s.add(k, v)
		}
	}
}

// add adds a number to column k.
func (s *sorter) add(k int, v float32) {
	if v == v {
		s.keys[k] = append(s.keys[k], key(v))
	}
}

// key returns a number in the order of v, equal for both zeros.
func key(v float32) uint32 {
	b := math.Float32bits(v + 0) // -0 + 0 is +0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// unkey returns the v of a key.
func unkey(k uint32) float32 { return math.Float32frombits(k ^ (^uint32(int32(k)>>31) | 1<<31)) }

// count returns the distinct values of column k in increasing order, and how often each is there.
func (s *sorter) count(k int) ([]float32, []int) {
	keys, zeros := s.sorted(k), s.zeros[k]
	s.values, s.counts = s.values[:0], s.counts[:0]
	zero := key(0)
	for i := 0; i < len(keys) || zeros > 0; {
		v, n := zero, zeros
		if i < len(keys) && (zeros == 0 || keys[i] <= zero) {
			v, n = keys[i], 0
		}
		if v == zero {
			n, zeros = zeros, 0
		}
		for ; i < len(keys) && keys[i] == v; i++ {
			n++
		}
		s.values, s.counts = append(s.values, unkey(v)), append(s.counts, n)
	}
	return s.values, s.counts
}

// sorted returns the keys of column k in increasing order.
func (s *sorter) sorted(k int) []uint32 {
	const bits, few = 11, 1 << 11
	from := s.keys[k]
	if len(from) < few {
		slices.Sort(from)
		return from
	}
	to := slices.Grow(s.spare[:0], len(from))[:len(from)]
	for shift := 0; shift < 32; shift += bits {
		var starts [1 << bits]int
		for _, v := range from {
			starts[v>>shift&(1<<bits-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d] = sum
			sum += n
		}
		for _, v := range from {
			d := v >> shift & (1<<bits - 1)
			to[starts[d]] = v
			starts[d]++
		}
		from, to = to, from
	}
	s.keys[k], s.spare = from, to
	return from
}

// cuts returns where the bins of a number end: between all values, or so that the bins hold as even
// numbers of examples as whole values allow. A bin ends before the value that would carry it
// further past its share than it is short of it.
func cuts(values []float32, counts []int) []float32 {
	rest, left := 0, mostBins
	for _, n := range counts {
		rest += n
	}
	cuts := make([]float32, 0, min(mostBins-1, max(0, len(values)-1)))
	held := 0
	for k := 1; k < len(values) && left > 1; k++ {
		held += counts[k-1]
		if len(values) > mostBins && (2*held+counts[k])*left <= 2*rest {
			continue
		}
		cuts = append(cuts, between(values[k-1], values[k]))
		rest, left, held = rest-held, left-1, 0
	}
	return cuts
}

// between returns the float32 nearest to the mean of a and b > a, or b where that is a.
func between(a, b float32) float32 {
	if c := float32((float64(a) + float64(b)) / 2); c > a {
		return c
	}
	return b
}

// rank gives a bin to each level that has examples: bins from 1 in the order of the levels; with
// too many, bin 0 to the rarest, of equals the last.
func rank(levels, counts []int) {
	order := make([]int, len(levels))
	for l := range order {
		order[l] = l
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	own := order[:min(len(order), mostLevels)]
	slices.Sort(own)
	bin := 0
	for _, l := range own {
		if counts[l] > 0 {
			bin++
			levels[l] = bin
		}
	}
}

// Bin returns the bins of examples.
func Bin(columns []Column, x dataset.Examples) dataset.Binned {
	b, k := empty(columns, x.N), newKeys(columns)
	parallel.Ranges(x.N, 1024, func(from, to int) { k.bin(b, from, x, from, to) })
	return b
}

// empty returns bins of n examples that are all 0.
func empty(columns []Column, n int) dataset.Binned {
	b := dataset.Binned{N: n, F: len(columns), Bins: make([]uint8, n*len(columns))}
	for f := range columns {
		b.Counts = append(b.Counts, columns[f].Bins())
	}
	return b
}

// keys has what columns are binned by.
type keys struct {
	columns []Column
	cuts    [][256]uint32 // the keys of the cuts from 1 on, and then more than any number has
	half    []int         // the place where a search begins
}

func newKeys(columns []Column) *keys {
	k := &keys{columns, make([][256]uint32, len(columns)), make([]int, len(columns))}
	for f := range columns {
		for c := range k.cuts[f] {
			k.cuts[f][c] = math.MaxUint32
		}
		for c, v := range columns[f].Cuts {
			k.cuts[f][c+1] = key(v)
		}
		for k.half[f] = 1; 2*k.half[f] <= len(columns[f].Cuts); {
			k.half[f] *= 2
		}
	}
	return k
}

// bin bins examples from..to-1 of x, as those from at on of b.
func (k *keys) bin(b dataset.Binned, at int, x dataset.Examples, from, to int) {
	const block = 256 // rows that the processor's cache holds
	for start := from; start < to; start += block {
		end := min(start+block, to)
		rows := x.Part(start, end).Dense()
		for f := range k.columns {
			k.column(b.Column(f)[at+start-from:at+end-from], f, rows)
		}
	}
}

// column writes the bins of a column.
func (k *keys) column(dst []uint8, f int, x dataset.Examples) {
	c, cuts := &k.columns[f], &k.cuts[f]
	if c.Levels != nil {
		for i := range dst {
			dst[i] = c.level(x.Row(i))
		}
		return
	}
	for i := range dst {
		v := x.X[i*x.D+c.Feature]
		number, place := int64(key(v)), 0
		for half := k.half[f]; half > 0; half >>= 1 {
			// Without a branch: the sign says whether the cut is above the number.
			place += half &^ int((number-int64(cuts[(place+half)&255]))>>63)
		}
		dst[i] = uint8(1 + place)
		if v != v {
			dst[i] = 0
		}
	}
	if c.Missing < 0 {
		return
	}
	for i := range dst {
		if x.X[i*x.D+c.Missing] != 0 {
			dst[i] = 0
		}
	}
}

// level returns the bin of a category.
func (c *Column) level(row []float32) uint8 {
	for l, v := range row[c.Feature : c.Feature+len(c.Levels)] {
		if v != 0 {
			return uint8(c.Levels[l])
		}
	}
	return 0
}
