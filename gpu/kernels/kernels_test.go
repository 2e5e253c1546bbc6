package kernels

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHash: every build has all the kernels, also one without OpenCL, and a hash of
// their text.
func TestHash(t *testing.T) {
	h := sha256.New()
	for _, name := range Names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	if got, err := Hash(); err != nil || got != fmt.Sprintf("%x", h.Sum(nil)) {
		t.Errorf("hash %q, %v, wanted %x", got, err, h.Sum(nil))
	}
	found, err := filepath.Glob("*.cl")
	if err != nil || len(found) != len(Names) {
		t.Errorf("%d files of kernels, %v, wanted %d", len(found), err, len(Names))
	}
	for _, path := range found {
		if !slices.Contains(Names, path) {
			t.Errorf("%s is not compiled", path)
		}
	}
}

// TestKernelsKeepToNames: kernels compute by the names of contract.cl, so that none is left out.
func TestKernelsKeepToNames(t *testing.T) {
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	for k, text := range sources {
		for number, line := range strings.Split(text, "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, bad := range []string{"fma(", "convert_float", "mad(", "-INFINITY", ": 0.0f", "? 0.0f"} {
				at := strings.Index(code, bad)
				if at >= 0 && k > 0 && !strings.Contains(code, "convert_double") && !strings.Contains(code, "CONSTANT("+bad) {
					t.Errorf("%s:%d: %s: use the names of contract.cl", Names[k], number+1, bad)
				}
			}
		}
	}
}

// TestKernelsCheckLoops: each kernel but the probe has the parameter and the statement by which
// it tells that its loops were ended.
func TestKernelsCheckLoops(t *testing.T) {
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for k, text := range sources {
		if k == 0 || Names[k] == "probe.cl" {
			continue
		}
		begin := strings.Split(text, "\n__kernel ")
		for _, kernel := range begin[1:] {
			body, _, ended := strings.Cut(kernel, "\n\tCHECK_LOOPS\n}")
			if head, _, _ := strings.Cut(body, "{"); !ended || !strings.Contains(head, " LOOPS_PARAMETER)\n") {
				name, _, _ := strings.Cut(kernel, "\n")
				t.Errorf("%s: %s lacks LOOPS_PARAMETER or CHECK_LOOPS: see contract.cl", Names[k], name)
			}
			all++
		}
	}
	if all < 17 {
		t.Errorf("found %d kernels", all)
	}
}
