package train_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr := clitest.Succeed(t, "train", "--learner", "uma", "--data", clitest.Digits,
		"--dry-run", "--json")
	r := clitest.Decode[train.Plan](t, stdout)
	if r.Device.ID != "cpu" || r.Examples != 1797 || r.Features != 65 || r.Classes != 10 ||
		r.Storage != "dense" ||
		r.Plan.Examples != 4*65*1797 || r.Plan.ClassSums != 8*100*65 || !r.Plan.InPlace ||
		r.Plan.Limit != 0 {
		t.Errorf("found %+v", r)
	}
	if m := r.Memory; m.Taken < 1<<20 ||
		m.More < r.Plan.Examples/2+r.Plan.Scores+r.Plan.ClassSums+r.Plan.Scratch {
		t.Errorf("memory: found %+v", m)
	}
	if !facts.Told(stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
	stdout, _ = clitest.Succeed(t, "train", "--data", clitest.Digits, "--dry-run", "--json",
		"--learner", "softmax")
	if r := clitest.Decode[train.Plan](t, stdout); r.Plan.ClassSums != 0 || r.Plan.Scratch < 4*10*65 {
		t.Errorf("softmax, which has no class sums: found %+v", r.Plan)
	}
	model := filepath.Join(dir, "m.npz")
	stdout, _ = clitest.Succeed(t, "train", "--data", clitest.Digits, "--dry-run", "--model", model,
		"--storage",
		"sparse")
	for _, want := range []string{"device      cpu ",
		"1797 examples × 64 features, 10 classes, sparse\n", "\nscores      70.6 KiB\n",
		"in all ", "\nmemory      about ", "no limit", "tiles       1, with 0 aside\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if left := clitest.Names(t, dir); left != nil {
		t.Errorf("a dry run wrote %q", left)
	}
	// What would end training ends the dry run.
	clitest.Fail(t, app.ExitFailure, "such file", "train", "--data", clitest.Digits, "--dry-run",
		"--confusion",
		filepath.Join(dir, "C.csv"))
	clitest.Fail(t, app.ExitUsage, "--data missing", "train", "--dry-run")
	code, stdout, stderr := clitest.Interrupt(t, "device:", "train", "--data", clitest.Digits,
		"--dry-run")
	if code != app.ExitInterrupted || stdout != "" || !facts.Told(stderr, "nothing written") {
		t.Errorf("interrupted: exit code %d, stdout %s, stderr %s", code, stdout, stderr)
	}
}

func TestAdviseMemory(t *testing.T) {
	err := app.AdviseMemory(fmt.Errorf("plan: %w: 9 bytes", engine.ErrMemory))
	if !errors.Is(err, engine.ErrMemory) || app.ExitCode(err) != app.ExitMemory ||
		!strings.HasSuffix(err.Error(),
			"9 bytes; allow more with --memory-limit and --max-alloc if you gave them, choose another "+
				"--device, or train with fewer examples or classes") {
		t.Errorf("found %v", err)
	}
	if other := errors.New("other"); app.AdviseMemory(other) != other || app.AdviseMemory(nil) != nil {
		t.Error("another error is changed")
	}
}
