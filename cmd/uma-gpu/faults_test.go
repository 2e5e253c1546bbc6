//go:build linux && cgo && !noopencl && linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/gpu"
)

// faultsVariable has the job of a process that TestFaults starts.
const faultsVariable = "UMA_GPU_TEST_FAULTS"

var (
	faults = flag.Int("faults", 6,
		"how many OpenCL calls TestFaults lets fail, of one command; 0 for all, of each")
	faultsEvery = flag.Int("faults-every", 1, "let one of every N calls fail")
	faultFlips  = flag.Int("flips", 0,
		"bits that TestTurnedBits turns, of each kind, command and audit; 0: few")
	faultsFrom = flag.Int("faults-from", 0, "from which on")
)

// faultJob is command lines to run, each with a fault of gpu/testdata/faults.c.
type faultJob struct {
	Name   string
	Args   []string // of the command line, which writes Out
	Out    string
	Faults []string // values of FAULT, in order
}

// faultRun is what became of one.
type faultRun struct {
	Fault string
	Code  int
	// what was called, if it was asked for by an empty fault; else the calls that failed, at most 3
	Calls  []string
	Stderr string
	Out    []byte   // the file, if there is one
	Left   []string // other files
}

// crashed, hung and locked stand for the exit codes of processes that ended, or did not end,
// without one. A locked process waits without computing.
const (
	crashed = -1
	hung    = -2
	locked  = -3

	idle = 20 * time.Second // of processor time, at most, in a minute of waiting
)

// faultyLibrary compiles the loader that fails.
func faultyLibrary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "faults.so")
	out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror",
		"-DCL_TARGET_OPENCL_VERSION=120", "-o", path, "../../gpu/testdata/faults.c", "-Wl,--no-as-needed",
		"-lOpenCL", "-ldl", "-lpthread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestHangingDriver: a driver that hangs when it is asked for its devices does not keep the command
// devices from ending at once, without a process that is left.
func TestHangingDriver(t *testing.T) {
	library, log := faultyLibrary(t), filepath.Join(t.TempDir(), "log")
	start := func(fault string) *exec.Cmd {
		c := processOf(t, "", "devices")
		c.Env = append(c.Env, gpu.LibraryVariable+"="+library, "FAULT="+fault, "FAULT_LOG="+log)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := start("").Wait(); err != nil {
		t.Fatal(err)
	}
	calls := strings.Split(string(read(t, log)), "\n")
	n := 1 + slices.IndexFunc(calls, func(call string) bool {
		return strings.HasSuffix(call, " clGetDeviceIDs")
	})
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		c := start(fmt.Sprintf("hang:%d", n))
		for text := ""; !strings.Contains(text, "clGetDeviceIDs"); time.Sleep(time.Millisecond) {
			written, _ := os.ReadFile(log)
			text = string(written)
		}
		time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if code := exitOf(t, c.Wait()); code != app.ExitInterrupted {
			t.Errorf("%v: exit code %d, want %d", signal, code, app.ExitInterrupted)
		}
	}
}

// faultyProcess is what the process does that runFaults starts, TestFaults with a job in the
// environment: its command lines run in it one after the other, so that PoCL need not read its
// kernels for each.
func faultyProcess(t *testing.T, text string) {
	var job faultJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	log := os.Getenv("FAULT_LOG")
	var good []string // calls of the last run without a fault
	for k, fault := range job.Faults {
		// A number of its own makes it new, also if it is what it was.
		if err := os.Setenv("FAULT", fmt.Sprintf("%s:%d", placed(t, fault, good), k)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := program.Start(job.Args, &stdout, &stderr)
		r := faultRun{Fault: fault, Code: code, Stderr: stderr.String()}
		runtime.GC() // finalizers
		if err := os.Setenv("FAULT", ""); err != nil {
			t.Fatal(err)
		}
		calls := strings.Split(strings.TrimSpace(string(read(t, log))), "\n")
		for _, c := range calls {
			_, name, _ := strings.Cut(c, " ")
			name, failed := strings.CutSuffix(name, " fails")
			if fault == "" || failed && len(r.Calls) < 3 {
				r.Calls = append(r.Calls, name)
			}
		}
		if fault == "" {
			good = r.Calls
		}
		for _, name := range names(t, filepath.Dir(job.Out)) {
			if name == filepath.Base(job.Out) {
				r.Out = read(t, job.Out)
			} else {
				r.Left = append(r.Left, name)
			}
		}
		os.RemoveAll(job.Out)
		if err := answers.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
}

// placed replaces a share of the calls that a kind of fault concerns, such as 50%, by a number of
// them.
func placed(t *testing.T, fault string, calls []string) string {
	before, seed, found := strings.Cut(fault, "%")
	if !found {
		return fault
	}
	kind, text, _ := strings.Cut(before, ":")
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	count := len(calls)
	if name := map[string]string{"read": "clEnqueueReadBuffer", "write": "clEnqueueWriteBuffer",
		"memory": "clEnqueueNDRangeKernel"}[strings.TrimSuffix(kind, "+")]; name != "" {
		count = len(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return c != name }))
	}
	return fmt.Sprintf("%s:%d%s", kind, 1+int(share/100*float64(count)), seed)
}

// runFaults runs the job in a process of its own, and a new one after each that ends before its
// job is done. what is called with each result.
func runFaults(t *testing.T, library string, job faultJob, what func(faultRun)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	for all := job.Faults; len(all) > 0; {
		job.Faults = all
		if strings.Contains(all[0], "%") { // of the calls of a run without a fault
			all = slices.Concat([]string{"", ""}, all)
			job.Faults = all
		}
		text, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), self, "-test.run", "^TestFaults$")
		c.Env = append(os.Environ(), faultsVariable+"="+string(text), gpu.LibraryVariable+"="+library,
			"FAULT_LOG="+log)
		c.ExtraFiles = []*os.File{w}
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		done := 0
		slow := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		for answers := json.NewDecoder(bufio.NewReader(r)); ; done++ {
			var run faultRun
			if err := answers.Decode(&run); err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			slow.Reset(time.Minute)
			what(run)
		}
		err = c.Wait()
		r.Close()
		if done < len(job.Faults) {
			code := crashed
			switch {
			case !slow.Stop():
				code = hung
				if s := c.ProcessState; s.UserTime()+s.SystemTime() < idle {
					code = locked
				}
			case strings.Contains(said.String(), "uma-gpu: signal "):
				// The memory that an index names which is wrong is not there, and the kernel computes in this
				// process.
				code = exitOf(t, err)
			}
			what(faultRun{Fault: job.Faults[done], Code: code, Stderr: fmt.Sprint(err, "\n",
				lines(said.String(), 60))})
			os.RemoveAll(job.Out)
			done++
		}
		slow.Stop()
		all = all[done:]
	}
}

// lines are the first n lines of a text.
func lines(text string, n int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[:min(n, len(all))], "")
}

// faultyCommands are short runs of all that a device computes: one has class sums, one weighted
// sums, one predictions, one projections of both.
func faultyCommands(t *testing.T) []faultJob {
	t.Helper()
	dir, at := t.TempDir(), t.TempDir()
	var data strings.Builder
	for i := range 60 {
		for j := range 4 {
			fmt.Fprintf(&data, "%d,", (i*(j+3)+i*i%(5+j))%17+3*(i%3))
		}
		fmt.Fprintf(&data, "%d\n", (i+i/20)%3)
	}
	path, m := write(t, dir, "data.csv", data.String()), filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", path, "--model", m)
	device := openCL(t)[0].ID()
	out := filepath.Join(at, "out.npz")
	train := []string{"train", "--data", path, "--model", out, "--device", device, "--max-steps", "4"}
	return []faultJob{
		{Name: "uma", Args: with(train, "--learner", "uma"), Out: out},
		{Name: "softmax", Args: with(train, "--learner", "softmax", "--l2", "0.01"), Out: out},
		{Name: "predict", Args: []string{"predict", "--data", path, "--model", m, "--device", device,
			"--out", out + ".txt"}, Out: out + ".txt"},
		{Name: "kernel", Args: with(train, "--learner", "uma", "--kernel", "rbf", "--gamma", "0.1",
			"--components", "5"), Out: out},
	}
}

// TestFaults lets OpenCL calls fail, one or it and all that follow, and wants an error that says
// so, an exit code, and no file, or else what comes without the fault.
func TestFaults(t *testing.T) {
	if job := os.Getenv(faultsVariable); job != "" {
		faultyProcess(t, job)
		return
	}
	library := faultyLibrary(t)
	for _, job := range faultyCommands(t) {
		for _, kind := range []string{"fail", "lose"} {
			// one process, and no more, in a second
			if *faults > 0 && (job.Name != "uma" || kind != "lose") {
				continue
			}
			t.Run(job.Name+"/"+kind, func(t *testing.T) {
				var good faultRun
				job, calls, ends, start := job, map[string]int{}, map[int]int{}, time.Now()
				judge := func(r faultRun) {
					if r.Fault == "" {
						if good = r; r.Code != app.ExitOK || r.Out == nil {
							t.Fatalf("without a fault: exit code %d\n%s", r.Code, r.Stderr)
						}
						return
					}
					ends[r.Code]++
					for _, c := range r.Calls[:min(1, len(r.Calls))] {
						calls[c]++
					}
					if err := judgeFault(r, good); err != nil {
						t.Errorf("FAULT=%s (%s): %v\n%s", r.Fault, strings.Join(r.Calls, ", "), err, r.Stderr)
					}
				}
				job.Faults = []string{"", ""} // the second run has the programs of the first
				if *faults > 0 {
					for k := range *faults {
						at := 100 * (float64(k) + 0.5) / float64(*faults)
						job.Faults = append(job.Faults, fmt.Sprintf("lose:%g%%", at), fmt.Sprintf("fail:%g%%", at))
					}
				} else {
					runFaults(t, library, job, judge)
					job.Faults = nil
					for n := 1 + *faultsFrom; n <= len(good.Calls); n += *faultsEvery {
						job.Faults = append(job.Faults, fmt.Sprintf("%s:%d", kind, n))
					}
				}
				runFaults(t, library, job, judge)
				t.Logf("%d faults in %v: exit codes %v; first to fail: %v", len(job.Faults),
					time.Since(start).Round(time.Millisecond), ends, calls)
			})
		}
	}
}

// judgeFault says what is wrong about the end of a run with a failed call.
func judgeFault(r, good faultRun) error {
	switch {
	case r.Code == crashed, r.Code == hung, r.Code == locked:
		return fmt.Errorf("crashed (%d), hung (%d) or locked (%d): %d", crashed, hung, locked, r.Code)
	case len(r.Left) > 0:
		return fmt.Errorf("left %q", r.Left)
	case strings.Contains(r.Stderr, "goroutine ") || strings.Contains(r.Stderr, "runtime error"):
		return fmt.Errorf("panicked")
	case r.Code == app.ExitOK && !bytes.Equal(r.Out, good.Out):
		return fmt.Errorf("exit code 0 and another result")
	case r.Code != app.ExitOK && r.Out != nil && !bytes.Equal(r.Out,
		good.Out): // it may be whole before the device is closed
		return fmt.Errorf("exit code %d and another result", r.Code)
	case r.Code != app.ExitOK && !strings.Contains(r.Stderr, "\numa-gpu: ") &&
		!strings.HasPrefix(r.Stderr, "uma-gpu: "):
		return fmt.Errorf("exit code %d without a word", r.Code)
	}
	return nil
}

// TestTurnedBits turns bits in what a device reads, writes and remembers. Audited in full, no run
// ends with exit code 0 and another result; in a sample, few do whose bits stay wrong.
func TestTurnedBits(t *testing.T) {
	library, r := faultyLibrary(t), newRandom(t)
	for _, job := range faultyCommands(t) {
		for _, level := range []string{"off", "sample", "full"} {
			if *faultFlips == 0 && (job.Name != "uma" || level != "full") {
				continue
			}
			t.Run(job.Name+"/"+level, func(t *testing.T) {
				type ends struct{ wrong, found, crashed, none int }
				var good faultRun
				job, found := job, map[string]*ends{}
				job.Args = with(job.Args, "--audit", level)
				job.Faults = []string{"", ""}
				for _, kind := range []string{"read", "write", "memory", "read+", "write+", "memory+"} {
					found[kind] = &ends{}
					for range max(*faultFlips, 2) {
						at := 78 + 22*r.Float64() // what is before opens the device and tests it
						job.Faults = append(job.Faults, fmt.Sprintf("%s:%g%%:%d", kind, at, r.Uint32()))
					}
				}
				runFaults(t, library, job, func(r faultRun) {
					if r.Fault == "" {
						good = r
						return
					}
					kind, _, _ := strings.Cut(r.Fault, ":")
					wrong := r.Code == app.ExitOK && !bytes.Equal(r.Out, good.Out)
					switch err := judgeFault(r, good); {
					case wrong:
						found[kind].wrong++
					case r.Code == app.ExitOK:
						found[kind].none++
					case (r.Code == crashed || r.Code == locked) && strings.HasPrefix(kind, "write"):
						// A kernel that computes in this process has written by an index that was wrong, to Go's
						// heap or C's, or to a lock of the driver's, which then never opens.
						found[kind].crashed++
					default:
						found[kind].found++
						if err != nil {
							t.Errorf("FAULT=%s: %v\n%s", r.Fault, err, r.Stderr)
						}
					}
					if wrong && level == "full" {
						t.Errorf("FAULT=%s: exit code 0 and another result", r.Fault)
					}
				})
				for kind, e := range found {
					t.Logf("%-7s %3d found, %3d crashed, %3d wrong with exit code 0, %3d without effect", kind,
						e.found, e.crashed, e.wrong, e.none)
				}
			})
		}
	}
}

// TestSavedWhenLost loses the device in the middle of a training: what it had learned is there,
// the message says how to go on, and the processor goes on to the weights of a run that nothing
// stopped.
func TestSavedWhenLost(t *testing.T) {
	job := faultyCommands(t)[1]
	part := filepath.Join(filepath.Dir(job.Out), "part.npz")
	whole := filepath.Join(t.TempDir(), "whole.npz")
	for k, arg := range job.Args {
		switch arg {
		case job.Out:
			job.Args[k] = whole
		case "4": // steps
			job.Args[k] = "20"
		}
	}
	succeed(t, job.Args...)
	job.Args, job.Out = with(job.Args, "--checkpoint", part, "--every", "1"), part
	// before, in and after its steps
	job.Faults = []string{"lose:93%", "lose:94%", "lose:95%", "lose:96%", "lose:97%"}
	saved := 0
	runFaults(t, faultyLibrary(t), job, func(r faultRun) {
		if !strings.Contains(r.Stderr,
			"have learned is in "+part+"; train --resume "+part+" with the same data goes on") {
			return
		}
		if saved++; r.Code != app.ExitFailure {
			t.Errorf("exit code %d, wanted %d\n%s", r.Code, app.ExitFailure, r.Stderr)
		}
		// The process that fails goes on with its next fault, and part is its own.
		dir := t.TempDir()
		lost, m := filepath.Join(dir, "part.npz"), filepath.Join(dir, "m.npz")
		if err := os.WriteFile(lost, r.Out, 0o666); err != nil {
			t.Fatal(err)
		}
		succeed(t, "train", "--resume", lost, "--model", m, "--device", "cpu", "--data", job.Args[2])
		if !slices.Equal(load(t, whole).W, load(t, m).W) {
			t.Errorf("%s: went on to other weights", r.Fault)
		}
	})
	if saved == 0 {
		t.Error("no training had learned anything when it was lost")
	}
}
