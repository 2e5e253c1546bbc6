package facts

import (
	"errors"
	"testing"
)

func TestTold(t *testing.T) {
	err := errors.New(`/tmp/x/d.csv:2:13: column 2 (size): found "nan", wanted 3 to 5; use --skip.`)
	for facts, want := range map[string]bool{
		"":                               true,
		`d.csv:2:13 2 size "nan" --skip`: true,
		"/tmp/x/d.csv:2:13 3 5":          true,
		"5 3":                            false, // not in this order
		"d.csv:2 2":                      false, // parts of words
		"nan":                            false,
		"5 --skip 5":                     false, // each fact at its own place
	} {
		if got := Told(err, facts); got != want {
			t.Errorf("Told(%v, %q) is %v, want %v", err, facts, got, want)
		}
	}
	if Told(error(nil), "") || Told(nil, "x") {
		t.Error("no error states a fact")
	}
}
