package crowd

import (
	"fmt"
)

// names returns the names of q classes.
func names(q int) []string {
	s := make([]string, q)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}
