//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingThere lists the devices in processes of their own, since a process
// looks for OpenCL once: without a loader, without a driver, with one that does
// not start, and with one that has no device.
func TestNothingThere(t *testing.T) {
	const child = "UMA_GPU_TEST_CHILD"
	if os.Getenv(child) != "" {
		_, err := Devices()
		for kind, e := range map[string]error{"loader": ErrNoLoader, "platform": ErrNoPlatform,
			"device": ErrNoDevice} {
			if errors.Is(err, e) {
				fmt.Printf("kind=%s %v\n", kind, err)
			}
		}
		return
	}
	none, broken := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "x.icd"), []byte("libnothing-uma-gpu.so\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	type check struct{ set, kind, want string }
	checks := []check{
		{LibraryVariable + "=libnothing-uma-gpu.so", "loader", "apt-get install ocl-icd-libopencl1"},
		{LibraryVariable + "=libc.so.6", "loader", "lacks the function clGetPlatformIDs"},
		{"OCL_ICD_VENDORS=" + none, "platform", "no driver (ICD) is registered in " + none},
		{"OCL_ICD_VENDORS=" + broken, "platform", "of the 1 drivers registered in " + broken +
			" none starts"},
	}
	// PoCL alone, told to have no device.
	if pocl, err := os.ReadFile("/etc/OpenCL/vendors/pocl.icd"); err == nil {
		alone := t.TempDir()
		if err := os.WriteFile(filepath.Join(alone, "pocl.icd"), pocl, 0o644); err != nil {
			t.Fatal(err)
		}
		checks = append(checks, check{"OCL_ICD_VENDORS=" + alone + " POCL_DEVICES=nothing", "device",
			"(Portable Computing Language) know none"})
	}
	for _, c := range checks {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestNothingThere$")
		cmd.Env = append(append(os.Environ(), child+"=1"), strings.Fields(c.set)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.set, err, out)
		}
		if !strings.Contains(string(out), "kind="+c.kind+" ") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %s\nwant an error of kind %s with %q", c.set, out, c.kind, c.want)
		}
	}
}
