package kernels

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNames: the list names all kernel files, and no other.
func TestNames(t *testing.T) {
	found, err := filepath.Glob("*.cl")
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(slices.Values(Names)); !slices.Equal(found, want) {
		t.Errorf("kernel files: got %q, want %q", found, want)
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
