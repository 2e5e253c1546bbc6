package app

import (
	"fmt"
	"strings"

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
