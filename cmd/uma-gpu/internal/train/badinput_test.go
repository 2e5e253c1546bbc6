package train_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

func TestTrainMissingFiles(t *testing.T) {
	dir := t.TempDir()
	data, m := clitest.Synthetic(t, dir), filepath.Join(dir, "m.npz")
	missing := filepath.Join(dir, "none.csv")
	before := clitest.Names(t, dir)
	clitest.Fail(t, app.ExitFailure, missing+" data", "train", "--data", missing, "--model", m)
	clitest.Fail(t, app.ExitFailure, missing+" read", "train", "--data", data, "--confusion", missing,
		"--model", m)
	clitest.Fail(t, app.ExitFailure, "directory", "train", "--data", dir, "--model", m)
	if after := clitest.Names(t, dir); !slices.Equal(after, before) {
		t.Errorf("found %q, want %q", after, before)
	}
}

// A model that cannot be written is told before the data are read.
func TestTrainUnwritableModel(t *testing.T) {
	dir := t.TempDir()
	file := clitest.Write(t, dir, "file", "")
	for path, fragment := range map[string]string{
		filepath.Join(dir, "none", "m.npz"): "folder",
		filepath.Join(file, "m.npz"):        "written",
		dir:                                 "folder",
		dir + "/":                           "file",
	} {
		clitest.Fail(t, app.ExitFailure, fragment, "train", "--data", filepath.Join(dir, "unread.csv"),
			"--model",
			path)
	}
	if left := clitest.Names(t, dir); !slices.Equal(left, []string{"file"}) {
		t.Errorf("found %q", left)
	}
}

// The same holds for the other commands that write.
func TestUnwritableCopies(t *testing.T) {
	dir := t.TempDir()
	nowhere := filepath.Join(dir, "none", "out.csv")
	const fragment = "written"
	clitest.Fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv",
		"--pairwise",
		"0.1", "--out", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "confusion", "inject", "--data", "unread.csv",
		"--pairwise",
		"0.1", "--out", filepath.Join(dir, "o.csv"), "--write-confusion", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "predict", "--data", "unread.csv", "--model",
		"unread.npz",
		"--out", nowhere)
	clitest.Fail(t, app.ExitFailure, fragment, "synth", "--examples", "3", "--out", nowhere)
	clitest.Fail(t, app.ExitFailure, "folder", "synth", "--examples", "3", "--out", dir)
	if left := clitest.Names(t, dir); left != nil {
		t.Errorf("found %q", left)
	}
}
