package train_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// TestDamagedCheckpoint: whatever member of a checkpoint is missing or holds what cannot be,
// --resume says so and names the file. Package model tests flipped bits and files cut short.
func TestDamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	k, m, bad := filepath.Join(dir, "k.npz"), filepath.Join(dir, "m.npz"), filepath.Join(dir,
		"bad.npz")
	args := with(resumable(t, dir), "--model", m)
	refused := func(what, want string) {
		t.Helper()
		clitest.Fail(t, app.ExitFailure, bad+" "+want, clitest.Resumed(args, bad)...)
		if _, err := os.Stat(m); err == nil {
			t.Errorf("%s: wrote a model", what)
		}
	}
	wanted := map[string]string{confusionName: "confusion.npy none", "sum.npy": "state sum 0 weights",
		"counts.npy": "state best weights 0 counts", "last.npy": "member only"}
	for _, more := range [][]string{nil, {"--weights", "average"}} {
		clitest.Succeed(t, with(args, with(more, "--checkpoint", k, "--every", "13")...)...)
		if err := os.Remove(m); err != nil {
			t.Fatal(err)
		}
		for _, member := range clitest.Members(t, k) {
			rewrite(t, k, bad, member.Name, nil)
			refused(member.Name, cmp.Or(wanted[member.Name], member.Name+" no such member"))
		}
		for _, text := range []string{"", "{", `{"begun":true}`, `{"begun":true,"random":"cGNnOg=="}`,
			`{"begun":1}`} {
			rewrite(t, k, bad, "learner.bin", []byte(text))
			refused("learner.bin "+text, "state uma damaged")
		}
	}
}

const confusionName = "confusion.npy"

// rewrite copies a model file with other bytes for one member; nil leaves it out.
func rewrite(t *testing.T, from, to, name string, data []byte) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	found := false
	for _, m := range clitest.Members(t, from) {
		if m.Name == name {
			found, m.Data = true, data
		}
		if m.Data == nil {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, bytes.NewReader(m.Data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil || !found {
		t.Fatalf("%s in %s: found %v, %v", name, from, found, err)
	}
}
