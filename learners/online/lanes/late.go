package lanes

// strip is how many columns of sums are looked at before those of the next class, so that the examples'
// part of them stays in the cache.
const strip = 64

// mostTerms is how many terms of a class may wait.
const mostTerms = 64

// term is a number times a dense example, to be added to sums.
type term struct {
	t float64
	x []float32
}

// Late are Q×D sums, to whose rows examples are added, each product rounded before it is added. By rows,
// dense examples wait until Flush, or until there are many, so that a sum that takes several of them is read
// and written once; each sum takes them in their order. By columns, those of all classes lie side by side, as
// suits sparse examples.
type Late struct {
	q, d      int
	byColumns bool
	sums      []float64 // Q×D or, by columns, D×Q; without what waits
	waiting   [][]term  // of each class
	classes   []int     // of an example, those to whose sums it is added
	by        []float64 // and how often
	k         *kernels
}

// NewLate returns sums that are 0, by columns if they are for sparse examples; they take others too.
func NewLate(q, d int, byColumns bool) *Late { return newLate(q, d, byColumns, fastest) }

func newLate(q, d int, byColumns bool, k *kernels) *Late {
	return &Late{q: q, d: d, byColumns: byColumns, sums: make([]float64, q*d), waiting: make([][]term, q), k: k}
}

// Copy takes the sums of from, of the same sizes, 0 if that is nil.
func (l *Late) Copy(from *Late) {
	l.drop()
	if from == nil {
		clear(l.sums)
		return
	}
	from.Flush()
	copy(l.sums, from.sums)
}

// drop drops what waits.
func (l *Late) drop() {
	for r := range l.waiting {
		l.waiting[r] = l.waiting[r][:0]
	}
}

// each calls f with the place of each sum, and its place row-major.
func (l *Late) each(f func(at, rowMajor int)) {
	for i := range l.sums {
		if l.byColumns {
			f(i, i%l.q*l.d+i/l.q)
		} else {
			f(i, i)
		}
	}
}

// Get writes the sums to rows, row-major.
func (l *Late) Get(rows []float64) {
	l.Flush()
	l.each(func(at, i int) { rows[i] = l.sums[at] })
}

// Set takes sums, row-major.
func (l *Late) Set(rows []float64) {
	l.drop()
	l.each(func(at, i int) { l.sums[at] = rows[i] })
}

// Average subtracts sums/n from the weights w, row-major, in float64.
func (l *Late) Average(w []float32, n float64) {
	l.Flush()
	l.each(func(at, i int) { w[i] = float32(float64(w[i]) - l.sums[at]/n) })
}

// Add adds t·τ_r·x to each row r. A dense x has to stay as it is until Flush.
func (l *Late) Add(t float64, tau []float32, x Row) {
	l.classes, l.by = l.classes[:0], l.by[:0]
	full := false
	for r, v := range tau {
		if v == 0 {
			continue
		}
		l.classes, l.by = append(l.classes, r), append(l.by, t*float64(v))
		if !l.byColumns && x.Columns == nil {
			l.waiting[r] = append(l.waiting[r], term{t * float64(v), x.Values})
			full = full || len(l.waiting[r]) == mostTerms
		}
	}
	switch {
	case l.byColumns:
		l.addColumns(x)
	case x.Columns != nil:
		l.Flush()
		for k, r := range l.classes {
			sums, by := l.sums[r*l.d:(r+1)*l.d], l.by[k]
			for i, j := range x.Columns {
				sums[j] += float64(by * float64(x.Values[i]))
			}
		}
	case full:
		l.Flush()
	}
}

// addColumns adds x to the classes.
func (l *Late) addColumns(x Row) {
	for i, v := range x.Values {
		if x.Columns != nil {
			i = int(x.Columns[i])
		}
		sums, f := l.sums[i*l.q:(i+1)*l.q], float64(v)
		for k, r := range l.classes {
			sums[r] += float64(l.by[k] * f)
		}
	}
}

// Flush adds what waits.
func (l *Late) Flush() {
	for from := 0; from < l.d; from += strip {
		to := min(l.d, from+strip)
		for r, terms := range l.waiting {
			if len(terms) > 0 {
				l.k.late(l.sums[r*l.d+from:r*l.d+to], terms, from)
			}
		}
	}
	l.drop()
}
