package decimal

import (
	"bytes"
	"strings"
)

// spellings are what locales write for a blank, an apostrophe and a minus.
var spellings = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2019", "'", "\u2212", "-")

// Loose reads a number as spreadsheets and locales show it: with a sign of a currency or of
// percent, and with commas, points, blanks or apostrophes between groups of three digits, the first
// of which does not begin with 0. commas says that the decimal mark is a comma.
func Loose(text []byte, commas bool) (float64, bool) {
	if bytes.IndexByte(text, 0xc2) >= 0 || bytes.IndexByte(text, 0xe2) >= 0 {
		text = []byte(spellings.Replace(string(text)))
	}
	text = bytes.TrimSpace(bytes.TrimRight(bytes.TrimSpace(text), "%"))
	sign := []byte(nil)
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		sign, text = text[:1:1], text[1:]
	}
	for _, currency := range []string{"$", "€", "£"} {
		text = bytes.TrimPrefix(text, []byte(currency))
		text = bytes.TrimSuffix(text, []byte(currency))
	}
	text = bytes.TrimSpace(text)
	mark, group := byte('.'), ","
	if commas {
		mark, group = ',', "."
	}
	whole, part := text, []byte(nil)
	if at := bytes.LastIndexByte(text, mark); at >= 0 {
		whole, part = text[:at], text[at+1:]
	}
	for _, between := range []string{group, " ", "'"} {
		groups := bytes.Split(whole, []byte(between))
		if len(groups) == 1 {
			continue
		}
		for k, g := range groups {
			if len(g) > 3 || len(g) == 0 || k > 0 && len(g) != 3 || k == 0 && g[0] == '0' {
				return 0, false
			}
		}
		whole = bytes.Join(groups, nil)
	}
	if len(whole) == 0 || len(bytes.Trim(whole, "0123456789")) > 0 {
		return 0, false
	}
	number := append(sign, whole...)
	if part != nil {
		number = append(append(number, '.'), part...)
	}
	return Parse(number)
}
