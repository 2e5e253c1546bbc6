package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// clocked returns a meter on w by a clock that only the test moves.
func clocked(w *bytes.Buffer) (*meter, *time.Time) {
	now := time.Unix(1e9, 0)
	m := newMeter(w)
	m.now, m.last, m.width = func() time.Time { return now }, now, func() int { return 80 }
	return m, &now
}

// fold makes a task of 1000 steps in the third of five folds, which began 20 s ago.
func fold(t *testing.T, m *meter, now *time.Time) (folds, learning *progress.Task) {
	ctx, folds := progress.Begin(progress.With(t.Context(), m), progress.Work{Name: "folds", Unit: "fold", Total: 5})
	*now = now.Add(8 * time.Second)
	folds.Add(2)
	*now = now.Add(10 * time.Second)
	_, learning = progress.Begin(ctx, progress.Work{Name: "learning", Unit: "step", Total: 1000, AtMost: true})
	learning.Estimate(0.25)
	*now = now.Add(2 * time.Second)
	return folds, learning
}

func TestProgressInPlainLines(t *testing.T) {
	var w bytes.Buffer
	m, now := clocked(&w)
	_, learning := fold(t, m, now)
	for range 500 { // 2.5 s
		learning.Add(1)
		*now = now.Add(5 * time.Millisecond)
	}
	want := "progress: folds: fold 3/5, learning: step 1/1000, 40 % done, 30s left, 0.5/s, estimated error 0.2500\n"
	if w.String() != want {
		t.Errorf("found %q, want %q and nothing more within ten seconds", w.String(), want)
	}
	w.Reset()
	*now = now.Add(7500 * time.Millisecond)
	learning.Add(1)
	want = "progress: folds: fold 3/5, learning: step 501/1000, 50 % done, 30s left, 42/s, estimated error 0.2500\n"
	if w.String() != want {
		t.Errorf("found %q, want %q", w.String(), want)
	}
}

func TestProgressIsDrawnSeldomAndCleared(t *testing.T) {
	var w bytes.Buffer
	m, now := clocked(&w)
	m.live = true
	folds, learning := fold(t, m, now)
	for range 500 {
		learning.Add(1)
		*now = now.Add(5 * time.Millisecond)
	}
	if n := strings.Count(w.String(), "\r\x1b[K"); n != 26 {
		t.Errorf("drawn %d times, want once for the folds and 25 times in 2.5 s", n)
	}
	want := "\r\x1b[K 49% [=>   ]  fold 3/5, step 481/1000, 23s left, 109/s, estimated error 0.2500"
	if text := w.String(); !strings.HasSuffix(text, want) {
		t.Errorf("found %q, want it to end with %q", text[len(text)-120:], want)
	}
	w.Reset()
	if _, err := m.Write([]byte("a note\n")); err != nil || w.String() != "\r\x1b[Ka note\n" {
		t.Errorf("found %q, want the note on a line of its own", w.String())
	}
	*now = now.Add(time.Second)
	learning.Add(1)
	w.Reset()
	learning.End()
	folds.End()
	if w.String() != "\r\x1b[K" {
		t.Errorf("found %q, want a cleared line and nothing else", w.String())
	}
	w.Reset()
	if _, err := m.Write([]byte("continue? ")); err != nil {
		t.Fatal(err)
	}
	_, folds = fold(t, m, now)
	folds.Add(1)
	if w.String() != "continue? " {
		t.Errorf("found %q, want a question that nothing is drawn behind", w.String())
	}
}

func TestProgressOfManyKindsFits(t *testing.T) {
	for _, c := range []struct {
		work progress.Work
		done int64
		want string
	}{
		{progress.Work{Name: "reading a.csv", Unit: progress.Bytes, Total: 1 << 30}, 1 << 28,
			" 25% [>    ]  reading a.csv 256 MiB/1 GiB, 12s left, 64 MiB/s"},
		{progress.Work{Name: "reading standard input", Unit: progress.Bytes}, 1 << 28,
			"reading standard input 256 MiB, 64 MiB/s"},
		{progress.Work{Name: "learning", Unit: "step", Total: 100000, AtMost: true, From: 50000}, 50001,
			" 50% [=>   ]  step 50001/100000, <56h left, 0.25/s"},
		{progress.Work{Name: "reading a\x1b[2Jb" + strings.Repeat("界", 50), Unit: progress.Bytes, Total: 4}, 8,
			` 99% [===> ]  reading a\x1b[2Jb` + strings.Repeat("界", 24)},
	} {
		var w bytes.Buffer
		m, now := clocked(&w)
		m.live = true
		_, task := progress.Begin(progress.With(t.Context(), m), c.work)
		*now = now.Add(4 * time.Second)
		task.Reach(c.done)
		if got := strings.TrimPrefix(w.String(), "\r\x1b[K"); got != c.want || columnsIn(got) > 79 {
			t.Errorf("%+v: found %q of %d columns, want %q", c.work, got, columnsIn(got), c.want)
		}
	}
}

func TestNoProgress(t *testing.T) {
	var w bytes.Buffer
	m, now := clocked(&w)
	m.still(true, false)
	_, learning := fold(t, m, now)
	learning.Add(1)
	if w.Len() > 0 || m.watched() {
		t.Errorf("found %q, want nothing with --quiet", w.String())
	}
	if m.live = true; m.watched() {
		t.Error("watched in spite of --quiet")
	}
	m.still(false, true)
	if m.live {
		t.Error("a live line is drawn among the lines of --verbose")
	}
	// A pipe or a file is no terminal.
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || isTerminal(&w) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}

func TestVerboseSteps(t *testing.T) {
	var w bytes.Buffer
	notes{w: &w}.step(host.Report{Step: 3, EstimatedError: 0.25, Fields: []learners.Field{
		{Name: "pair", Value: engine.Pair{P: 0, Q: 1}}, {Name: "‖z‖", Value: 0.5}, {Name: "moved", Value: 3},
	}}, []string{"cat", "a very long class name"})
	want := `step 3: predicted "cat" to true "a very long class name", ‖z‖ 0.5, moved 3, estimated error 0.2500` + "\n"
	if w.String() != want {
		t.Errorf("found %q, want %q", w.String(), want)
	}
}

// heard is a listener that keeps the names of tasks that have ended, and how much of them was done.
type heard struct{ names []string }

func (h *heard) Began(*progress.Task)   {}
func (h *heard) Moved(*progress.Task)   {}
func (h *heard) Ended(t *progress.Task) { h.names = append(h.names, t.Name) }

// TestLongWorkTells: what may take long tells how far it is.
func TestLongWorkTells(t *testing.T) {
	var h heard
	dir := t.TempDir()
	small := write(t, dir, "a.csv", "a,b,label\n"+strings.Repeat("1,2,x\n3,1,y\n2,2.5,x\n3,0,y\n", 20))
	var out bytes.Buffer
	for _, args := range [][]string{
		{"train", "--data", small, "--model", filepath.Join(dir, "m.npz"), "--kernel", "rbf", "--gamma", "0.1"},
		{"cv", "--data", small, "--folds", "2"},
		{"convert", "--data", small, "--out", filepath.Join(dir, "a.umab")},
		{"info", "--data", filepath.Join(dir, "a.umab")},
	} {
		app := newApp(&out, &out)
		if err := app.RunContext(progress.With(t.Context(), &h), append([]string{"uma-gpu"}, args...)); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
	}
	for _, want := range []string{
		"reading " + small, "hashing the data", "fitting the kernel", "learning",
		"learning without each fold", "checking the data",
	} {
		if !slices.Contains(h.names, want) {
			t.Errorf("nothing was heard of %s, only of %q", want, h.names)
		}
	}
}
