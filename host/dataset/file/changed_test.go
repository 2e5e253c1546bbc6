package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// onReading returns a listener that does something once, in the middle of the reading of a file.
func onReading(do func()) func(*progress.Task, progress.Event) {
	once := sync.OnceFunc(do)
	return func(task *progress.Task, e progress.Event) {
		if e == progress.Moved && (strings.HasPrefix(task.Name, "reading ") ||
			strings.HasPrefix(task.Name, "checking ")) {
			once()
		}
	}
}

// A file that somebody writes to while it is read is refused, in every format; one that gives
// place to another is read as it was.
func TestFileChangesWhileRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	for i := range 4000 {
		text.WriteString([]string{"1,2.5,3,a\n", "4,5,6.5,b\n"}[i%2])
	}
	if err := os.WriteFile(path("d.csv"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	whole, err := Read(t.Context(), path("d.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d.csv", "d.svm", "d.npz", "d.csv.gz", "d.csv.zst"} {
		if err := Write(t.Context(), path(name), whole, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		cut := len(raw) / 2
		if name == "d.csv" || name == "d.svm" { // at the end of a line
			cut = strings.LastIndexByte(string(raw[:cut]), '\n') + 1
		}
		for what, change := range map[string]func() error{
			"shortened": func() error { return os.Truncate(path(name), int64(cut)) },
			"written again, later": func() error {
				if err := os.WriteFile(path(name), raw, 0o666); err != nil {
					return err
				}
				later := time.Now().Add(time.Minute) // clocks of file systems are coarse
				return os.Chtimes(path(name), later, later)
			},
			"lengthened": func() error {
				return os.WriteFile(path(name), append(raw[:len(raw):len(raw)], raw...), 0o666)
			},
			"replaced": func() error { return os.Rename(path("other"), path(name)) },
		} {
			for file, content := range map[string][]byte{name: raw, "other": []byte("1,a\n2,b\n")} {
				if err := os.WriteFile(path(file), content, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			changed := onReading(func() {
				if err := change(); err != nil {
					t.Error(err)
				}
			})
			d, err := Read(progress.With(context.Background(), changed), path(name), Options{})
			switch {
			case what == "replaced" && (err != nil || d.SHA256 != whole.SHA256):
				t.Errorf("%s, %s: found another set, or %v", name, what, err)
			case what != "replaced" && (!facts.Told(err, path(name)+" changed")):
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if err == nil {
				d.Close()
			}
		}
	}
}
