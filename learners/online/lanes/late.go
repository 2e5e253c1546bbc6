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

// Late are Q×D sums, to whose rows examples are added, each product rounded before it is added. Dense
// examples wait until Flush, or until there are many, so that a sum that takes several of them is read and
// written once; each sum takes them in their order.
type Late struct {
	Sums []float64 // row-major; without what waits

	d       int
	waiting [][]term // of each row
	k       *kernels
}

// NewLate returns sums that are 0.
func NewLate(q, d int) *Late { return newLate(q, d, fastest) }

func newLate(q, d int, k *kernels) *Late {
	return &Late{Sums: make([]float64, q*d), d: d, waiting: make([][]term, q), k: k}
}

// Set makes the sums those of from, 0 if that is nil, and drops what waits.
func (l *Late) Set(from *Late) {
	clear(l.Sums)
	if from != nil {
		copy(l.Sums, from.Sums)
	}
	l.drop()
}

// drop drops what waits.
func (l *Late) drop() {
	for r := range l.waiting {
		l.waiting[r] = l.waiting[r][:0]
	}
}

// Add adds t·x to row r. x has to stay as it is until Flush.
func (l *Late) Add(r int, t float64, x Row) {
	if x.Columns == nil {
		if l.waiting[r] = append(l.waiting[r], term{t, x.Values}); len(l.waiting[r]) >= mostTerms {
			l.Flush()
		}
		return
	}
	sums := l.Sums[r*l.d : (r+1)*l.d]
	for i, j := range x.Columns {
		sums[j] += float64(t * float64(x.Values[i]))
	}
}

// Flush adds what waits.
func (l *Late) Flush() {
	for from := 0; from < l.d; from += strip {
		to := min(l.d, from+strip)
		for r, terms := range l.waiting {
			if len(terms) > 0 {
				l.k.late(l.Sums[r*l.d+from:r*l.d+to], terms, from)
			}
		}
	}
	l.drop()
}
