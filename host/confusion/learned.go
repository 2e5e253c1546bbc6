package confusion

import "strconv"

// Learned is what a learner found out of the noise itself, without a label that is known to
// be right.
type Learned struct {
	P []float64 // Q×Q, row-major: P[p*Q+q] = P(noisy = p | true = q), of the labels it was shown
	// Error is the standard error of each entry of P: how far other labels of as many
	// examples would move it. That the features may not tell two classes apart is not in it.
	Error      []float64
	Annotators []Annotator // nil if nobody knows who gave which label
}

// Annotator is one of those who labelled.
type Annotator struct {
	Name   string
	Labels int       // that the annotator gave
	P      []float64 // Q×Q as Learned.P, of the annotator's labels
	Error  []float64 // standard errors of P; nil if nobody has asked for them
}

// Right returns the mean of the diagonal: how often the annotator is right if all classes are
// as frequent.
func (a *Annotator) Right(q int) float64 {
	sum := 0.0
	for k := range q {
		sum += a.P[k*q+k]
	}
	return sum / float64(q)
}

// Invert returns C⁻¹ of the labels that were shown; errors are those of Matrix.Invert.
func (l *Learned) Invert() (*Inverse, error) {
	m := &Matrix{P: l.P}
	for k := 0; k*k < len(l.P); k++ {
		m.Classes = append(m.Classes, strconv.Itoa(k))
	}
	return m.Invert()
}
