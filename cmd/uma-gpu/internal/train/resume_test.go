package train_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// resumable returns the arguments of a training of a few steps on noisy clitest.Digits, which
// no learner of the tests ends sooner.
func resumable(t *testing.T, dir string) []string {
	t.Helper()
	few := filepath.Join(dir, "few.csv")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", "300", "--out", few)
	data, c := clitest.Noisy(t, dir, few)
	return []string{"train", "--data", data, "--confusion", c, "--learner", "uma", "--max-steps", "24"}
}

// TestResumeEqualsStraight: a checkpoint predicts, and a training that goes on from it, on
// whatever device, writes the model of the training that nothing stopped.
func TestResumeEqualsStraight(t *testing.T) {
	dir := t.TempDir()
	train := resumable(t, dir)
	sparse := filepath.Join(dir, "sparse.svm")
	clitest.Succeed(t, "convert", "--data", train[2], "--out", sparse)
	for name, more := range map[string][]string{
		"best average": nil,
		"best, region": {"--weights", "best", "--step", "region", "--doubt", "0"},
		"average":      {"--weights", "average"},
		"last, random": {"--weights", "last", "--step", "pair", "--select", "random", "--seed", "5"},
		"average, random": {"--weights", "average", "--step", "pair", "--select", "random", "--alpha",
			"0.0001"},
		"sparse, confusion": {"--data", sparse, "--storage", "sparse", "--select", "confusion"},
		"rbf":               {"--kernel", "rbf", "--components", "20"},
		"rbf, sought": {"--kernel", "rbf", "--components", "20", "--gamma", "search", "--weights",
			"average"},
		"poly, landmarks": {"--kernel", "poly", "--components", "9", "--landmarks", "40",
			"--select", "random"},
		"linear kernel, sparse": {"--data", sparse, "--kernel", "linear", "--components", "2",
			"--storage", "sparse"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			straight := path("straight")
			devices := []string{"cpu"}
			if name == "average, random" || name == "rbf, sought" { // the others go through the same code
				devices = devicesHere(t)
			}
			clitest.Succeed(t, with(train, with(more, "--model", straight)...)...)
			for _, device := range devices {
				kept := path("kept" + device)
				// The last checkpoint is of step 13.
				clitest.Succeed(t, with(train, with(more, "--device", device, "--model", path("m"),
					"--checkpoint", kept, "--every", "13")...)...)
				if what := clitest.Differ(t, path("m"), straight); what != "" {
					t.Errorf("%s: writing checkpoints changes the model: %s", device, what)
				}
				if meta := clitest.Load(t, kept).Meta; meta.Stop != "checkpoint" || meta.Steps != 13 {
					t.Errorf("%s: the checkpoint says %s after %d steps", device, meta.Stop, meta.Steps)
				}
				clitest.Succeed(t, "predict", "--model", kept, "--data", train[2])
				clitest.Succeed(t, "eval", "--model", kept, "--data", train[2])
			}
			clitest.Succeed(t, clitest.Resumed(with(train, with(more, "--model", path("m"))...),
				path("keptcpu"))...)
			if !bytes.Equal(clitest.Read(t, path("m")), clitest.Read(t, straight)) {
				t.Errorf("the training that goes on differs in %s", clitest.Differ(t, path("m"), straight))
			}
			for _, from := range devices {
				for _, to := range devices {
					// With what it takes to read the data, and no more; onto itself.
					m := path("here")
					if err := os.WriteFile(m, clitest.Read(t, path("kept"+from)), 0o666); err != nil {
						t.Fatal(err)
					}
					data := train[2]
					if len(more) > 1 && more[0] == "--data" {
						data = sparse
					}
					clitest.Succeed(t, "train", "--data", data, "--device", to, "--resume", m, "--model", m)
					if kind := clitest.Load(t, m).Meta.Device.Kind; !strings.HasPrefix(to, kind) {
						t.Errorf("the model says that it is of %s, want %s", kind, to)
					}
					if what := clitest.Differ(t, m, straight); what != "" {
						t.Errorf("from %s to %s: %s differs", from, to, what)
					}
				}
			}
		})
	}
}

// TestResumeInterrupted: the model of Ctrl-C goes on like a checkpoint.
func TestResumeInterrupted(t *testing.T) {
	dir := t.TempDir()
	train := resumable(t, dir)
	m, k, want := filepath.Join(dir, "m.npz"), filepath.Join(dir, "k.npz"), filepath.Join(dir,
		"want.npz")
	for _, more := range [][]string{
		nil, {"--weights", "average"}, {"--weights", "last", "--select", "random"},
		{"--kernel", "rbf", "--components", "12"},
	} {
		args := with(train, more...)
		for _, line := range []string{"step 1:", "step 5:", "step 23:"} {
			code, _, stderr := clitest.Interrupt(t, line, with(args, "--verbose", "--model", m)...)
			if code != app.ExitInterrupted || !facts.Told(stderr, "--resume "+m) {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			clitest.Succeed(t, "eval", "--model", m, "--data", train[2])
			if line == "step 1:" { // and once more
				code, _, _ = clitest.Interrupt(t, "step 3:", clitest.Resumed(with(args, "--verbose",
					"--model", m, "--checkpoint", k), m)...)
				if code != app.ExitInterrupted {
					t.Fatalf("exit code %d", code)
				}
			}
			clitest.Succeed(t, clitest.Resumed(with(args, "--model", m), m)...)
			clitest.Succeed(t, with(args, "--model", want)...)
			if !bytes.Equal(clitest.Read(t, m), clitest.Read(t, want)) {
				t.Errorf("%s, interrupted at %s %s differs", more, line, clitest.Differ(t, m, want))
			}
		}
	}
}

// TestResumeRefuses what is not the training that began.
func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	train := resumable(t, dir)
	m, k, done := filepath.Join(dir, "m.npz"), filepath.Join(dir, "k.npz"), filepath.Join(dir,
		"done.npz")
	clitest.Succeed(t, with(train, "--model", done, "--checkpoint", k, "--every", "13",
		"--kernel", "poly", "--gamma", "0.1", "--components", "20", "--landmarks", "50")...)
	resume := clitest.Resumed(with(train, "--model", m), k)
	for _, flag := range []string{"--weights=last", "--seed=1", "--l2=1", "--learner=uma",
		"--l2=1", "--normalize=l2", "--kernel=rbf", "--gamma=1", "--components=9"} {
		name, _, _ := strings.Cut(flag, "=")
		clitest.Fail(t, app.ExitUsage, name+" --resume", with(resume, flag)...)
	}
	clitest.Fail(t, app.ExitUsage, "--max-steps 12 13", with(resume, "--max-steps", "12")...)
	clitest.Fail(t, app.ExitUsage, "--resume --from exclude", with(resume, "--from", done)...)
	clitest.Fail(t, app.ExitFailure, done+" 24 steps",
		clitest.Resumed(with(train, "--model", m), done)...)
	clitest.Fail(t, app.ExitFailure, "none.npz", clitest.Resumed(with(train, "--model", m),
		filepath.Join(dir, "none.npz"))...)
	clitest.Fail(t, app.ExitUsage, "--every --checkpoint", with(train, "--model", m, "--every",
		"3")...)
	for _, every := range []string{"0", "-1", "0s", "-3s", "often", "1.5"} {
		clitest.Fail(t, app.ExitUsage, fmt.Sprintf("--every %q 0", every),
			with(train, "--model", m, "--checkpoint", k, "--every", every)...)
	}

	// What only reading tells: other labels, another matrix.
	other := t.TempDir()
	data, matrix := clitest.Noisy(t, other, filepath.Join(dir, "few.csv"), "--seed", "3")
	advice := " --from " + k
	clitest.Fail(t, app.ExitFailure, k+" resumed data"+advice, with(resume, "--data", data)...)
	slightly := strings.NewReplacer("\n0,0.6,", "\n0,0.6000001,", "\n1,0.4,", "\n1,0.3999999,")
	table := slightly.Replace(string(clitest.Read(t, matrix)))
	clitest.Fail(t, app.ExitFailure, k+" resumed confusion"+advice, with(resume, "--confusion",
		clitest.Write(t, other, "other.csv", table))...)
	if left := clitest.Names(t, other); len(left) != 3 {
		t.Errorf("found %q", left)
	}
	if _, err := os.Stat(m); err == nil {
		t.Error("a training that was refused wrote a model")
	}
}

// devicesHere are the names of the processor and, if there is OpenCL in the program, of
// its first device.
func devicesHere(t *testing.T) []string {
	t.Helper()
	all := []string{"cpu"}
	if gpu.Built {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, infos[0].ID())
	}
	return all
}
