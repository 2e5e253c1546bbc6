package simd

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A function of level AVX2 that uses one register too many would be AVX-512 and
// die on a processor that has none.
func TestLevelsKeepToTheirInstructions(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string][]string{
		"AVX2":   {"AVX", "AVX2", "FMA3", "CMOV", "MMX+"},
		"AVX512": {"AVX", "AVX2", "FMA3", "CMOV", "MMX+", "AVX512F", "AVX512DQ", "AVX512VL", "BMI2"},
	}
	high := regexp.MustCompile(`\b[XYZ](1[6-9]|2[0-9]|3[01])\b`)
	functions := strings.Split(string(text), "\n// func ")[1:]
	if len(functions) < 37 {
		t.Fatalf("%d functions found, want more", len(functions))
	}
	for _, f := range functions {
		name, _, _ := strings.Cut(f, "(")
		level := "AVX2"
		if strings.HasSuffix(name, "AVX512") {
			level = "AVX512"
		} else if !strings.HasSuffix(name, "AVX2") {
			t.Errorf("%s: the name ends with no level", name)
		}
		_, requires, _ := strings.Cut(f, "// Requires: ")
		requires, _, _ = strings.Cut(requires, "\n")
		for _, r := range strings.Split(requires, ", ") {
			found := false
			for _, a := range allowed[level] {
				found = found || a == r
			}
			if !found {
				t.Errorf("%s requires %q, which level_amd64.go does not ask for", name, r)
			}
		}
		if level == "AVX2" && high.MatchString(f) {
			t.Errorf("%s uses register %s, which AVX2 cannot reach", name, high.FindString(f))
		}
	}
}
