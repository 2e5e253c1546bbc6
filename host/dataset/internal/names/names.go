// Package names checks and matches the names of classes and features.
package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// maxName is the most bytes of a class name: 65536 characters, which an .npz file holds.
const maxName = 4 << 16

// Fault returns what a class name holds that CSV, JSON or a terminal would change or hide.
func Fault(name string) string {
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

// byPosition ends the errors of matching by name.
func byPosition() string {
	return "; if only the names differ, match by position (" +
		option.Named("match-features", "position") + ")"
}

// Match returns the place of each of want in have, nil if the lists are equal.
func Match(have, want []string) (at []int, fault string) {
	if slices.Equal(have, want) {
		return nil, ""
	}
	const twice = -1
	place := make(map[string]int, len(have))
	for j, name := range have {
		if _, seen := place[name]; seen {
			j = twice
		}
		place[name] = j
	}
	at = make([]int, 0, len(want))
	asked := make(map[string]bool, len(want))
	var missing []string
	for _, name := range want {
		if asked[name] {
			return nil, fmt.Sprintf("several features wanted have the name %s, so that names do not tell "+
				"them apart: found the features %s, wanted %s in this order%s", quote.Text(name),
				quote.List(have),
				quote.List(want), byPosition())
		}
		asked[name] = true
		switch j, there := place[name]; {
		case !there:
			missing = append(missing, name)
		case j == twice:
			return nil, fmt.Sprintf("found several features named %s, wanted one; rename one of them",
				quote.Text(name))
		default:
			at = append(at, j)
		}
	}
	if missing != nil {
		return nil, fmt.Sprintf("found the features %s, wanted also %s, %d of the %d that the model was "+
			"trained on%s", quote.List(have), quote.List(missing), len(missing), len(want), byPosition())
	}
	return at, ""
}

// ExtraNote says which of have are not wanted, "" if all are.
func ExtraNote(have, want []string) string {
	wanted := Set(want)
	extra := lists.Keep(have, func(name string) bool { return !wanted[name] })
	if extra == nil {
		return ""
	}
	return "ignored are columns that the model does not know: " + quote.List(extra)
}

// Set returns the names as a set.
func Set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}
