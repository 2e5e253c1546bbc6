//go:build linux && cgo && !noopencl && unix

package gpu

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jgillich/go-opencl/cl"
)

var raceRounds = flag.Int("rounds", 1, "how often TestEightProcesses starts eight")

// racerVariable makes a process a racer; it is the number of programs to compile.
const racerVariable = "UMA_GPU_TEST_RACER"

// TestEightProcesses has eight processes compile the same kernels at the same time, with an empty
// folder of compiled kernels. In a process that race started it is one of these.
func TestEightProcesses(t *testing.T) {
	if count := os.Getenv(racerVariable); count != "" {
		programs, err := strconv.Atoi(count)
		if err = errors.Join(err, compileSome(programs)); err != nil {
			t.Fatal(err)
		}
		return
	}
	failed, programs := 0, 5
	if *raceRounds > 1 {
		programs = 20
	}
	for round := range *raceRounds {
		for k, said := range race(t, filepath.Join(t.TempDir(), "new", "cache"), 8, programs) {
			if said != "" {
				failed++
				t.Errorf("round %d, process %d: %s", round, k, said)
			}
		}
	}
	t.Logf("%d of %d failed", failed, 8**raceRounds)
}

// TestEmptyProgram empties what PoCL keeps of a program, which then has no kernels: it is compiled
// once more.
func TestEmptyProgram(t *testing.T) {
	folder := t.TempDir()
	for _, damaged := range []bool{false, true} {
		programs, err := filepath.Glob(filepath.Join(folder, "*/*/program.bc"))
		if err != nil || (len(programs) > 0) != damaged {
			t.Fatalf("found programs %q, %v", programs, err)
		}
		for _, p := range programs {
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if said := race(t, folder, 1, 2)[0]; said != "" {
			t.Errorf("damaged: %v: %s", damaged, said)
		}
	}
}

// race starts racers, with a folder for compiled kernels and a number of programs, and returns
// what the failing ones said.
func race(t *testing.T, folder string, racers, programs int) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready, each, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	var started []*exec.Cmd
	var begins []io.Closer // what each waits for
	said := make([]bytes.Buffer, racers)
	for k := range racers {
		c := exec.CommandContext(t.Context(), self, "-test.run", "^TestEightProcesses$",
			"-test.count", "1")
		c.Env = append(os.Environ(), fmt.Sprint(racerVariable, "=", programs), "POCL_CACHE_DIR="+folder)
		c.Stdout, c.Stderr, c.ExtraFiles = &said[k], &said[k], []*os.File{each}
		begin, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		started, begins = append(started, c), append(begins, begin)
	}
	each.Close()
	if _, err := io.ReadFull(ready, make([]byte, racers)); err != nil {
		t.Errorf("not all were ready: %v", err)
	}
	for _, b := range begins {
		b.Close()
	}
	ends := make([]string, racers)
	for k, c := range started {
		if err := c.Wait(); err != nil {
			ends[k] = fmt.Sprintf("%v\n%.1500s", err, said[k].String())
		}
	}
	return ends
}

// compileSome compiles programs, when standard input ends, and runs them.
func compileSome(count int) error {
	all, err := devices()
	if err != nil {
		return err
	}
	d := all[0]
	q := &queue{device: d.cl, cache: newProgramCache(), memory: d.info.Memory}
	if q.context, err = cl.CreateContext([]*cl.Device{d.cl}); err != nil {
		return err
	}
	if q.queue, err = q.context.CreateCommandQueue(d.cl, 0); err != nil {
		return err
	}
	if _, err := os.NewFile(3, "ready").Write([]byte{1}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	for k := range count {
		source := fmt.Sprintf("__kernel void number(__global int *a) { a[get_global_id(0)] = %d; }", k)
		p, err := q.build([]string{source}, "", "number")
		if err != nil {
			return err
		}
		number, err := q.kernel(p, "number", 1, false)
		if err != nil {
			return err
		}
		o := buffers{q: q}
		b := alloc[int32](&o, "number", 1)
		if o.err != nil {
			return o.err
		}
		var found [1]int32
		if err := errors.Join(number.launch(1, 1, struct{ Out *buffer[int32] }{b}), b.read(found[:],
			0)); err != nil ||
			found[0] != int32(k) {
			return fmt.Errorf("found %d, wanted %d; %v", found[0], k, err)
		}
	}
	return nil
}
