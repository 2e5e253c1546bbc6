package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// workerProcess is a worker that a test writes to.
type workerProcess struct {
	t       *testing.T
	process *exec.Cmd
	in      io.WriteCloser
	lines   *json.Decoder
	folder  string
	dir     string // of its commands
}

// line is any line of a worker.
type line struct {
	Folders             []string
	ID, Code            int
	Output, Error, Note string
}

func startWorker(t *testing.T) *workerProcess {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "worker", t.TempDir())
	c.Env = append(os.Environ(), runVariable+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w := &workerProcess{t: t, process: c, in: in, lines: json.NewDecoder(out)}
	if folders := w.next().Folders; len(folders) == 1 {
		w.folder = folders[0]
	}
	if _, err := os.Stat(w.folder); err != nil {
		t.Fatal(err)
	}
	return w
}

// next returns the next line.
func (w *workerProcess) next() (l line) {
	w.t.Helper()
	if err := w.lines.Decode(&l); err != nil {
		w.t.Fatal(err)
	}
	return l
}

// ask sends a command line.
func (w *workerProcess) ask(id int, args ...string) {
	w.t.Helper()
	if err := json.NewEncoder(w.in).Encode(map[string]any{"id": id, "args": args,
		"folder": w.dir}); err != nil {
		w.t.Fatal(err)
	}
}

// answer returns the line that ends a command, and the notes before it.
func (w *workerProcess) answer(id int) (l line, notes string) {
	w.t.Helper()
	for {
		if l = w.next(); l.ID != id {
			w.t.Fatalf("found a line of request %d, wanted %d", l.ID, id)
		}
		if l.Note == "" {
			return l, notes
		}
		notes += l.Note
	}
}

// end waits for the end of the process, which leaves no folder.
func (w *workerProcess) end() {
	w.t.Helper()
	w.in.Close()
	for l := (line{}); w.lines.Decode(&l) == nil; {
	}
	w.process.Wait() // any exit code
	if _, err := os.Stat(w.folder); !os.IsNotExist(err) {
		w.t.Errorf("the folder %s is left: %v", w.folder, err)
	}
}

const pets = "weight,height,kind\n2,30,cat\n9,60,dog\n3,25,cat\n25,65,dog\n4,31,cat\n12,55,dog\n"

// TestWorker: commands print, fail and write as in a shell, and standard input is empty.
func TestWorker(t *testing.T) {
	dir := t.TempDir()
	data, at, same := write(t, dir, "pets.csv", pets), filepath.Join(dir, "m.npz"),
		filepath.Join(dir, "same.npz")
	w := startWorker(t)
	defer w.end()
	w.dir = dir
	w.ask(100, "info", "--data", "pets.csv")
	if got, _ := w.answer(100); got.Code != 0 {
		t.Errorf("in a folder: %s", got.Error)
	}
	for id, args := range [][]string{{"learners"}, {"train", "--data", data, "--model", same},
		{"predict", "--model", same, "--data", data, "--probabilities"}, {"inspect", "--model", data},
		{"train", "--data", data}, {"trian"}, {"info", "--data", "-"}} {
		w.ask(id+1, args...)
		got, notes := w.answer(id + 1)
		if args[0] == "train" && len(args) > 3 {
			args[4] = at
		}
		code, output, stderr := command(args...)
		if args[0] != "train" && got.Output != output || got.Code != code {
			t.Errorf("%q: code %d and\n%s\nwanted %d and\n%s", args, got.Code, got.Output, code, output)
		}
		same := args[0] == "info" || strings.HasSuffix(stderr, "uma-gpu: "+got.Error+"\n")
		if (got.Error == "") != (code == 0) || got.Error != "" && !same {
			t.Errorf("%q: error %q, wanted that of %s", args, got.Error, stderr)
		}
		if args[0] == "train" && code == 0 && !strings.Contains(notes, "2 classes") {
			t.Errorf("notes are %q", notes)
		}
	}
	a, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(same)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("the models differ (%v)", err)
	}
}

// TestWorkerCancels: a command that is cancelled ends as by Ctrl-C, and the next one runs.
func TestWorkerCancels(t *testing.T) {
	w := startWorker(t)
	defer w.end()
	model := filepath.Join(w.folder, "m.npz")
	w.ask(1, endless(t, model)...)
	w.next() // it has begun
	if _, err := io.WriteString(w.in, `{"id": 1, "cancel": true}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.answer(1); got.Code != app.ExitInterrupted {
		t.Errorf("code %d, %s", got.Code, got.Error)
	}
	w.ask(2, "version")
	if got, _ := w.answer(2); got.Code != 0 {
		t.Errorf("after a cancel: %+v", got)
	}
}

// TestWorkerEndsWithItsParent: the end of the input ends the command under way.
func TestWorkerEndsWithItsParent(t *testing.T) {
	w := startWorker(t)
	w.ask(1, endless(t, filepath.Join(w.folder, "m.npz"))...)
	w.next()
	w.end()
}

// endless is a training that would take hours: no hyperplanes separate labels that are wrong.
func endless(t *testing.T, model string) []string {
	data, _ := noisy(t, t.TempDir(), digits)
	return []string{"train", "--data", data, "--learner", "perceptron", "--epochs", "100000000",
		"--model", model}
}

// TestWorkerFolders: a root without room for a folder, such as /dev/shm without inodes, is passed
// over; without any the worker says so. SIGTERM ends it as an interruption.
func TestWorkerFolders(t *testing.T) {
	for _, c := range []struct {
		roots   []string
		folders int
	}{{[]string{"/proc", t.TempDir()}, 1}, {[]string{"/proc"}, 0}} {
		w := exec.CommandContext(t.Context(), os.Args[0], append([]string{"worker"}, c.roots...)...)
		w.Env = append(os.Environ(), runVariable+"=1")
		var said bytes.Buffer
		w.Stderr = &said
		in, err := w.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := w.StdoutPipe()
		if err == nil {
			err = w.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var hello line
		json.NewDecoder(out).Decode(&hello) // nothing without a folder
		want := app.ExitFailure
		if c.folders > 0 {
			want = app.ExitInterrupted
			w.Process.Signal(syscall.SIGTERM)
		}
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(w.Wait(), &exit) {
			code = exit.ExitCode()
		}
		if len(hello.Folders) != c.folders || code != want || said.Len() == 0 {
			t.Errorf("%v: folders %v, exit code %d, want %d: %s", c.roots, hello.Folders, code, want, &said)
		}
		for _, folder := range hello.Folders {
			if _, err := os.Stat(folder); err == nil {
				t.Errorf("%s is left", folder)
			}
		}
	}
}
