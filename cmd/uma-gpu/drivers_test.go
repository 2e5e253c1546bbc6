//go:build cgo && !noopencl && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/gpu"
)

// A driver that crashes is named by each command that looks for devices, which goes on without it; and work that
// needs none does not look.
func TestBrokenDriver(t *testing.T) {
	infos := openCL(t)
	dir := t.TempDir()
	for fault, how := range map[int]string{1: "ended by signal: aborted", 3: "ended by signal: segmentation fault"} {
		library := filepath.Join(dir, fmt.Sprintf("libfault%d.so", fault))
		if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", library,
			fmt.Sprintf("-DFAULT=%d", fault), "../../gpu/testdata/driver.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		alone, beside := filepath.Join(dir, fmt.Sprint("alone", fault)), filepath.Join(dir, fmt.Sprint("beside", fault))
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
			{alone, []string{"devices"}, exitOK, broken},
			{alone, with(train, large, "--device", "opencl"), exitNoDevice, broken},
			{alone, with(train, large, "--device", "auto"), exitOK, broken},
			{alone, with(train, digits, "--device", "auto"), exitOK, ""},
			{alone, []string{"doctor", "--json"}, exitFailure, ""},
			{beside, []string{"devices"}, exitOK, strings.Replace(broken, alone, beside, 1)},
			{beside, with(train, digits, "--device", infos[0].ID()), exitOK, strings.Replace(broken, alone, beside, 1)},
		} {
			var stdout, stderr bytes.Buffer
			p := program(t, "", c.args...)
			p.Env = append(p.Env, "OCL_ICD_VENDORS="+c.folder, "TMPDIR="+dir)
			p.Stdout, p.Stderr = &stdout, &stderr
			code, said := exitOf(t, p.Run()), stderr.String()
			if code != c.code || c.wanted != "" && strings.Count(said, how) != 1 || !strings.Contains(said, c.wanted) ||
				c.wanted == "" && strings.Contains(said, "left out") {
				t.Errorf("%q: exit code %d, wanted %d and %q\n%s", c.args, code, c.code, c.wanted, said)
			}
			if c.args[0] == "devices" && strings.Contains(stdout.String(), "\nopencl:0.0 ") != (c.folder == beside) {
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

// Junk among the kernels that PoCL keeps ends the program inside PoCL, with a message that says how to be rid of it.
func TestDamagedKernels(t *testing.T) {
	infos := openCL(t)
	at := slices.IndexFunc(infos, func(i gpu.Info) bool { return i.PlatformName == "Portable Computing Language" })
	if at < 0 {
		t.Skip("no device of PoCL: other drivers keep kernels elsewhere")
	}
	folder := t.TempDir()
	start := func() (*exec.Cmd, *bytes.Buffer) {
		var said bytes.Buffer
		c := program(t, "", "train", "--data", digits, "--model", filepath.Join(folder, "m.npz"), "--device", infos[at].ID())
		c.Env, c.Stderr = append(c.Env, "POCL_CACHE_DIR="+folder), &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &said
	}
	// The first kernel suffices.
	var kept []string
	c, _ := start()
	for end := time.Now().Add(time.Minute); len(kept) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		kept, _ = filepath.Glob(filepath.Join(folder, "*/*/probe/*/probe.so"))
	}
	c.Process.Kill()
	c.Wait()
	if len(kept) == 0 {
		t.Fatal("PoCL has kept no kernel")
	}
	whole := read(t, kept[0])
	harm := filepath.Join(t.TempDir(), "libharm.so")
	if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", harm,
		"../../gpu/testdata/damage.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for how, junk := range map[string][]byte{"harm": read(t, harm), "zeros": make([]byte, len(whole)), "cut": whole[:len(whole)/2],
		"text": bytes.Repeat([]byte("junk\n"), 1000)} {
		if err := os.WriteFile(kept[0], junk, 0o700); err != nil {
			t.Fatal(err)
		}
		c, said := start()
		if code := exitOf(t, c.Wait()); code != exitFailure || !strings.Contains(said.String(), "uma-gpu: signal ") ||
			!strings.Contains(said.String(), "remove the kernels that PoCL keeps in "+folder) {
			t.Errorf("%s: exit code %d\n%s", how, code, said.String())
		}
	}
}
