//go:build unix

package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

var kills = flag.Int("kills", 2, "how often TestKills kills a training, on each device")

// TestKills kills trainings at random instants and goes on from their checkpoints, until
// they end: with the bytes of a training that nothing stopped.
func TestKills(t *testing.T) {
	r := newRandom(t)
	dir := keptFolder(t)
	all := corpora(t, dir)
	wanted := shortly(*kills)
	for _, device := range devicesHere(t) {
		killed, ended, left, resumed := 0, 0, 0, 0
		for killed < wanted && !t.Failed() {
			c := newRecipe(t, r, pick(r, all...))
			at, err := os.MkdirTemp(dir, "run")
			if err != nil {
				t.Fatal(err)
			}
			want, m, k := filepath.Join(at, "want.npz"), filepath.Join(at, "m.npz"), filepath.Join(at,
				"k.npz")
			// Steps enough for the learning to be what is killed most often.
			args := with(c.train(m), "--max-steps", "200", "--device", device, "--checkpoint", k, "--every",
				"1")
			start := time.Now()
			if out, err := processOf(t, "", with(args, "--model", want)...).CombinedOutput(); err != nil {
				t.Fatalf("uma-gpu %s: %v\n%s", strings.Join(args, " "), err, out)
			}
			took := time.Since(start)
			if load(t, want).Meta.Steps < 60 {
				continue // only its beginning would be killed
			}
			if err := os.Remove(k); err != nil {
				t.Fatal(err)
			}
			const most = 8 // kills of one training
			for done, last := false, killed+most; !done; {
				line := args
				if _, err := os.Stat(k); err == nil {
					line, resumed = clitest.Resumed(args, k), resumed+1
				}
				wait := time.Duration(r.Float64() * float64(took))
				if killed >= min(wanted, last) {
					wait = time.Hour
				}
				var said bytes.Buffer
				p := processOf(t, "", line...)
				p.Stderr = &said
				done = !kill(t, p, wait)
				if done && !p.ProcessState.Success() {
					t.Fatalf("uma-gpu %s: %s", strings.Join(line, " "), said.String())
				}
				if !done {
					killed++
				}
			}
			ended++
			if !bytes.Equal(read(t, m), read(t, want)) {
				t.Errorf("killed and gone on, uma-gpu %s makes a model whose %s differs from %s",
					strings.Join(args, " "), differ(t, m, want), want)
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
		t.Logf("%s: %d trainings killed %d times went on from %d checkpoints to their end; %d temporary "+
			"files were left", device, ended, killed, resumed, left)
		if left > 0 {
			t.Errorf("%d temporary files left by %d kills", left, killed)
		}
	}
}

// kill runs p and kills it after a time, unless it has ended; it says whether it did.
func kill(t *testing.T, p *exec.Cmd, wait time.Duration) bool {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(wait, func() { p.Process.Kill() }) // if it fails, p has ended
	defer timer.Stop()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	status, ok := p.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
