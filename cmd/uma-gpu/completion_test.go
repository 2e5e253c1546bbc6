package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		words string // separated by spaces; a space at the end begins a new word
		want  string // all that could come next, or some of it if it ends in …
		files bool
	}{
		{"", "train bootstrap …", false},
		{"comp", "compare compress completion", false},
		{"confusion ", "estimate inject show check", false},
		{"nothing ", "", false},
		{"train --confusion", "--confusion --confusion-axes", false},
		{"train --data ", "", true},
		{"train --dat", "--data", false},
		{"train --data d.csv --dat", "", false}, // once is enough
		{"split --out a.csv --ou", "--out", false},
		{"train --data d.csv ", "--model --learner --help …", false},
		{"train --normalize standardize,", "standardize,maxabs standardize,bias standardize,l2 …", false},
		{"train --format=l", "--format=libsvm", false},
		{"train --format ", "auto csv libsvm npy npz idx parquet arff binary", false},
		{"train --learner so", "softmax", false},
		{"train --learner uma --selec", "--select", false},
		{"train --learner uma --select r", "random", false},
		{"train --learner svm --selec", "", false},
		{"train --kernel ", "rbf poly linear cosine", false},
		{"train --confusion-axes ", "true-columns true-rows", false},
		{"train --storage ", "auto dense sparse narrow", false},
		{"train --inverse ", "exact pinv tikhonov mix", false},
		{"train --device c", "cpu cpu:plain", false},
		{"issues --clean-by ", "filter relabel", false},
		{"query --strategy m", "margin maxmin", false},
		{"predict --to ", "auto csv jsonl npy", false},
		{"kpca fit --landmark-choice ", "uniform kmeans++ farthest", false},
		{"bootstrap --dir ", "", true},
		{"confusion show ", "", true},
		{"learners loc", "localisation", false},
		{"completion ", "bash zsh fish", false},
		{"train --max-steps ", "", false},
	} {
		found, files := complete(newApp(io.Discard, io.Discard).Commands, strings.Split(c.words, " "))
		var words []string
		for _, i := range found {
			words = append(words, i.term)
		}
		want := strings.Fields(c.want)
		right := slices.Equal(words, want)
		if len(want) > 0 && want[len(want)-1] == "…" {
			right = !slices.ContainsFunc(want[:len(want)-1], func(w string) bool { return !slices.Contains(words, w) })
		}
		if !right || files != c.files {
			t.Errorf("%q: found %q, files %v, want %q, files %v", c.words, words, files, want, c.files)
		}
	}
}

// Every flag that oneOf checks lists its values in its help text, in a way that completion understands.
func TestListedValuesComplete(t *testing.T) {
	listed := strings.Fields("to format storage header confusion-axes clean-by axes landmark-choice kernel judge " +
		"match-features sampler atom-choice strategy")
	found := map[string]bool{}
	eachCommand(func(words []string, c *cli.Command) {
		for _, f := range shownFlags(c.Flags) {
			if name := f.Names()[0]; slices.Contains(listed, name) {
				if found[name] = true; len(valuesOf(f)) < 2 {
					t.Errorf("%s --%s: found the values %q in %q", strings.Join(words, " "), name, valuesOf(f), f.GetUsage())
				}
			}
		}
	})
	if len(found) != len(listed) {
		t.Errorf("found only %v", found)
	}
}

// The scripts complete in the shells that this machine has.
func TestCompletionInShells(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "uma-gpu")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+runVariable+"=1 exec '"+self+"' \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for shell, ask := range map[string]string{
		"bash": `. ./script
			line() { COMP_LINE="$1" COMP_POINT=${#1}; _uma_gpu uma-gpu 2>/dev/null; echo "${COMPREPLY[@]}"; }
			line "uma-gpu conf"; line "uma-gpu train --device cpu:"; line "uma-gpu train --format=l"`,
		"fish": `source ./script; for line in "conf" "train --device cpu:" "train --format=l"
			complete -C "uma-gpu $line" | string replace -r '\t.*' '' | string join ' '; end; true`,
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		script, _ := succeed(t, "completion", shell)
		write(t, dir, "script", script)
		run := exec.Command(path, "-c", ask)
		run.Dir, run.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		for _, want := range []string{"confusion\n", "plain\n", "libsvm\n"} {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, %q, wanted %q", shell, err, out, want)
			}
		}
	}
	if zsh, err := exec.LookPath("zsh"); err == nil {
		script, _ := succeed(t, "completion", "zsh")
		if out, err := exec.Command(zsh, "-n", write(t, dir, "script", script)).CombinedOutput(); err != nil {
			t.Errorf("zsh: %v\n%s", err, out)
		}
	}
	fail(t, exitUsage, `found "tcsh" for a shell, wanted bash, zsh or fish`, "completion", "tcsh")
}
