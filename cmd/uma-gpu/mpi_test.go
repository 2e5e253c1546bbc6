//go:build mpi && cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// mpirun returns the command that runs a command line on a number of ranks.
func mpirun(t *testing.T, ranks int, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := launcher[0] // of Debian, where several MPI are installed side by side
	if _, err := exec.LookPath(name); err != nil {
		name = "mpirun"
	}
	args = slices.Concat(launcher[1:], []string{"-n", fmt.Sprint(ranks), self}, args)
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), runVariable+"=1")
	return c
}

// TestRanksTrain: ranks write the same file as one process, and only rank 0 prints.
func TestRanksTrain(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d.csv")
	succeed(t, "synth", "--examples", "4500", "--features", "6", "--classes", "3", "--out", data)
	mapped := filepath.Join(dir, "d.npz")
	succeed(t, "convert", "--data", data, "--normalize", "auto", "--out", mapped)
	raw := filepath.Join(dir, "raw.npz")
	succeed(t, "convert", "--data", data, "--storage", "sparse", "--out", raw)
	people := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(people, []byte(peopleTable(6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	table := []string{"--data", people, "--missing", "indicator", "--text", "words", "--id-column",
		"id"}
	for _, c := range [][]string{
		append([]string{"--learner", "softmax", "--iterations", "5", "--hold-out", "0.2"}, table...),
		append([]string{"--learner", "uma", "--max-steps", "8", "--storage", "dense"}, table...),
		{"--data", raw, "--learner", "uma", "--max-steps", "8"},
		{"--data", data, "--learner", "uma", "--max-steps", "8", "--checkpoint", filepath.Join(dir,
			"c.npz"), "--every", "3"},
		{"--data", mapped, "--learner", "softmax", "--hold-out", "0.2", "--device", "cpu+cpu:plain"},
		{"--data", data, "--kernel", "rbf", "--landmarks", "40", "--gamma", "0.1", "--l2", "0.01",
			"--storage", "sparse"},
		{"--data", data, "--kernel", "rbf", "--landmarks", "300", "--components", "40", "--gamma", "mean",
			"--iterations", "9", "--learner", "softmax", "--hold-out", "0.2", "--device", "cpu+cpu:plain"},
		{"--data", raw, "--kernel", "poly", "--landmarks", "30", "--learner", "uma", "--max-steps", "8"},
		{"--data", data, "--learner", "kernelmean", "--kernel", "rbf", "--gamma", "0.1", "--atoms", "50"},
		{"--data", mapped, "--learner", "kernelmean", "--kernel", "rbf", "--gamma", "search", "--atoms",
			"auto", "--normalize", "standardize,bias,l2"},
	} {
		one, many := filepath.Join(dir, "one.npz"), filepath.Join(dir, "many.npz")
		succeed(t, append([]string{"train", "--model", one}, c...)...)
		out, err := mpirun(t, 3, append([]string{"train", "--model", many}, c...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
		if what := differ(t, one, many); what != "" {
			t.Errorf("%v: another %s", c, what)
		}
		if n := bytes.Count(out, []byte("seconds ")); n != 1 {
			t.Errorf("%v: %d ranks tell of their seconds:\n%s", c, n, out)
		}
	}
}

// peopleTable is a table of more than numbers, with quotes around line ends, and some bad
// examples.
func peopleTable(n int) string {
	var b strings.Builder
	b.WriteString("id,colour,size,words,class\n")
	for i := range n {
		size := strconv.Itoa(i * i % 37)
		if i%900 == 7 {
			size = "large"
		}
		fmt.Fprintf(&b, "e%d,%s,%s,\"%s,\nand %s\",%d\n", i, []string{"red", "green", "NA"}[i%3], size,
			[]string{"one", "two", "three"}[i%3], []string{"four", "five"}[i%2], i*7%3*(1-i%11/10))
	}
	return b.String()
}

// TestRanksPredict: what ranks predict by a model with a kernel function is what one process does.
func TestRanksPredict(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.npz")
	succeed(t, "synth", "--examples", "4500", "--features", "6", "--classes", "3", "--out", data)
	succeed(t, "train", "--data", data, "--kernel", "rbf", "--landmarks", "40", "--model", model)
	for _, c := range [][]string{{"predict", "--scores"}, {"predict"}, {"eval", "--json"}} {
		args := append(c, "--model", model, "--data", data, "--quiet", "--device", "cpu")
		one, _ := succeed(t, args...)
		run := mpirun(t, 3, args...)
		var errs bytes.Buffer
		run.Stderr = &errs
		if many, err := run.Output(); err != nil || string(many) != one {
			t.Errorf("%v: %v: found\n%.300s\nwant\n%.300s\n%s", c, err, many, one, errs.String())
		}
	}
}

// TestRanksFolds: what cv says on ranks is what it says in one process.
func TestRanksFolds(t *testing.T) {
	people := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(people, []byte(peopleTable(6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, try := range [][]string{nil, {"--try", "--max-steps 3", "--try",
		"--kernel rbf --landmarks 30 --components 10"}} {
		args := append([]string{"cv", "--data", people, "--text", "words", "--id-column", "id",
			"--learner", "uma", "--max-steps", "5", "--folds", "3", "--json", "--quiet",
			"--device", "cpu"}, try...)
		one, _ := succeed(t, args...)
		c := mpirun(t, 2, args...)
		var errs bytes.Buffer
		c.Stderr = &errs
		many, err := c.Output()
		if err != nil || string(many) != one {
			t.Errorf("%v: %v: found\n%s\nwant\n%s\n%s", try, err, many, one, errs.String())
		}
	}
}

// TestRanksEnd: what one rank cannot do ends all, with its number, its exit code, and no file.
func TestRanksEnd(t *testing.T) {
	dir := t.TempDir()
	data, model := synthetic(t, dir), filepath.Join(dir, "m.npz")
	mistaken := filepath.Join(dir, "mistaken.csv")
	text := strings.Repeat("1,2,a\n3,4,b\n", 2000)
	if err := os.WriteFile(mistaken, []byte(text+"1,x,a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{app.ExitFailure, "rank 0 of 2 ends all: ",
			[]string{"train", "--data", filepath.Join(dir, "none.csv"), "--model", model}},
		{app.ExitFailure, " of 2 ends all: " + mistaken + ":4001:3: ",
			[]string{"train", "--data", mistaken, "--model", model}},
		{app.ExitUsage, "several ranks run train, eval, cv or predict", []string{"synth", "--examples",
			"100", "--out", model}},
		{app.ExitFailure,
			"rank 1 of 2 ends all: " + filepath.Join(dir, "none.csv") + ": no such data file",
			[]string{"train",
				"--model", model, "--data", data, ":", "-n", "1", os.Args[0], "train", "--model", model,
				"--data", filepath.Join(dir, "none.csv")}},
		{app.ExitFailure, "rank 1 has other data than rank 0",
			[]string{"train", "--model", model, "--data", data, ":", "-n", "1",
				os.Args[0], "train", "--model", model, "--data", digits}},
	} {
		var out []byte
		var err error
		if i := strings.Index(strings.Join(c.args, " "), " : "); i < 0 {
			out, err = mpirun(t, 2, c.args...).CombinedOutput()
		} else {
			out, err = mpirun(t, 1, c.args...).CombinedOutput()
		}
		if exitOf(t, err) != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v, wanted exit code %d and %q:\n%s", c.args, err, c.code, c.want, out)
		}
		if _, err := os.Stat(model); err == nil {
			t.Errorf("%v: wrote %s", c.args, model)
		}
	}
}

// TestRankKilled: when a rank is killed all end within 10 seconds, and mpirun names it.
func TestRankKilled(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.npz")
	succeed(t, "synth", "--examples", "3000", "--features", "20", "--classes", "5", "--out", data)
	c := mpirun(t, 3, "train", "--data", data, "--model", model, "--learner", "uma", "--max-steps",
		"100000000", "--tol", "0", "--verbose")
	var out transcript
	c.Stdout, c.Stderr = &out, &out
	marker := "UMA_GPU_TEST_MARK=" + dir
	c.Env = append(c.Env, marker)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := rankProcess(t, marker, 2)
	out.waitFor(t, "step 3:")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	code := exitOf(t, c.Wait())
	if took := time.Since(begin); code == 0 || took > 10*time.Second || !blames(out.String(), 2, pid) {
		t.Errorf("exit code %d after %v:\n%.2000s", code, took, out.String()[max(0,
			len(out.String())-2000):])
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("wrote a model")
	}
}

// rankProcess waits for the process of a rank that has marker in its environment.
func rankProcess(t *testing.T, marker string, rank int) int {
	t.Helper()
	for t.Context().Err() == nil {
		processes, _ := os.ReadDir("/proc")
		for _, p := range processes {
			pid, err := strconv.Atoi(p.Name())
			if err != nil {
				continue
			}
			env, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
			number := fmt.Appendf(nil, "\x00%s=%d\x00", rankVariable, rank)
			if bytes.Contains(env, []byte(marker)) && bytes.Contains(env, number) {
				return pid
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("found no process of rank %d", rank)
	return 0
}
