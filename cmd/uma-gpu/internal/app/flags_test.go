package app

import "testing"

// Whole numbers may have an exponent, and have to be whole.
func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "300": 300, "-2": -2, "1e3": 1000, "1E3": 1000,
		"2.5e+2": 250, "12e0": 12, "9e15": 9e15} {
		if n, err := ParseCount(text); err != nil || n != want {
			t.Errorf("%q: found %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "1.5", "1e-3", "1.25e1", "1e19", "1e99", "1e999999999",
		"e3", "1e", "nan", "1/1e1", "99999999999999999999", " 1e3", "١e3"} {
		if n, err := ParseCount(text); err == nil {
			t.Errorf("%q: found %d, want an error", text, n)
		}
	}
}
