package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// workerProcess is a worker that a test writes to.
type workerProcess struct {
	t       *testing.T
	process *exec.Cmd
	in      io.WriteCloser
	lines   *json.Decoder
	folder  string
}

// line is any line of a worker.
type line struct {
	Folders     []string
	ID, Code    int
	Error, Note string
	Result      map[string]any
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

// ask sends a call of train on 40 examples of 2 features whose labels no weights are right about.
func (w *workerProcess) ask(id int, learner string, steps int) {
	w.t.Helper()
	const n, d = 40, 2
	x, codes := make([]float32, n*d), make([]int32, n)
	for i := range codes {
		x[i*d], x[i*d+1], codes[i] = float32(i%7), float32(i%5), int32(i%2)
	}
	memory, err := binary.Append(nil, binary.LittleEndian, x)
	if err == nil {
		memory, err = binary.Append(memory, binary.LittleEndian, codes)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	path := write(w.t, w.folder, "memory", string(memory))
	if err := json.NewEncoder(w.in).Encode(map[string]any{"id": id, "call": map[string]any{
		"function": "train", "memory": path, "request": map[string]any{
			"data":    map[string]any{"matrix": map[string]any{"rows": n, "columns": d}},
			"labels":  map[string]any{"classes": []string{"a", "b"}},
			"learner": learner, "max_steps": steps},
		"arrays": []map[string]any{
			{"at": "data.matrix.float32", "type": "<f4", "shape": []int{n * d}, "offset": 0},
			{"at": "labels.codes", "type": "<i4", "shape": []int{n}, "offset": 4 * n * d}},
	}}); err != nil {
		w.t.Fatal(err)
	}
}

// answer returns the line that ends a call.
func (w *workerProcess) answer(id int) (l line) {
	w.t.Helper()
	for {
		if l = w.next(); l.ID != id {
			w.t.Fatalf("found a line of request %d, wanted %d", l.ID, id)
		}
		if l.Note == "" {
			return l
		}
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

// TestWorker: calls are answered with a result or an error, and unknown requests are errors.
func TestWorker(t *testing.T) {
	w := startWorker(t)
	defer w.end()
	w.ask(1, "classmean", 1)
	if got := w.answer(1); got.Code != 0 || got.Result["learner"] != "classmean" {
		t.Errorf("found %+v", got)
	}
	w.ask(2, "knn", 1)
	if got := w.answer(2); got.Code == 0 || !strings.Contains(got.Error, "knn") {
		t.Errorf("found %+v", got)
	}
	for id, text := range map[int]string{3: `{"id": 3}`, 4: `{"id": 4, "call": {"function": "fly"}}`} {
		if _, err := io.WriteString(w.in, text+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := w.answer(id); got.Code == 0 || got.Error == "" {
			t.Errorf("%s: found %+v", text, got)
		}
	}
}

// TestWorkerCancels: a call that is cancelled ends as by Ctrl-C, and the next one runs.
func TestWorkerCancels(t *testing.T) {
	w := startWorker(t)
	defer w.end()
	w.ask(1, "perceptron", endless)
	time.Sleep(begun)
	if _, err := io.WriteString(w.in, `{"id": 1, "cancel": true}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if got := w.answer(1); got.Result["stop"] != "interrupted" && got.Code != app.ExitInterrupted {
		t.Errorf("found %+v", got)
	}
	w.ask(2, "classmean", 1)
	if got := w.answer(2); got.Code != 0 {
		t.Errorf("after a cancel: %+v", got)
	}
}

// TestWorkerEndsWithItsParent: the end of the input ends the call under way.
func TestWorkerEndsWithItsParent(t *testing.T) {
	w := startWorker(t)
	w.ask(1, "perceptron", endless)
	time.Sleep(begun)
	w.end()
}

// endless steps take hours; a call has begun some time after it is sent.
const (
	endless = 1 << 31
	begun   = 300 * time.Millisecond
)

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
