package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// maxName is the most bytes of a class name: 65536 characters, which an .npz file holds.
const maxName = 4 << 16

// NameFault returns what a class name holds that CSV, JSON or a terminal would change or hide.
func NameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes, wanted at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.Trim(name, " \t") != name:
		return "begins or ends with a space"
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\ufeff'
	}):
		return "holds a control character or a byte order mark (is a quote not closed?)"
	}
	return ""
}

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
