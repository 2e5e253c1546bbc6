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
)

// TestTrainMemory: training takes at most twice the memory of the features, besides the pages of
// mapped files, of the data and the program, which the system takes back when it needs them.
func TestTrainMemory(t *testing.T) {
	dir := t.TempDir()
	raw, prepared := filepath.Join(dir, "raw.npz"), filepath.Join(dir, "prepared.npz")
	succeed(t, "synth", "--examples", "40000", "--features", "200", "--out", raw)
	succeed(t, "convert", "--data", raw, "--normalize", "auto", "--out", prepared)
	// What the program has besides, and a MiB or more for each processor.
	const features, program, processors = 4 * 40000 * 200, 20 << 20, "GOMAXPROCS=2; export GOMAXPROCS;"
	for _, learner := range []string{"uma", "softmax", "uma --hold-out 0.2"} {
		for _, data := range []string{raw, prepared} {
			args := append([]string{"train", "--data", data, "--device", "cpu", "--learner"},
				strings.Fields(learner)...)
			most := ran(t, processors, append(args, "--max-steps", "10", "--model", filepath.Join(dir,
				"m.npz"))...)
			name := learner + " of " + filepath.Base(data)
			t.Logf("%s: %d MB for %d MB of features", name, most>>20, features>>20)
			if most > 2*features+program {
				t.Errorf("%s: took %d bytes, want at most twice the %d of features", name, most, features)
			}
		}
	}
}

// ran runs a command line in a process of its own, and returns the most memory that it had.
func ran(t *testing.T, prefix string, args ...string) (most int64) {
	t.Helper()
	c := processOf(t, prefix, args...)
	var said bytes.Buffer
	c.Stderr = &said
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
			return most
		case <-time.After(2 * time.Millisecond):
			most = max(most, taken(c.Process.Pid, args))
		}
	}
}

// taken returns the bytes that a process with these arguments has now, besides pages of files. What
// getrusage tells in the end counts the memory of these tests, too: the process was their copy for
// a moment.
func taken(pid int, args []string) (bytes int64) {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if !strings.HasSuffix(string(line), strings.Join(args, "\x00")+"\x00") {
		return 0
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, found := strings.Cut(string(status), "RssAnon:"); found {
		fmt.Sscan(rest, &bytes)
	}
	return bytes << 10
}
