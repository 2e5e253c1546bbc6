//go:build linux && cgo && !noopencl && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
)

// A driver that crashes is named by each command that looks for devices, which goes on without it;
// and work that needs none does not look.
func TestBrokenDriver(t *testing.T) {
	infos := openCL(t)
	dir := t.TempDir()
	for fault, how := range map[int]string{1: "SIGABRT", 3: "SIGSEGV"} {
		library := filepath.Join(dir, fmt.Sprintf("libfault%d.so", fault))
		if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", library,
			fmt.Sprintf("-DFAULT=%d", fault), "../../gpu/testdata/driver.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		alone, beside := filepath.Join(dir, fmt.Sprint("alone", fault)), filepath.Join(dir,
			fmt.Sprint("beside", fault))
		for _, folder := range []string{alone, beside} {
			if err := os.Mkdir(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, folder, "broken.icd", library)
		}
		files, _ := filepath.Glob("/etc/OpenCL/vendors/*.icd")
		for _, f := range files {
			write(t, beside, filepath.Base(f), string(read(t, f)))
		}
		m, large := filepath.Join(dir, "m.npz"), filepath.Join(dir, "large.csv")
		succeed(t, "synth", "--examples", "9000", "--features", "120", "--out", large)
		train := []string{"train", "--learner", "uma", "--max-steps", "2", "--model", m, "--data"}
		broken := "OpenCL driver " + filepath.Join(alone, "broken.icd") + " is left out"
		for _, c := range []struct {
			folder string
			args   []string
			code   int
			wanted string // on standard error
		}{
			{alone, []string{"devices"}, app.ExitOK, broken},
			{alone, with(train, large, "--device", "opencl"), app.ExitNoDevice, broken},
			{alone, with(train, large, "--device", "auto"), app.ExitOK, broken},
			{alone, with(train, digits, "--device", "auto"), app.ExitOK, ""},
			{alone, []string{"doctor", "--json"}, app.ExitFailure, ""},
			{beside, []string{"devices"}, app.ExitOK, strings.Replace(broken, alone, beside, 1)},
			{beside, with(train, digits, "--device", infos[0].ID()), app.ExitOK, strings.Replace(broken,
				alone, beside, 1)},
		} {
			var stdout, stderr bytes.Buffer
			p := processOf(t, "", c.args...)
			p.Env = append(p.Env, "OCL_ICD_VENDORS="+c.folder, "TMPDIR="+dir)
			p.Stdout, p.Stderr = &stdout, &stderr
			code, said := exitOf(t, p.Run()), stderr.String()
			if code != c.code || c.wanted != "" && strings.Count(said, how) != 1 || !strings.Contains(said,
				c.wanted) || c.wanted == "" && strings.Contains(said, "left out") {
				t.Errorf("%q: exit code %d, wanted %d and %q\n%s", c.args, code, c.code, c.wanted, said)
			}
			if c.args[0] == "devices" && strings.Contains(stdout.String(),
				"\nopencl:0.0 ") != (c.folder == beside) {
				t.Errorf("%s lists\n%s", c.folder, stdout.String())
			}
			if c.args[0] == "doctor" && !strings.Contains(stdout.String(), how) {
				t.Errorf("doctor finds\n%s", stdout.String())
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "uma-gpu-drivers-*")); left != nil {
			t.Errorf("left %q", left)
		}
	}
	if gpu.LeftOut() != nil {
		t.Errorf("left out %v in this process", gpu.LeftOut())
	}
}
