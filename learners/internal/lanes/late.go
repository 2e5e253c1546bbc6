package lanes

// strip is how many columns of sums are looked at before those of the next class, so that the
// examples' part of them stays in the cache.
const strip = 64

// mostWaiting is how many examples may wait.
const mostWaiting = 64

// term is a number times an example that waits, whose columns of a strip begin at a place.
type term struct {
	t  float64
	at int
}

// Late are Q×D sums, to whose rows examples are added, each product rounded before it is added. By
// rows, dense examples wait until Flush, or until there are many, so that a sum that takes several
// of them is read and written once; each sum takes them in their order. By columns, those of all
// classes lie side by side, as suits sparse examples.
type Late struct {
	q, d    int
	lanes   int         // by columns, in each of them: a multiple of 4, idle ones are 0; else 1
	sums    []float64   // Q×D or, by columns, D×lanes; without what waits
	waiting [][]term    // of each class
	rows    [][]float32 // the dense examples that wait
	part    []float64   // a strip of them
	by      []float64   // by columns, how often an example is added to each lane
	all     []int32     // 0..d-1, if a dense example came to sums by columns; else nil
	k       *kernels
}

// NewLate returns sums that are 0, by columns if they are for sparse examples; they take others
// too.
func NewLate(q, d int, byColumns bool) *Late { return newLate(q, d, byColumns, fastest) }

func newLate(q, d int, byColumns bool, k *kernels) *Late {
	l := &Late{q: q, d: d, lanes: 1, waiting: make([][]term, q), sums: make([]float64, q*d), k: k}
	if byColumns {
		l.lanes = (q + 3) / 4 * 4
		l.by, l.sums = make([]float64, l.lanes), make([]float64, l.lanes*d)
	}
	return l
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
	l.rows = l.rows[:0]
	for r := range l.waiting {
		l.waiting[r] = l.waiting[r][:0]
	}
}

// Get writes the sums to rows, row-major.
func (l *Late) Get(rows []float64) {
	l.Flush()
	places(l.q, l.d, l.lanes, func(at, i int) { rows[i] = l.sums[at] })
}

// Set takes sums, row-major. A -0 becomes +0.
func (l *Late) Set(rows []float64) {
	l.drop()
	places(l.q, l.d, l.lanes, func(at, i int) { l.sums[at] = rows[i] + 0 })
}

// Average subtracts sums/n from the weights w, row-major, in float64.
func (l *Late) Average(w []float32, n float64) {
	l.Flush()
	places(l.q, l.d, l.lanes, func(at, i int) { w[i] = float32(float64(w[i]) - l.sums[at]/n) })
}

// Add adds t·τ_r·x to each row r. A dense x has to stay as it is until Flush.
func (l *Late) Add(t float64, tau []float32, x Row) {
	if l.lanes > 1 {
		l.addColumns(t, tau, x)
		return
	}
	if x.Columns != nil {
		l.Flush()
	}
	waits := false
	for r, v := range tau {
		by := t * float64(v)
		switch {
		case v == 0:
		case x.Columns == nil:
			l.waiting[r] = append(l.waiting[r], term{by, strip * len(l.rows)})
			waits = true
		default:
			sums := l.sums[r*l.d : (r+1)*l.d]
			for i, j := range x.Columns {
				sums[j] += float64(by * float64(x.Values[i]))
			}
		}
	}
	if waits {
		l.rows = append(l.rows, x.Values)
	}
	if len(l.rows) == mostWaiting {
		l.Flush()
	}
}

// addColumns is Add by columns.
func (l *Late) addColumns(t float64, tau []float32, x Row) {
	if x.Columns == nil {
		l.all = columnsOf(l.all, l.d)
		x.Columns = l.all
	}
	for r, v := range tau {
		l.by[r] = t * float64(v) // if 0 no sum changes: none is ever -0
	}
	l.k.lateSparse(x.Columns, x.Values, l.sums, l.by)
}

// Flush adds what waits.
func (l *Late) Flush() {
	if len(l.rows) == 0 {
		return
	}
	if l.part == nil {
		l.part = make([]float64, strip*mostWaiting)
	}
	for from := 0; from < l.d; from += strip {
		to := min(l.d, from+strip)
		for i, x := range l.rows {
			l.k.widen(l.part[i*strip:i*strip+to-from], x[from:to])
		}
		for r, terms := range l.waiting {
			if len(terms) > 0 {
				l.k.late(l.sums[r*l.d+from:r*l.d+to], terms, l.part)
			}
		}
	}
	l.drop()
}
