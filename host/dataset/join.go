package dataset

import "fmt"

// Join returns the examples of e and then those of other, sharing nothing with either.
// Examples of different widths, or of which some are sparse and some dense, are an
// error.
func (e Examples) Join(other Examples) (Examples, error) {
	if e.D != other.D || e.Sparse() != other.Sparse() {
		return Examples{}, fmt.Errorf("joining examples: found %d features (sparse %v) and %d (sparse "+
			"%v), wanted the same", e.D, e.Sparse(), other.D, other.Sparse())
	}
	j := Examples{N: e.N + other.N, D: e.D}
	if !e.Sparse() {
		j.X = append(append(make([]float32, 0, j.N*j.D), e.X[:e.N*e.D]...), other.X[:other.N*other.D]...)
		return j, nil
	}
	stored := e.Starts[e.N]
	j.Columns = append(append([]int32{}, e.Columns[:stored]...), other.Columns...)
	j.Values = append(append([]float32{}, e.Values[:stored]...), other.Values...)
	j.Starts = append(make([]int64, 0, j.N+1), e.Starts...)
	for _, start := range other.Starts[1:] {
		j.Starts = append(j.Starts, stored+start)
	}
	return j, nil
}
