//go:build mpi && cgo

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine/shard/mpi"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// TestRanksKills kills random ranks of trainings at random moments, and goes on from their
// checkpoints on other numbers of ranks: all end within ten seconds, with the number of the rank
// and no model, or the whole of it, and in the end with the bytes of one process.
func TestRanksKills(t *testing.T) {
	r := newRandom(t)
	dir := keptFolder(t)
	data := filepath.Join(dir, "d.csv")
	succeed(t, "synth", "--examples", "3000", "--features", "20", "--classes", "5", "--out", data)
	killed, ended, resumed, left, longest := 0, 0, 0, 0, time.Duration(0)
	for killed < *kills && !t.Failed() {
		at, err := os.MkdirTemp(dir, "run")
		if err != nil {
			t.Fatal(err)
		}
		want, m, k := filepath.Join(at, "want.npz"), filepath.Join(at, "m.npz"), filepath.Join(at,
			"k.npz")
		args := append([]string{"train", "--data", data, "--checkpoint", k, "--every", "1"}, pick(r,
			[]string{"--learner", "uma", "--tol", "0", "--max-steps", "400"},
			[]string{"--learner", "uma", "--tol", "0", "--max-steps", "400", "--storage", "sparse"},
			[]string{"--learner", "softmax", "--iterations", "300", "--l2", "0.000001"})...)
		succeed(t, with(args, "--model", want)...)
		os.Remove(k)
		args = with(args, "--model", m)
		const most = 8 // kills of one training
		for begun := killed; ; {
			line := args
			if _, err := os.Stat(k); err == nil {
				line, resumed = clitest.Resumed(args, k), resumed+1
			}
			rank, ranks, wait := 0, 1+r.IntN(4), time.Hour
			if killed < min(*kills, begun+most) {
				ranks = max(ranks, 2)
				rank, wait = r.IntN(ranks), time.Duration(r.Float64()*float64(time.Second))
			}
			out, took, dead, pid := killRank(t, mpirun(t, ranks, line...), at, rank, wait)
			if took < 0 { // nothing was killed
				break
			}
			killed, longest = killed+1, max(longest, took)
			if took > 10*time.Second || !blames(out, rank, pid) || dead == 0 {
				t.Errorf("killed rank %d of %d: exit code %d after %v:\n%s", rank, ranks, dead, took, out)
			}
			if _, err := os.Stat(m); err == nil {
				break // the end had come
			}
		}
		ended++
		if !bytes.Equal(read(t, m), read(t, want)) {
			t.Errorf("killed and gone on, uma-gpu %s makes another %s", strings.Join(args, " "), differ(t, m,
				want))
		}
		for _, name := range names(t, at) {
			switch {
			case strings.HasSuffix(name, ".tmp"):
				left++
			case name != "k.npz" && name != "m.npz" && name != "want.npz":
				t.Errorf("found %s in %s", name, at)
			}
		}
	}
	t.Logf("%d trainings, %d ranks killed, gone on %d times; the last process ended %v after the "+
		"kill at most; %d temporary files were "+
		"left", ended, killed, resumed, longest.Round(time.Millisecond), left)
	if left > 0 {
		t.Errorf("%d temporary files left by %d kills", left, killed)
	}
}

// killRank runs c, and kills a rank some time after it has begun, unless all end before. It
// returns what was said, how long c ran on after the kill, negative if there was none, the exit
// code and the process that was killed.
func killRank(t *testing.T, c *exec.Cmd, mark string, rank int, wait time.Duration) (
	said string, took time.Duration, code, pid int) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	marker := fmt.Sprintf("UMA_GPU_TEST_MARK=%s-%d", mark, rand.Int())
	c.Env = append(c.Env, marker)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done, at := make(chan time.Time, 1), make(chan time.Time)
	if wait < time.Hour {
		pid = rankProcess(t, marker, rank)
		go func() {
			select {
			case <-at:
			case <-time.After(wait):
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					done <- time.Now()
				}
			}
		}()
	}
	code = exitOf(t, c.Wait())
	ended := time.Now()
	close(at)
	select {
	case killed := <-done:
		if code != 0 {
			return out.String(), ended.Sub(killed), code, pid
		}
	default:
	}
	if code != 0 {
		t.Fatalf("%v: exit code %d:\n%s", c.Args, code, out.String())
	}
	return out.String(), -1, 0, 0
}

// TestRanksUrgent: signals by which Go interrupts its goroutines, and that mpirun may forward,
// change nothing.
func TestRanksUrgent(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d.csv")
	succeed(t, "synth", "--examples", "2000", "--features", "20", "--classes", "5", "--out", data)
	args := []string{"train", "--data", data, "--learner", "uma", "--tol", "0", "--max-steps", "300"}
	one, many := filepath.Join(dir, "one.npz"), filepath.Join(dir, "many.npz")
	succeed(t, with(args, "--model", one)...)
	c := mpirun(t, 2, with(args, "--model", many)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	marker := "UMA_GPU_TEST_MARK=" + dir
	c.Env = append(c.Env, marker)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{c.Process.Pid, rankProcess(t, marker, 0), rankProcess(t, marker, 1)}
	stop, sent := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				sent <- n
				return
			case <-time.After(time.Millisecond):
				for _, pid := range pids {
					syscall.Kill(pid, syscall.SIGURG)
				}
			}
		}
	}()
	err := c.Wait()
	close(stop)
	n := <-sent
	if err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	if what := differ(t, one, many); what != "" {
		t.Errorf("another %s", what)
	}
	t.Logf("%d signals to each", n)
}

// TestRankOfAnotherProgram: a rank that runs another program is named at the start.
func TestRankOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other, model := filepath.Join(dir, "other"), filepath.Join(dir, "m.npz")
	if err := os.WriteFile(other, append(read(t, self), 0), 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "--data", synthetic(t, dir), "--model", model}
	out, err := mpirun(t, 1, append(append(args, ":", "-n", "1", other), args...)...).CombinedOutput()
	if exitOf(t, err) == 0 || !strings.Contains(string(out),
		"rank 1 has another program than rank 0") {
		t.Errorf("%v:\n%s", err, out)
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("wrote a model")
	}
}

// TestRankStopped: a rank that is stopped, when ranks begin or while they train, is the one that
// does not say that it waits; when it goes on all end well. One that does not go on is named, ends
// all, and leaves a checkpoint.
func TestRankStopped(t *testing.T) {
	data := synthetic(t, t.TempDir())
	for _, c := range []struct{ training, forever bool }{{false, false}, {true, false}, {true, true}} {
		dir := t.TempDir()
		model, checkpoint := filepath.Join(dir, "m.npz"), filepath.Join(dir, "c.npz")
		run := mpirun(t, 3, "train", "--data", data, "--model", model, "--learner", "uma", "--tol", "0",
			"--max-steps", "3000", "--checkpoint", checkpoint)
		marker := "UMA_GPU_TEST_MARK=" + dir
		run.Env = append(run.Env, marker, patienceVariable+"=500ms")
		var out transcript
		run.Stdout, run.Stderr = &out, &out
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		pid := rankProcess(t, marker, 1)
		for _, err := os.Stat(checkpoint); c.training && err != nil; time.Sleep(5 * time.Millisecond) {
			_, err = os.Stat(checkpoint)
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if c.forever {
			err := run.Wait()
			_, missing := os.Stat(model)
			load(t, checkpoint)
			if err == nil || missing == nil ||
				!strings.Contains(out.String(), "rank 1 of 3 has stopped") {
				t.Errorf("got %v and %v, wanted rank 1 named and no model:\n%s", err, missing, out.String())
			}
			continue
		}
		out.waitFor(t, "rank 0 has waited", "rank 2 has waited")
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err := run.Wait(); err != nil {
			t.Fatalf("%v:\n%s", err, out.String())
		}
		if strings.Contains(out.String(), "rank 1 has waited") {
			t.Errorf("%+v: rank 1 was stopped, and this was said:\n%s", c, out.String())
		}
	}
}

// patienceVariable is how long ranks that tests start wait for another before they say so.
const patienceVariable = "UMA_GPU_TEST_PATIENCE"

func init() {
	if p, err := time.ParseDuration(os.Getenv(patienceVariable)); err == nil {
		mpi.Patience = p
	}
}
