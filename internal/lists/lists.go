// Package lists has what package slices lacks: numbers in their order, elements at given places or
// with a property, numbers of another type, sums, and the place of the largest.
package lists

import "math"

// number is a type of numbers.
type number interface {
	~int | ~int32 | ~int64 | ~float32 | ~float64
}

// UpTo returns 0 … n-1.
func UpTo[T ~int | ~int32](n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

// At returns the elements of list at the places which.
func At[T any, I ~int | ~int32](list []T, which []I) []T {
	some := make([]T, len(which))
	for k, i := range which {
		some[k] = list[i]
	}
	return some
}

// Where returns the places 0 … n-1 that ok holds of; nil for none.
func Where(n int, ok func(i int) bool) (which []int) {
	for i := range n {
		if ok(i) {
			which = append(which, i)
		}
	}
	return which
}

// Keep returns the elements of list that ok holds of, in their order; nil for none.
func Keep[T any](list []T, ok func(T) bool) (some []T) {
	for _, v := range list {
		if ok(v) {
			some = append(some, v)
		}
	}
	return some
}

// Count returns how many elements of list ok holds of.
func Count[T any](list []T, ok func(T) bool) (n int) {
	for _, v := range list {
		if ok(v) {
			n++
		}
	}
	return n
}

// As converts the numbers of list to another type.
func As[To, From number](list []From) []To {
	all := make([]To, len(list))
	for k, v := range list {
		all[k] = To(v)
	}
	return all
}

// Sum returns the sum of list, added in its order.
func Sum[T number](list []T) (sum T) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// Mean returns the mean of list, 0 of an empty one.
func Mean(list []float64) float64 { return Sum(list) / float64(max(1, len(list))) }

// Add adds each number of list to the number at the same place in sum.
func Add[T number](sum, list []T) {
	for k, v := range list {
		sum[k] += v
	}
}

// Largest returns the place of the largest number, the first of equal ones.
func Largest[T number](list []T) (most int) {
	for k, v := range list {
		if v > list[most] {
			most = k
		}
	}
	return most
}

// MeanError returns the mean of n independent numbers, and its standard error.
func MeanError(n int, number func(i int) float64) (mean, deviation float64) {
	squares := 0.0
	for i := range n {
		v := number(i)
		mean += v
		squares += float64(v * v)
	}
	count := float64(max(1, n))
	mean /= count
	return mean, math.Sqrt(max(0, squares/count-float64(mean*mean)) / count)
}

// Set returns the elements of list as a set.
func Set[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// Repeated returns the first element of list that is there before.
func Repeated[T comparable](list []T) (element T, twice bool) {
	seen := make(map[T]bool, len(list))
	for _, v := range list {
		if seen[v] {
			return v, true
		}
		seen[v] = true
	}
	return element, false
}
