package train_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// TestDamagedCheckpoint: whatever member of a checkpoint has a wrong byte, is missing, or
// holds what cannot be, --resume says so and names the file.
func TestDamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	train := resumable(t, dir)
	k, m, bad := filepath.Join(dir, "k.npz"), filepath.Join(dir, "m.npz"), filepath.Join(dir,
		"bad.npz")
	seen := map[string]bool{}
	for _, more := range [][]string{nil, {"--weights", "average"}, {"--kernel", "rbf", "--components",
		"9"}} {
		args := with(train, with(more, "--model", m)...)
		clitest.Succeed(t, with(args, "--checkpoint", k, "--every", "13")...)
		if err := os.Remove(m); err != nil {
			t.Fatal(err)
		}
		refused := func(what, want string) {
			t.Helper()
			clitest.Fail(t, app.ExitFailure, bad+" "+want, clitest.Resumed(args, bad)...)
			if _, err := os.Stat(m); err == nil {
				t.Errorf("%s: wrote a model", what)
			}
		}
		whole := clitest.Read(t, k)
		z, err := zip.OpenReader(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			seen[f.Name] = true
			from, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int64{0, int64(f.UncompressedSize64) / 2, int64(f.UncompressedSize64) - 1} {
				flipped := bytes.Clone(whole)
				flipped[from+at] ^= 4
				if err := os.WriteFile(bad, flipped, 0o666); err != nil {
					t.Fatal(err)
				}
				refused(f.Name, f.Name)
			}
			rewrite(t, k, bad, f.Name, nil)
			switch f.Name {
			case confusionName:
				refused(f.Name, "confusion.npy none")
			case "sum.npy":
				refused(f.Name, "state sum 0 weights")
			case "counts.npy":
				refused(f.Name, "state best weights 0 counts")
			case "last.npy":
				refused(f.Name, "member only")
			case "landmarks.npy": // or the landmarks of sparse examples
				refused(f.Name, "no such member")
			default:
				refused(f.Name, f.Name+" no such member")
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "{", `{"begun":true}`, `{"begun":true,"random":"cGNnOg=="}`,
			`{"begun":1}`} {
			rewrite(t, k, bad, "learner.bin", []byte(text))
			refused("learner.bin "+text, "state uma damaged")
		}
		for _, n := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
			if err := os.WriteFile(bad, whole[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			refused("cut short", "cut short")
		}
	}
	for _, name := range []string{
		"W.npy", confusionName, "last.npy", "sum.npy", "counts.npy", "learner.bin", "meta.json",
		"axes.npy",
	} {
		if !seen[name] {
			t.Errorf("no checkpoint had %s", name)
		}
	}
	// Without its state a checkpoint is invalid.
	clitest.Succeed(t, with(train, "--model", m, "--checkpoint", k, "--every", "13")...)
	for _, name := range []string{"counts.npy", "sum.npy", "learner.bin", "last.npy"} {
		rewrite(t, k, bad, name, nil)
		if err := os.Rename(bad, k); err != nil {
			t.Fatal(err)
		}
	}
	clitest.Fail(t, app.ExitFailure, k+" last.npy none",
		clitest.Resumed(with(train, "--model", m), k)...)
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
