package dataset

// Binned are N examples whose F features are bins, small integers, as trees want them. Slices are
// shared; functions never write to examples that they are given.
type Binned struct {
	N, F   int
	Bins   []uint8 // bin of feature f of example i at [f*N+i], below Counts[f]
	Counts []int   // bins of each feature, 1 to 256
}

// Column returns the bins of feature f of all examples, sharing memory.
func (b Binned) Column(f int) []uint8 { return b.Bins[f*b.N : (f+1)*b.N : (f+1)*b.N] }

// Part returns examples from..to-1 of b, sharing all if these are all, else nothing but the counts.
func (b Binned) Part(from, to int) Binned {
	if from == 0 && to == b.N {
		return b
	}
	p := Binned{N: to - from, F: b.F, Counts: b.Counts, Bins: make([]uint8, 0, (to-from)*b.F)}
	for f := range b.F {
		p.Bins = append(p.Bins, b.Column(f)[from:to]...)
	}
	return p
}
