package dataset

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// SortClasses orders names by number if all are integers, else bytewise (clause 2).
func SortClasses(names []string) {
	numbers := make(map[string]*big.Int, len(names))
	for _, name := range names {
		n, whole := new(big.Int).SetString(name, 10)
		if numbers[name] = n; !whole {
			slices.Sort(names)
			return
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(numbers[a].Cmp(numbers[b]), strings.Compare(a, b))
	})
}
