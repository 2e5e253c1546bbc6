package dataset

import (
	"cmp"
	"slices"
	"strings"
)

// SortClasses orders names by number if all are integers, else bytewise (clause 2).
func SortClasses(names []string) {
	numbers := make(map[string]integer, len(names))
	for _, name := range names {
		n, whole := newInteger(name)
		if numbers[name] = n; !whole {
			slices.Sort(names)
			return
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(numbers[a].compare(numbers[b]), strings.Compare(a, b))
	})
}

// integer is a whole number of any size: its sign, 0 for 0, and its digits without leading zeros.
type integer struct {
	sign   int
	digits string
}

// newInteger returns the number that a name is, if it has nothing but digits after a sign.
func newInteger(name string) (n integer, whole bool) {
	n.sign = 1
	digits, signed := strings.CutPrefix(name, "-")
	if signed {
		n.sign = -1
	} else {
		digits = strings.TrimPrefix(name, "+")
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return n, false
	}
	if n.digits = strings.TrimLeft(digits, "0"); n.digits == "" {
		n.sign = 0
	}
	return n, true
}

func (n integer) compare(m integer) int {
	if n.sign != m.sign {
		return cmp.Compare(n.sign, m.sign)
	}
	return n.sign * cmp.Or(cmp.Compare(len(n.digits), len(m.digits)),
		strings.Compare(n.digits, m.digits))
}
