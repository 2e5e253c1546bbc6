package learners

// ClassWeights says how much examples count by their label.
type ClassWeights string

const (
	Equal    ClassWeights = "equal"    // all examples count alike
	Balanced ClassWeights = "balanced" // all labels count alike: an example of label k n/(Q·n_k)
)

// Of returns the weight of an example of each class, of n examples with the given counts of the
// classes, which may be estimates. A count above 0 and below 1 is taken for 1; the weight of a
// class without examples is 1.
func (c ClassWeights) Of(n float64, counts []float64) []float64 {
	weights := make([]float64, len(counts))
	for k, count := range counts {
		weights[k] = 1
		if c == Balanced && count != 0 {
			weights[k] = n / float64(float64(len(counts))*max(1, count))
		}
	}
	return weights
}

// CountLabels returns how many of the labels y are each of the q classes.
func CountLabels(y []int32, q int) []float64 {
	counts := make([]float64, q)
	for _, k := range y {
		counts[k]++
	}
	return counts
}
