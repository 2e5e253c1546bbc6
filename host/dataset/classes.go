package dataset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// SortClasses orders names by number if all are integers, else bytewise (clause 2).
func SortClasses(names []string) {
	order := strings.Compare
	if !slices.ContainsFunc(names, func(s string) bool { return !decimal.IsInteger(s) }) {
		order = compareIntegers
	}
	slices.SortFunc(names, order)
}

func compareIntegers(a, b string) int {
	aNegative, aDigits := splitInteger(a)
	bNegative, bDigits := splitInteger(b)
	byNumber := 0
	switch {
	case aNegative && !bNegative:
		byNumber = -1
	case bNegative && !aNegative:
		byNumber = 1
	default:
		byNumber = cmp.Or(cmp.Compare(len(aDigits), len(bDigits)), strings.Compare(aDigits, bDigits))
		if aNegative {
			byNumber = -byNumber
		}
	}
	return cmp.Or(byNumber, strings.Compare(a, b))
}

// splitInteger returns the sign and the digits without leading zeros; zero has neither.
func splitInteger(s string) (negative bool, digits string) {
	digits = strings.TrimLeft(strings.TrimLeft(s, "+-"), "0")
	return s[0] == '-' && digits != "", digits
}
