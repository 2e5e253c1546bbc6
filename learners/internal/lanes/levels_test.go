package lanes

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A function of level AVX2 with a long vector, or one of the upper registers, would die on a
// processor that has none.
func TestLevelsKeepToTheirInstructions(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	long := regexp.MustCompile(`\bZ[0-9]+\b|\b[XY](1[6-9]|2[0-9]|3[01])\b|\.BCST|\bVPXORQ\b`)
	functions := strings.Split(string(text), "\nTEXT ·")[1:]
	if len(functions) != 25 {
		t.Fatalf("%d functions found, wanted 25", len(functions))
	}
	for _, f := range functions {
		name, _, _ := strings.Cut(f, "(")
		if !strings.HasSuffix(name, "AVX512") && long.MatchString(f) {
			t.Errorf("%s uses %s, which AVX2 has not", name, long.FindString(f))
		}
	}
}
