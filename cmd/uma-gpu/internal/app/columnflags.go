package app

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// missingText tells which columns lack values.
func missingText(missing []dataset.MissingCount) string {
	const most = 5
	var parts []string
	for k, m := range missing {
		if k == most {
			parts = append(parts, fmt.Sprintf("… (%d columns in all)", len(missing)))
			break
		}
		parts = append(parts, fmt.Sprintf("%d in %s", m.Values, m.Column))
	}
	if parts == nil {
		return ""
	}
	return "; missing values: " + strings.Join(parts, ", ")
}

// Brief is a name from a file without characters that steer a terminal, cut to what a line has
// room for.
func Brief(name string) string {
	const most = 40
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, name))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return string(text)
}
