package dataset

import (
	"strings"
	"testing"
)

func TestParseSteps(t *testing.T) {
	for _, c := range []struct{ text, want, fault string }{
		{"none", "none", ""},
		{"l2", "l2", ""},
		{"l2, bias ,standardize", "standardize,bias,l2", ""},
		{DefaultSteps, DefaultSteps, ""},
		{"bias,maxabs", "maxabs,bias", ""},
		{"", "", `found "", wanted a comma list of standardize, maxabs, bias, l2, or none`},
		{"l2,", "", `normalization "l2,": found "", wanted`},
		{"L2", "", `found "L2", wanted`},
		{"l2,bias,l2", "", `found l2 twice, wanted each step once`},
		{"none,l2", "", "found none together with other steps"},
		{"l2,none", "", "found none together with other steps"},
		{"maxabs,standardize", "", "found standardize together with maxabs"},
	} {
		s, err := ParseSteps(c.text)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
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
