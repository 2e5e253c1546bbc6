package file

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestNumberFault(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `empty ""`},
		{"1_000", `"1_000" decimal`},
		{"0x1p-2", `"0x1p-2" decimal`},
		{"0b1", "decimal"},
		{"1.5x", `"1.5x" decimal`},
		{"1 2", `"1 2" decimal`},
		{"?", `"?" decimal`},
		{"-", `"-" decimal`},
		{"nan", `"nan" finite`},
		{"NaN", "finite"},
		{"-Inf", "finite"},
		{"+infinity", "finite"},
		{"1e39", `"1e39" float32`},
		{"-1e400", "float32"},
		{strings.Repeat("ä", 40) + "x", `"` + strings.Repeat("ä", 20) + `"…`},
	} {
		if v, ok := decimal.Parse([]byte(c.text)); ok {
			t.Errorf("Parse(%q) = %v, wanted a refusal", c.text, v)
		}
		if got := numberFault([]byte(c.text)); !facts.Told(got, c.want) {
			t.Errorf("numberFault(%q) = %q, wanted it to contain %q", c.text, got, c.want)
		}
	}
}
