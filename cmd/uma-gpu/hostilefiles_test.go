package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// whole are command lines that succeed, with the files of hostileWorld; OUT is a new file.
var whole = []string{
	"train --quiet --data d.csv --model OUT.npz --max-steps 2",
	"train --data d.csv --confusion C.csv --model OUT.npz --max-steps 2 --learner uma",
	"train --data d.csv --resume k.npz --model OUT.npz --max-steps 9",
	"train --data d.csv --from m.npz --model OUT.npz --max-steps 2",
	"train --data X.npy --labels y.txt --model OUT.npz --max-steps 2",
	"train --data d.csv --annotators A.csv --learner softmax --model OUT.npz --max-steps 2",
	"predict --model m.npz --data d.csv --out OUT.txt",
	"eval --model m.npz --data d.csv --confusion C.csv",
	"cv --data d.csv --confusion C.csv --folds 2 --max-steps 2",
	"cv --data d.csv --confusion C.csv --folds 2 --try --max-steps=2 --try --max-steps=3",
	"issues --data d.csv --confusion C.csv --out OUT.csv",
	"calibrate --model m.npz --data d.csv --confusion C.csv --out OUT.npz",
	"report --model m.npz --data d.csv",
	"inspect --model m.npz",
	"export --model m.npz --out OUT.onnx",
	"query --data d.csv --out OUT.csv",
	"info --data d.csv",
	"split --data d.csv --fractions 0.5 --out OUT.csv",
	"convert --data d.csv --out OUT.npz",
	"confusion inject --data d.csv --confusion C.csv --out OUT.csv",
	"confusion check --data d.csv --confusion C.csv",
}

// hostileWorld makes the files of whole in dir.
func hostileWorld(t *testing.T, dir string) {
	t.Helper()
	hostileData(t, dir)
	for old, new := range map[string]string{"x.npy": "X.npy"} {
		if err := os.Rename(filepath.Join(dir, old), filepath.Join(dir, new)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	write(t, dir, "C.csv",
		"noisy\\true,ash,elm,oak\nash,0.8,0.1,0.1\nelm,0.1,0.8,0.1\noak,0.1,0.1,0.8\n")
	table := "index,worker,label\n"
	for i := range 60 {
		for w := range 3 {
			table += strings.Join([]string{itoa(i), "w" + itoa(w), []string{"ash", "oak", "elm"}[i%3]},
				",") + "\n"
		}
	}
	write(t, dir, "A.csv", table)
	for _, line := range []string{
		"train --data d.csv --model m.npz --max-steps 5 --hold-out 0.3",
		"train --data d.csv --model k2.npz --max-steps 3 --learner uma --checkpoint k.npz --every 2",
		"train --data d.csv --model r.npz --learner kernelmean --kernel rbf --gamma 1",
	} {
		succeed(t, append(strings.Fields(line), "--quiet")...)
	}
}

func itoa(i int) string { return string(rune('0'+i/10)) + string(rune('0'+i%10)) }

// TestHostileCommands: every command whose command line is right but for one file: an input that
// is not there, cannot be read, or holds something else, or an output that cannot be written.
func TestHostileCommands(t *testing.T) {
	dir := t.TempDir()
	hostileWorld(t, dir)
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir("folder", 0o777), os.Symlink("loop", "loop"), os.Symlink("nowhere", "dangling"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := names(t, dir)
	rng := rand.New(rand.NewPCG(83, 84))
	tried, lines := 0, 0
	try := func(words []string, at int, file, what string) {
		t.Helper()
		if tried++; later(tried, lines, 8) {
			return
		}
		h := hostile{name: strings.Join(words, " ") + ": " + what + " for " + words[at],
			args: slices.Clone(words), dir: dir, file: file}
		for k, word := range words {
			if strings.HasPrefix(word, "OUT.") {
				h.made = "new" + word[3:]
				h.args[k] = h.made
			}
		}
		if strings.HasPrefix(what, "bit ") { // which may say nothing
			h.want, _ = succeed(t, h.args...)
			h.want = strings.ReplaceAll(h.want, words[at], file)
			if h.made != "" {
				h.content = read(t, h.made)
				if err := os.Remove(h.made); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.args[at] = file
		h.judge(t)
	}
	outputs := []string{"none/f", "folder", "folder/", "loop", "dangling", "d.csv/f", os.DevNull,
		strings.Repeat("x", 300)}
	for _, line := range whole {
		words := strings.Fields(line)
		lines++
		for at, word := range words {
			switch {
			case strings.HasPrefix(word, "OUT."):
				for _, place := range outputs {
					try(words, at, place, place[:min(20, len(place))])
				}
			case slices.Contains(files, word):
				for _, place := range []string{"none" + filepath.Ext(word), "folder", "loop", "d.csv/f", ""} {
					if place == "" {
						place = "dangling"
					}
					try(words, at, place, place)
				}
				damages := append([]damage{nothing}, always()[4:]...)
				if filepath.Ext(word) == ".npz" {
					damages = slices.Concat(always(), flips(rng, 6**hostileFactor))
				}
				raw := read(t, path(word))
				for _, d := range damages {
					bad := "bad" + filepath.Ext(word)
					if err := os.WriteFile(bad, d.do(bytes.Clone(raw)), 0o666); err != nil {
						t.Fatal(err)
					}
					try(words, at, bad, d.name)
					if err := os.Remove(bad); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	t.Logf("%d command lines", tried)
	if tried < 500 {
		t.Errorf("only %d command lines", tried)
	}
}
