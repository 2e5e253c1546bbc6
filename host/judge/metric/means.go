package metric

// means are the values that weigh rare classes like common ones, as scikit-learn computes them.
type means struct {
	f1       []*float64 // of each class; nil of one that neither occurs nor is predicted
	macroF1  *float64   // their mean; nil if there is none
	balanced *float64   // mean recall of the classes that occur; nil if none does
	kappa    *float64   // nil if prediction and truth are one class throughout
}

// meansOf returns them of the examples joint[p*q+t] that are predicted p and truly t, whose sums
// are given: numbers, or estimates of them.
func meansOf(joint, predicted, truly []float64) means {
	q := len(truly)
	m := means{f1: make([]*float64, q)}
	var f1, recall mean
	hits, chance, n := 0.0, 0.0, 0.0
	for k, of := range truly {
		hit := joint[k*q+k]
		if both := predicted[k] + of; both > 0 {
			v := 2 * hit / both
			m.f1[k] = &v
			f1.add(v)
		}
		if of > 0 {
			recall.add(hit / of)
		}
		hits += hit
		chance += float64(predicted[k] * of)
		n += of
	}
	m.macroF1, m.balanced = f1.value(), recall.value()
	if agree := chance / n; agree < n {
		v := (hits - agree) / (n - agree)
		m.kappa = &v
	}
	return m
}

// mean is that of the numbers added.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	m.sum += v
	m.n++
}

// value returns the mean, nil of no number.
func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	v := m.sum / float64(m.n)
	return &v
}

// sums returns the sums of the rows and of the columns of a q×q table.
func sums[T int64 | float64](table []T, q int) (rows, columns []T) {
	rows, columns = make([]T, q), make([]T, q)
	for p := range q {
		for t, v := range table[p*q : (p+1)*q] {
			rows[p] += v
			columns[t] += v
		}
	}
	return rows, columns
}

// floats converts numbers.
func floats(counts []int64) []float64 {
	f := make([]float64, len(counts))
	for i, v := range counts {
		f[i] = float64(v)
	}
	return f
}
