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
		{"OCL_ICD_VENDORS=" + broken, "platform", "none of the 1 drivers registered in " + broken +
			" starts"},
	}
	// PoCL alone, told to have no device.
	if pocl, err := os.ReadFile("/etc/OpenCL/vendors/pocl.icd"); err == nil {
		alone := t.TempDir()
		if err := os.WriteFile(filepath.Join(alone, "pocl.icd"), pocl, 0o644); err != nil {
			t.Fatal(err)
		}
		checks = append(checks, check{"OCL_ICD_VENDORS=" + alone + " POCL_DEVICES=nothing", "device",
			"(Portable Computing Language) know none"},
			check{"OCL_ICD_VENDORS=" + alone + " POCL_CACHE_DIR=/dev/null/no", "device",
				"POCL_CACHE_DIR, which is /dev/null/no: not a directory"})
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

// TestProtectCache: without a home compiled kernels go to a folder that nobody else can enter.
func TestProtectCache(t *testing.T) {
	temp := t.TempDir()
	for name, value := range map[string]string{"HOME": "", "XDG_CACHE_HOME": "", "TMPDIR": temp} {
		t.Setenv(name, value)
	}
	dir := filepath.Join(temp, fmt.Sprintf("uma-gpu-pocl-%d", os.Geteuid()))
	for range 2 {
		t.Setenv("POCL_CACHE_DIR", "")
		if err := protectCache(); err != nil || os.Getenv("POCL_CACHE_DIR") != dir {
			t.Errorf("found %v, %q", err, os.Getenv("POCL_CACHE_DIR"))
		}
	}
	for what, prepare := range map[string]func() error{
		"others can enter": func() error { return os.Chmod(dir, 0o755) },
		"a link":           func() error { return errors.Join(os.RemoveAll(dir), os.Symlink(temp, dir)) },
	} {
		t.Setenv("POCL_CACHE_DIR", "")
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		if err := protectCache(); err == nil {
			t.Errorf("%s: found no error", what)
		}
	}
}
