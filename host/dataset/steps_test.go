package dataset

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestParseSteps(t *testing.T) {
	for _, c := range []struct{ text, want, fault string }{
		{"none", "none", ""},
		{"l2", "l2", ""},
		{"l2, bias ,standardize", "standardize,bias,l2", ""},
		{DefaultSteps, DefaultSteps, ""},
		{"bias,maxabs", "maxabs,bias", ""},
		{"", "", `"" standardize maxabs l2`},
		{"l2,", "", `"l2," ""`},
		{"L2", "", `"L2"`},
		{"l2,bias,l2", "", "l2 twice"},
		{"none,l2", "", "none other steps"},
		{"l2,none", "", "none other steps"},
		{"maxabs,standardize", "", "standardize maxabs"},
	} {
		s, err := ParseSteps(c.text)
		if c.fault != "" {
			if !facts.Told(err, c.fault) {
				t.Errorf("ParseSteps(%q): %v, wanted %s", c.text, err, c.fault)
			}
		} else if err != nil || s.String() != c.want {
			t.Errorf("ParseSteps(%q) = %v, %v, wanted %s", c.text, s, err, c.want)
		}
	}
}

func FuzzParseSteps(f *testing.F) {
	for _, text := range []string{"none", "l2", DefaultSteps, "maxabs , l2", "l2,l2", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSteps(text)
		if err != nil {
			return
		}
		if back, err := ParseSteps(s.String()); err != nil || back != s {
			t.Fatalf("%q gives %q, which gives %v, %v", text, s, back, err)
		}
	})
}
