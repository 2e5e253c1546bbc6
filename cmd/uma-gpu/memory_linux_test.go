//go:build !race

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
)

// TestTrainMemory: training takes at most twice the memory of the features, besides the pages of
// the mapped file, which the system takes back when it needs them; and --dry-run says so.
func TestTrainMemory(t *testing.T) {
	dir := t.TempDir()
	raw, prepared := filepath.Join(dir, "raw.npz"), filepath.Join(dir, "prepared.npz")
	succeed(t, "synth", "--examples", "60000", "--features", "200", "--out", raw)
	succeed(t, "convert", "--data", raw, "--normalize", "auto", "--out", prepared)
	// What the program has besides, and a MiB or more for each processor.
	const features, program, processors = 4 * 60000 * 200, 40 << 20, "GOMAXPROCS=2; export GOMAXPROCS;"
	const mapped = features
	for _, learner := range []string{"uma", "softmax", "uma --validate 0.2"} {
		for _, data := range []string{raw, prepared} {
			args := append([]string{"train", "--data", data, "--device", "cpu", "--learner"},
				strings.Fields(learner)...)
			said, _ := ran(t, processors, append(args, "--dry-run", "--json")...)
			m := decode[train.Plan](t, said).Memory
			_, most := ran(t, processors, append(args, "--max-steps", "10", "--model", filepath.Join(dir,
				"m.npz"))...)
			name := learner + " of " + filepath.Base(data)
			t.Logf("%s: %d MB for %d MB of features, said %d and %d", name, most>>20, features>>20,
				m.Taken>>20, m.More>>20)
			if most > 2*features+mapped+program {
				t.Errorf("%s: took %d bytes, want at most twice the %d of features and as much mapped", name,
					most, features)
			}
			if told := m.Taken + m.More; float64(told) < 0.9*float64(most) ||
				float64(told) > 1.25*float64(most)+train.Garbage {
				t.Errorf("%s: it took %d bytes, and --dry-run said %d", name, most, told)
			}
		}
	}
}

// ran runs a command line in a process of its own, and returns what it printed, and the most
// memory that it had.
func ran(t *testing.T, prefix string, args ...string) (stdout string, most int64) {
	t.Helper()
	c := processOf(t, prefix, args...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			return out.String(), most
		case <-time.After(2 * time.Millisecond):
			most = max(most, peak(c.Process.Pid, args))
		}
	}
}

// peak returns the most bytes that a process with these arguments has had. What getrusage tells in
// the end counts the memory of these tests, too: the process was their copy for a moment.
func peak(pid int, args []string) (bytes int64) {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if !strings.HasSuffix(string(line), strings.Join(args, "\x00")+"\x00") {
		return 0
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
		fmt.Sscan(rest, &bytes)
	}
	return bytes << 10
}
