//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// processOf returns the command that runs a command line in a process of its own:
// this test binary, which TestMain then turns into uma-gpu. prefix is shell text
// in front of it, "" for none.
func processOf(t *testing.T, prefix string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh",
		append([]string{"-c", prefix + ` exec "$0" "$@"`, self}, clitest.Varied(args)...)...)
	c.Env = append(os.Environ(), runVariable+"=1")
	return c
}

// exitOf returns the exit code of a process that ended.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

// A limit on file sizes stops the kernel in the middle of a write, as a full disk
// does, and needs no rights.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	m, data := filepath.Join(dir, "m.npz"), filepath.Join(dir, "m.csv")
	for _, args := range [][]string{
		{"train", "--model", m, "--data", digits, "--max-steps", "3"},
		{"confusion", "inject", "--out", data, "--data", digits, "--pairwise", "0.2"},
		{"convert", "--out", data, "--data", digits},
		{"split", "--out", data, "--data", digits, "--fractions", "0.9"},
		{"synth", "--out", data, "--examples", "1000"},
	} {
		target := m
		if args[0] != "train" {
			target = data
		}
		var stderr bytes.Buffer
		c := processOf(t, "ulimit -f 1;", args...)
		c.Stderr = &stderr
		code := exitOf(t, c.Run())
		if code != app.ExitFailure || !facts.Told(stderr.String(), target+" written changed large") {
			t.Errorf("%s: exit code %d\n%s", args[0], code, stderr.String())
		}
		if left := names(t, dir); left != nil {
			t.Errorf("%s left %q", args[0], left)
		}
	}
}

// Ctrl-C, kill and a terminal that closes let the step end, and the model is written.
func TestSignal(t *testing.T) {
	// No linear classifier fits labels that contradict each other, so the perceptron never converges.
	data := write(t, t.TempDir(), "torn.csv", strings.Repeat("1,2,a\n1,2,b\n2,1,a\n2,1,b\n", 50))
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		m := filepath.Join(dir, "m.npz")
		c := processOf(t, "", "train", "--learner", "uma", "--data", data, "--model", m, "--step",
			"pair",
			"--doubt", "0", "--max-steps", "1000000000", "--verbose")
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "step 3:") {
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		last := ""
		for lines.Scan() {
			last = lines.Text()
		}
		if code := exitOf(t, c.Wait()); code != app.ExitInterrupted || !strings.HasPrefix(last,
			"uma-gpu: interrupted after ") {
			t.Errorf("%v: exit code %d, last line %q", signal, code, last)
		}
		if meta := load(t, m).Meta; meta.Stop != "interrupted" || meta.Steps < 3 {
			t.Errorf("%v: stop %s after %d steps", signal, meta.Stop, meta.Steps)
		}
		if left := names(t, dir); !slices.Equal(left, []string{"m.npz"}) {
			t.Errorf("%v: found %q", signal, left)
		}
	}
}

// SIGTERM ends what reads a file, and what has read it and works for long, within seconds, with a
// message and without a file.
func TestTerminated(t *testing.T) {
	const most = 5 * time.Second
	home := t.TempDir()
	right, data, m := filepath.Join(home, "r.csv"), filepath.Join(home, "d.csv"), filepath.Join(home,
		"m.npz")
	succeed(t, "synth", "--examples", "30000", "--features", "20", "--classes", "5", "--out", right)
	succeed(t, "train", "--data", right, "--max-steps", "3", "--model", m)
	succeed(t, "confusion", "inject", "--data", right, "--pairwise", "0.3", "--out", data)
	half := read(t, data)[:1<<20]
	for _, c := range []struct {
		line  string
		works bool // for seconds, once it has read
	}{
		{"train --kernel rbf --gamma search --model OUT/m.npz", true},
		{"train --learner trees --rounds 1000 --model OUT/m.npz", true},
		{"train --learner softmax --correction em --model OUT/m.npz", true},
		{"cv --folds 20 --try --l2=search", true},
		{"issues --out OUT/i.csv", true},
		{"clean --dir OUT", true},
		{"confusion estimate --out OUT/C.csv", true},
		{"query --out OUT/q.csv", false},
		{"report --model M --out OUT/r.html", false},
		{"calibrate --model M --out OUT/c.npz", false},
		{"eval --model M", false},
		{"predict --model M --out OUT/p.csv", false},
		{"convert --out OUT/c.npz", false},
		{"split --fractions 0.5,0.5 --out OUT/a.csv --out OUT/b.csv", false},
		{"confusion inject --pairwise 0.2 --out OUT/a.csv", false},
		{"info", false},
	} {
		for _, reading := range []bool{true, false} {
			if !reading && !c.works {
				continue
			}
			dir := t.TempDir()
			from := map[bool]string{true: "-", false: data}[reading]
			p := processOf(t, "", append(strings.Fields(strings.NewReplacer("OUT", dir, "M", m).Replace(
				c.line)), "--data", from)...)
			stdin, err := p.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, err := p.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			lines, last := bufio.NewScanner(stderr), ""
			if reading {
				if _, err := stdin.Write(half); err != nil { // more than fits into a pipe
					t.Error(err)
				}
			} else {
				lines.Scan() // what it has read
			}
			start := time.Now()
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			for lines.Scan() {
				last = lines.Text()
			}
			code := exitOf(t, p.Wait())
			if strings.Contains(last, "m.npz holds the weights") { // the model, as far as it was learned
				os.Remove(filepath.Join(dir, "m.npz"))
			}
			if took := time.Since(start); code != app.ExitInterrupted || took > most ||
				!strings.HasPrefix(last, "uma-gpu: interrupted") || names(t, dir) != nil {
				t.Errorf("%s, reading: %v: exit code %d after %v, found %q, last line %q", c.line, reading,
					code, took, names(t, dir), last)
			}
		}
	}
}

// What was ignored when the program started stays so: nohup's SIGHUP, and the SIGINT
// of a script's command in the background.
func TestIgnoredSignals(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.npz")
	c := processOf(t, "trap '' HUP INT;", "train", "--learner", "uma", "--data", digits, "--model", m,
		"--step", "pair", "--max-steps", "300", "--verbose")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "step 3:") {
			continue
		}
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
			if err := c.Process.Signal(signal); err != nil {
				t.Error(err)
			}
		}
	}
	if code := exitOf(t, c.Wait()); code != app.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if meta := load(t, m).Meta; meta.Stop == "interrupted" || meta.Steps != 300 {
		t.Errorf("stop %s after %d steps", meta.Stop, meta.Steps)
	}
}

// A reader that went away is a failure, not the end of the process: the model is
// written.
func TestClosedPipe(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.npz")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var stderr bytes.Buffer
	c := processOf(t, "", "train", "--data", digits, "--model", m, "--max-steps", "3")
	c.Stdout, c.Stderr = w, &stderr
	if code := exitOf(t, c.Run()); code != app.ExitFailure ||
		!facts.Told(stderr.String(), "uma-gpu write standard output") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	load(t, m)
	// The same on stderr ends nothing: the notes are lost, the work is done.
	if err := os.Remove(m); err != nil {
		t.Fatal(err)
	}
	c = processOf(t, "", "train", "--data", digits, "--model", m, "--max-steps", "3", "--verbose")
	c.Stdout, c.Stderr = io.Discard, w
	if code := exitOf(t, c.Run()); code != app.ExitOK {
		t.Errorf("closed stderr: exit code %d", code)
	}
	load(t, m)
}

// TestRunSaysWhatItBuilds: make run tells first why nothing is to be seen for a minute.
func TestRunSaysWhatItBuilds(t *testing.T) {
	run := exec.CommandContext(t.Context(), "make", "-n", "-C", "../..", "run")
	all, err := run.CombinedOutput()
	said := string(all)
	at := []int{strings.Index(said, "a minute or two"), strings.Index(said, "go build"),
		strings.Index(said, "demo.sh")}
	if err != nil || at[0] < 0 || !slices.IsSorted(at) {
		t.Errorf("%v: at %v in\n%s", err, at, said)
	}
}

// TestDemo: make run shows each command before what it says, on whatever stream.
func TestDemo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	demo := exec.CommandContext(t.Context(), "sh", "../../testdata/demo.sh", self, "cpu")
	demo.Env = append(os.Environ(), runVariable+"=1")
	all, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	text := string(all)
	for _, command := range []string{
		"$ uma-gpu confusion inject --data train.csv ", "data: train.csv, 1200 examples",
		"$ uma-gpu train --data noisy.csv --confusion ", "data: noisy.csv, ", "condition number 5\n",
		"model           m.npz\n", "learner         softmax\n",
		"$ uma-gpu train --data noisy.csv --confusion ", "model           uma.npz\n",
		"$ uma-gpu train --data noisy.csv --device ", "data: noisy.csv, ", "so the identity",
		"model           identity.npz\n",
		"clean test error of logistic regression that knows C:     0.0871\n",
		"of UMA, which knows C too:                                0.1323\n",
		"of logistic regression with C = identity:                 0.5008\n",
	} {
		_, after, found := strings.Cut(text, command)
		if !found {
			t.Fatalf("%q is missing or out of order in\n%s", command, all)
		}
		text = after
	}
}

// A checkpoint that cannot be written ends the run, and leaves the last one that could;
// the training goes on from it when there is room again.
func TestCheckpointOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	train := resumable(t, dir)
	k, m, want := filepath.Join(dir, "k.npz"), filepath.Join(dir, "m.npz"), filepath.Join(dir,
		"want.npz")
	succeed(t, append(train, "--model", want, "--checkpoint", k, "--every", "13")...)
	kept, before := read(t, k), names(t, dir)
	to := append(train, "--model", m, "--checkpoint", k)
	for _, args := range [][]string{to, clitest.Resumed(append(to, "--every", "2"), k)} {
		var stderr bytes.Buffer
		c := processOf(t, "ulimit -f 1;", args...)
		c.Stderr = &stderr
		code := exitOf(t, c.Run())
		if code != app.ExitFailure || !facts.Told(stderr.String(), k+" written changed large limit") {
			t.Errorf("%v: exit code %d\n%s", args, code, stderr.String())
		}
		if left := names(t, dir); !bytes.Equal(read(t, k), kept) || !slices.Equal(left, before) {
			t.Errorf("%v: another checkpoint, or found %q, want %q", args, left, before)
		}
	}
	succeed(t, clitest.Resumed(append(train, "--model", m), k)...)
	if !bytes.Equal(read(t, m), read(t, want)) {
		t.Errorf("%s differs", differ(t, m, want))
	}
}

// The file that the shell opened for standard input is an input like any other.
func TestStandardInputIsProtected(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", "1,2,a\n3,4,b\n")
	in, err := os.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr strings.Builder
	c := processOf(t, "", "convert", "--data", "-", "--out", data)
	c.Stdin, c.Stderr = in, &stderr
	code := exitOf(t, c.Run())
	if code != app.ExitUsage || !facts.Told(stderr.String(), "--out --data") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

// resumable returns the arguments of a training of a few steps on noisy clitest.Digits, which
// no learner of the tests ends sooner.
func resumable(t *testing.T, dir string) []string {
	t.Helper()
	few := filepath.Join(dir, "few.csv")
	succeed(t, "split", "--data", clitest.Digits, "--counts", "300", "--out", few)
	data, c := noisy(t, dir, few)
	return []string{"train", "--data", data, "--confusion", c, "--learner", "uma", "--max-steps", "24"}
}
