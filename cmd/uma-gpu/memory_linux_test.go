//go:build !race

package main

import (
	"bytes"
	"path/filepath"
	"syscall"
	"testing"
)

// TestTrainMemory: training takes twice the memory of the features at most, however a binary file has them, and
// --dry-run has said so.
func TestTrainMemory(t *testing.T) {
	dir := t.TempDir()
	raw, prepared := filepath.Join(dir, "raw.umab"), filepath.Join(dir, "prepared.umab")
	succeed(t, "synth", "--examples", "60000", "--features", "200", "--out", raw)
	succeed(t, "convert", "--data", raw, "--normalize", "auto", "--out", prepared)
	// What the program has besides, and a MiB or more for each processor.
	const features, program, processors = 4 * 60000 * 200, 40 << 20, "GOMAXPROCS=2; export GOMAXPROCS;"
	for _, learner := range []string{"uma", "softmax"} {
		for _, data := range []string{raw, prepared} {
			args := []string{"train", "--data", data, "--learner", learner, "--device", "cpu"}
			said, _ := ran(t, processors, append(args, "--dry-run", "--json")...)
			m := decode[planReport](t, said).Memory
			_, most := ran(t, processors, append(args, "--max-steps", "10", "--model", filepath.Join(dir, "m.npz"))...)
			name := learner + " of " + filepath.Base(data)
			t.Logf("%s: %d MB for %d MB of features, said %d and %d", name, most>>20, features>>20, m.Taken>>20, m.More>>20)
			if most > 2*features+program {
				t.Errorf("%s: it took %d bytes for %d of features, wanted twice as much at most", name, most, features)
			}
			if told := m.Taken + m.More; float64(told) < 0.9*float64(most) || float64(told) > 1.25*float64(most)+garbage {
				t.Errorf("%s: it took %d bytes, and --dry-run said %d", name, most, told)
			}
		}
	}
}

// ran runs a command line in a process of its own, and returns what it printed, and the most memory that it had.
func ran(t *testing.T, prefix string, args ...string) (stdout string, most int64) {
	t.Helper()
	c := program(t, prefix, args...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatalf("found %T, wanted what the process used", c.ProcessState.SysUsage())
	}
	return out.String(), usage.Maxrss << 10
}
