package decimal

import "bytes"

// Loose reads a number as spreadsheets show it: with a sign of a currency or of percent, and with
// commas, points, blanks or apostrophes between groups of three digits. commas says that the
// decimal mark is a comma.
func Loose(text []byte, commas bool) (float64, bool) {
	text = bytes.TrimSpace(bytes.TrimRight(bytes.TrimSpace(text), "%"))
	sign := []byte(nil)
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		sign, text = text[:1:1], text[1:]
	}
	for _, currency := range []string{"$", "€", "£"} {
		text = bytes.TrimPrefix(text, []byte(currency))
		text = bytes.TrimSuffix(text, []byte(currency))
	}
	text = bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\u00a0"), []byte(" "))
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
			if len(g) > 3 || len(g) == 0 || k > 0 && len(g) != 3 {
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
