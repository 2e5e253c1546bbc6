package app

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// SafeCells says that texts which a spreadsheet would run begin with an apostrophe.
type SafeCells bool

// Flag returns the flag --safe-cells.
func (s *SafeCells) Flag() cli.Flag {
	return Switch((*bool)(s), "safe-cells",
		"put an apostrophe before cells that begin with = + - @ and are no numbers")
}

// Of returns the cells as they are written, and may change them.
func (s SafeCells) Of(cells []string) []string {
	for k, text := range cells {
		if !bool(s) || text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
			continue
		}
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			cells[k] = "'" + text
		}
	}
	return cells
}
