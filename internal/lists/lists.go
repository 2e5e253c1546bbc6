// Package lists has what package slices lacks: numbers in their order, elements at given places,
// numbers of another type, sums, and the place of the largest.
package lists

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

// As returns the numbers of list as those of another type.
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

// Largest returns the place of the largest number, the first of equal ones.
func Largest[T number](list []T) (most int) {
	for k, v := range list {
		if v > list[most] {
			most = k
		}
	}
	return most
}
