package app_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// clocked returns a meter on w by a clock that only the test moves.
func clocked(w *bytes.Buffer) (*app.Meter, *time.Time) {
	now := time.Unix(1e9, 0)
	m := app.NewMeter(w)
	m.Now, m.Last, m.Width = func() time.Time { return now }, now, func() int { return 80 }
	return m, &now
}

// fold makes a task of steps in the third of five folds, which began 20 s ago.
func fold(t *testing.T, m *app.Meter, now *time.Time) (folds, learning *progress.Task) {
	ctx, folds := progress.Begin(progress.With(t.Context(), m.Hear), progress.Work{Name: "folds",
		Unit: "fold", Total: 5})
	*now = now.Add(8 * time.Second)
	folds.Add(2)
	*now = now.Add(10 * time.Second)
	_, learning = progress.Begin(ctx, progress.Work{Name: "learning", Unit: "step"})
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
	want := "progress: folds: fold 3/5, learning: step 1, 40 %, 30s left\n"
	if w.String() != want {
		t.Errorf("found %q, want %q and nothing more within ten seconds", w.String(), want)
	}
	w.Reset()
	*now = now.Add(7500 * time.Millisecond)
	learning.Enter("the fit")
	learning.Add(1)
	want = "progress: folds: fold 3/5, learning: step 501 (the fit), 40 %, 45s left\n"
	if w.String() != want {
		t.Errorf("found %q, want %q", w.String(), want)
	}
}

func TestProgressIsDrawnSeldomAndCleared(t *testing.T) {
	var w bytes.Buffer
	m, now := clocked(&w)
	m.Live, m.Width = true, func() int { return 120 }
	folds, learning := fold(t, m, now)
	for range 500 {
		learning.Add(1)
		*now = now.Add(5 * time.Millisecond)
	}
	if n := strings.Count(w.String(), "\r\x1b[K"); n != 26 {
		t.Errorf("drawn %d times, want once for the folds and 25 times in 2.5 s", n)
	}
	want := "\r\x1b[Kfolds: fold 3/5, learning: step 481, 40 %, 34s left"
	if text := w.String(); !strings.HasSuffix(text, want) {
		t.Errorf("found %q, want it to end with %q", text[len(text)-60:], want)
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
}

func TestProgressOfManyKindsFits(t *testing.T) {
	for _, c := range []struct {
		work progress.Work
		done int64
		want string
	}{
		{progress.Work{Name: "reading a.csv", Unit: progress.Bytes, Total: 1 << 30}, 1 << 28,
			"reading a.csv 256 MiB/1 GiB, 25 %, 12s left"},
		{progress.Work{Name: "reading standard input", Unit: progress.Bytes}, 1 << 28,
			"reading standard input 256 MiB, 4s so far"},
		{progress.Work{Name: "learning", Unit: "step", From: 50000}, 50001,
			"learning: step 50001, 4s so far"},
		{progress.Work{Name: "chains", Unit: "step", Total: 100000, From: 50000}, 50001,
			"chains: step 50001/100000, 50 %, 55h33m16s left"},
		{progress.Work{Name: "reading a\x1b[2Jb" + strings.Repeat("界", 50), Unit: progress.Bytes,
			Total: 4}, 8,
			`reading a\x1b[2Jb` + strings.Repeat("界", 31)},
	} {
		var w bytes.Buffer
		m, now := clocked(&w)
		m.Live = true
		_, task := progress.Begin(progress.With(t.Context(), m.Hear), c.work)
		*now = now.Add(4 * time.Second)
		task.Reach(c.done)
		if got := strings.TrimPrefix(w.String(), "\r\x1b[K"); got != c.want {
			t.Errorf("%+v: found %q, want %q", c.work, got, c.want)
		}
	}
}

func TestNoProgress(t *testing.T) {
	var w bytes.Buffer
	m, now := clocked(&w)
	m.Still(true, false)
	_, learning := fold(t, m, now)
	learning.Add(1)
	if w.Len() > 0 {
		t.Errorf("found %q, want nothing with --quiet", w.String())
	}
	m.Live = true
	m.Still(false, true)
	if m.Live {
		t.Error("a live line is drawn among the lines of --verbose")
	}
	// A pipe or a file is no terminal.
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if app.IsTerminal(f) || app.IsTerminal(&w) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}

// TestLongWorkTells: what may take long tells how far it is: of what, in which units, and of how
// many.
func TestLongWorkTells(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	small := clitest.Write(t, dir, "a.csv",
		"a,b,label\n"+strings.Repeat("1,2,x\n3,1,y\n2,2.5,x\n3,0,y\n",
			600))
	few := clitest.Write(t, dir, "few.csv", "a,b,label\n1,2,x\n3,1,y\n2,2.5,x\n3,0,y\n")
	matrix := clitest.Write(t, dir, "C.csv", "noisy\\true,x,y\nx,0.9,0.1\ny,0.1,0.9\n")
	votes := clitest.Write(t, dir, "votes.csv",
		"index,worker,label\n0,a,x\n0,b,x\n1,a,y\n1,b,x\n2,a,x\n2,b,x\n3,a,y\n3,b,y\n")
	pairs := clitest.Write(t, dir, "pairs.csv", "noisy,true\nx,x\nx,y\ny,y\ny,x\n")
	texts := clitest.Write(t, dir, "texts.csv",
		"note,label\n"+strings.Repeat("some words,x\nother words,y\n",
			9))
	kernel := []string{"train", "--data", small, "--model", at("k.npz"), "--learner", "kernelmean",
		"--kernel", "rbf"}
	open := []string{"", "step", "round", "reading"} // units whose number nobody knows before
	for _, c := range []struct {
		args []string
		want []string // names and units
	}{
		{[]string{"train", "--data", small, "--model", at("m.npz"), "--kernel", "rbf", "--gamma", "0.1"},
			[]string{"reading " + small + ", byte", "hashing the data, example", "fitting the kernel, ",
				"learning, step"}},
		{append(kernel, "--gamma", "mean"),
			[]string{"how far kernel functions set classes apart, kernel function"}},
		{append(kernel, "--gamma", "0.1", "--atoms", "9", "--atom-choice", "herding"),
			[]string{"fitting the means, class", "herding, atom"}},
		{[]string{"cv", "--data", small, "--folds", "2"}, []string{"learning without each fold, fold"}},
		{[]string{"cv", "--data", small, "--folds", "2", "--try", "--max-steps=2", "--try",
			"--learner=uma"}, []string{"comparing, configuration", "learning without each fold, fold"}},
		{[]string{"confusion", "estimate", "--data", small}, []string{"comparing models, round"}},
		{[]string{"confusion", "inject", "--data", small, "--confusion", matrix, "--out", at("n.csv")},
			[]string{"writing " + at("n.csv") + ", example"}},
		{[]string{"confusion", "estimate", "--annotators", votes, "--out", at("V.csv")},
			[]string{"reading " + votes + ", byte", "estimating annotators, round"}},
		{[]string{"confusion", "estimate", "--clean", pairs}, []string{"reading " + pairs + ", byte"}},
		{[]string{"cv", "--data", few, "--annotators", votes, "--folds", "2", "--learner", "softmax"},
			[]string{"estimating annotators, round", "fitting the temperature, reading"}},
		{[]string{"calibrate", "--data", small, "--model", at("m.npz"), "--out", at("c.npz")},
			[]string{"fitting the temperature, reading"}},
		{[]string{"info", "--data", texts, "--text", "note"}, []string{"making features, example"}},
		{[]string{"convert", "--data", small, "--out", at("a.npz")}, []string{"writing " + at("a.npz") +
			", byte"}},
		{[]string{"convert", "--data", small, "--out", at("a.svm")}, []string{"writing " + at("a.svm") +
			", example"}},
		{[]string{"predict", "--data", small, "--model", at("m.npz"), "--out", at("p.txt")},
			[]string{"predicting, example"}},
		{[]string{"predict", "--data", small, "--model", at("k.npz"), "--out", at("p.txt")},
			[]string{"predicting, example"}},
		{[]string{"report", "--data", small, "--model", at("m.npz"), "--out", at("r.html"), "--judge",
			"folds"},
			[]string{"judging the settings, way", "learning without each fold, fold"}},
		{[]string{"query", "--data", small, "--out", at("q.csv")}, []string{"learning, step"}},
		{[]string{"synth", "--examples", "9", "--out", at("s.csv")}, []string{"synthetic data, example"}},
	} {
		var lock sync.Mutex
		tasks := map[string]*progress.Task{} // that have ended, by name and unit
		hear := func(t *progress.Task, e progress.Event) {
			if lock.Lock(); e == progress.Ended {
				tasks[t.Name+", "+t.Unit] = t
			}
			lock.Unlock()
		}
		var out bytes.Buffer
		top := program.New(&out, &out, c.args...)
		if err := top.RunContext(progress.With(t.Context(), hear), append([]string{"uma-gpu"},
			c.args...)); err != nil {
			t.Errorf("uma-gpu %s: %v\n%s", strings.Join(c.args, " "), err, &out)
		}
		for _, want := range c.want {
			task := tasks[want]
			if task == nil {
				t.Errorf("uma-gpu %s: nothing was heard of %q, only of %q", strings.Join(c.args, " "), want,
					slices.Sorted(maps.Keys(tasks)))
			} else if task.Total == 0 && !slices.Contains(open, task.Unit) || task.Total > 0 &&
				task.Done() > task.Total && task.Unit != progress.Bytes {
				t.Errorf("uma-gpu %s: %s: %d of %d were done", strings.Join(c.args, " "), want, task.Done(),
					task.Total)
			}
		}
	}
}
