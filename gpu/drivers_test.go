//go:build linux && cgo && !noopencl && linux

package gpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const loaderLibrary = "libOpenCL.so.1"

// TestMain: the binary of the tests is the child process, too.
func TestMain(m *testing.M) {
	if library := os.Getenv(askVariable); library != "" {
		answer(library)
	}
	os.Exit(m.Run())
}

// driverAtFault compiles testdata/driver.c.
func driverAtFault(t *testing.T, fault int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libfault.so")
	out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o",
		path, fmt.Sprintf("-DFAULT=%d", fault), "testdata/driver.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// askInChild is AskInChild for one test.
func askInChild(t *testing.T) {
	asksInChild.Store(true)
	t.Cleanup(func() { asksInChild.Store(false); leftOut = nil })
}

// registerDrivers has the loader know those of its own and other ICD files, and returns the
// folder.
func registerDrivers(t *testing.T, more map[string]string) (folder string, own int) {
	t.Helper()
	folder = t.TempDir()
	files, err := filepath.Glob(filepath.Join(vendors(), "*.icd"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %q in %s, %v; wanted a driver", files, vendors(), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(f)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range more {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(vendorsVariable, folder)
	return folder, len(files)
}

// waitLittle limits the wait for drivers to many times what sound drivers take.
func waitLittle(t *testing.T) {
	t.Helper()
	start := time.Now()
	if err := rehearse(loaderLibrary, ""); err != nil {
		t.Fatal(err)
	}
	limit := askLimit
	askLimit = time.Second/2 + 8*time.Since(start)
	t.Cleanup(func() { askLimit = limit })
}

// showSound returns how many drivers soundDrivers shows, -1 for all.
func showSound(t *testing.T) int {
	t.Helper()
	folder, err := soundDrivers(loaderLibrary)
	if err != nil {
		t.Fatal(err)
	}
	if folder == "" {
		return -1
	}
	shown, _ := filepath.Glob(filepath.Join(folder, "*.icd"))
	if err := os.RemoveAll(folder); err != nil {
		t.Error(err)
	}
	return len(shown)
}

// Drivers that crash, end the process or hang are named and left out, and the others are shown to
// the loader.
func TestSoundDrivers(t *testing.T) {
	askInChild(t)
	for _, c := range []struct {
		name  string
		fault int
		how   string // it ended
	}{
		{"aborts", 1, "SIGABRT"},
		{"exits", 2, "ended by exit status 0"},
		{"no such memory", 3, "SIGSEGV"},
		{"hangs", 4, "did not end within "},
	} {
		t.Run(c.name, func(t *testing.T) {
			leftOut = nil
			if c.name == "hangs" {
				waitLittle(t)
			}
			broken := driverAtFault(t, c.fault)
			of, own := registerDrivers(t, map[string]string{"broken.icd": broken + "\n"})
			shown := showSound(t)
			said := errors.Join(LeftOut()...)
			if shown != own || len(leftOut) != 1 || !strings.Contains(said.Error(), filepath.Join(of,
				"broken.icd")) ||
				!strings.Contains(said.Error(), broken) || !strings.Contains(said.Error(), c.how) {
				t.Errorf("shows %d of %d, leaves out %v", shown, own+1, said)
			}
		})
	}
}

// What is no driver harms nobody: most loaders pass it over, and if not, it is left out.
func TestJunkDrivers(t *testing.T) {
	askInChild(t)
	whole, err := filepath.Glob("/usr/lib/*/libpocl.so.2")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable() // to cut where PoCL's library is elsewhere
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(append(whole, self)[0])
	if err != nil {
		t.Fatal(err)
	}
	file := func(t *testing.T, name string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	junk := make([]byte, 100000)
	for k := range junk {
		junk[k] = byte(k * k >> 3)
	}
	files := map[string]string{"empty.icd": "", "junk.icd": string(junk),
		"long.icd": strings.Repeat("x", 1<<20),
		"gone.icd": "/nowhere/libgone.so", "text.icd": file(t, "libtext.so", []byte("text"))}
	for _, at := range []int{64, 4096, len(bytes) / 3, len(bytes) / 2, len(bytes) - 100} {
		files[fmt.Sprintf("cut%d.icd", at)] = file(t, "libcut.so", bytes[:at])
		turned := slices.Clone(bytes)
		copy(turned[at:], junk[:min(2000, len(turned)-at)])
		files[fmt.Sprintf("turned%d.icd", at)] = file(t, "libturned.so", turned)
	}
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			leftOut = nil
			// behind PoCL, which is there once at most
			_, own := registerDrivers(t, map[string]string{"z" + name: text})
			if shown := showSound(t); shown >= 0 && shown != own || (shown < 0) != (leftOut == nil) {
				t.Errorf("shows %d of %d, leaves out %v", shown, own+1, leftOut)
			}
			t.Logf("leaves out %.300v", leftOut)
		})
	}
}

// A pipe for an ICD file would never end.
func TestPipeForDriver(t *testing.T) {
	askInChild(t)
	waitLittle(t)
	of, own := registerDrivers(t, nil)
	if err := syscall.Mkfifo(filepath.Join(of, "pipe.icd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if shown := showSound(t); shown != own || len(leftOut) != 1 ||
		!strings.Contains(leftOut[0].Error(), "it is no file") {
		t.Errorf("shows %d of %d, leaves out %v", shown, own+1, leftOut)
	}
}

// A loader that crashes by itself is no driver's fault.
func TestBrokenLoader(t *testing.T) {
	askInChild(t)
	if _, err := soundDrivers(driverAtFault(t, 1)); !errors.Is(err, ErrNoLoader) || leftOut != nil ||
		!strings.Contains(err.Error(), "with no driver ended by exit status 2") {
		t.Errorf("found %v, leaves out %v", err, leftOut)
	}
}

// All is well: nothing is left out, and no folder is made.
func TestSoundDriversOfAll(t *testing.T) {
	askInChild(t)
	start := time.Now()
	if folder, err := soundDrivers(loaderLibrary); folder != "" || err != nil || leftOut != nil {
		t.Errorf("made %q, %v, leaves out %v", folder, err, leftOut)
	}
	t.Logf("took %v", time.Since(start))
}

// A program that did not say AskInChild is not started again, whatever drivers do; one that did
// is.
func TestForeignProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "foreign")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"./testdata/foreign").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	// behind PoCL in the listing
	beside, _ := registerDrivers(t, map[string]string{"broken.icd": driverAtFault(t, 1)})
	for _, c := range []struct {
		name, child, vendors string
		starts               int // 0 for several
		printed              string
	}{
		{"not asked", "", "/etc/OpenCL/vendors", 1, fmt.Sprint(len(own), " <nil> 0\n")},
		{"asked", "1", "/etc/OpenCL/vendors", 2, fmt.Sprint(len(own), " <nil> 0\n")},
		{"a broken driver, not asked", "", beside, 1, ""},
		{"a broken driver, asked", "1", beside, 0, fmt.Sprint(len(own), " <nil> 1\n")},
	} {
		starts := filepath.Join(t.TempDir(), "starts")
		p := exec.CommandContext(t.Context(), program)
		p.Env = append(os.Environ(), "FOREIGN_STARTS="+starts, "ASK_IN_CHILD="+c.child,
			vendorsVariable+"="+c.vendors)
		out, err := p.Output()
		noted, readErr := os.ReadFile(starts)
		n := strings.Count(string(noted), "started\n")
		if readErr != nil || string(out) != c.printed || (err == nil) != (c.printed != "") ||
			c.starts != n && c.starts != 0 || n < 1 {
			t.Errorf("%s: printed %q, wanted %q, %v; started %d times, wanted %d", c.name, out, c.printed,
				err, n, c.starts)
		}
	}
}
