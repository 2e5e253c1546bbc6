package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// train --json has what an online learner tells of each pass.
func TestPassesInJSON(t *testing.T) {
	printed, _ := succeed(t, "train", "--data", digits, "--learner", "copa", "--epochs", "3", "--json",
		"--quiet", "--model", filepath.Join(t.TempDir(), "m.npz"))
	var report struct {
		Steps  int
		Passes []map[string]float64
	}
	if err := json.Unmarshal([]byte(printed), &report); err != nil {
		t.Fatal(err)
	}
	if report.Steps != 3 || len(report.Passes) != 3 {
		t.Fatalf("found %d passes of %d steps, wanted 3", len(report.Passes), report.Steps)
	}
	for k, p := range report.Passes {
		if p["step"] != float64(k+1) || p["updates"] == 0 || p["mistakes"] == 0 ||
			p["confusion_risk"] == 0 || p["bound"] <= p["confusion_risk"] {
			t.Errorf("pass %d is %v, wanted its mistakes, updates, risk and a bound above that", k+1, p)
		}
	}
}

// Each online learner has all options of the family: passes and what they tell, the order, the
// average, weights of the classes, steps through C, the best pass, checkpoints, a model to begin
// with, and streams.
func TestOnlineOptions(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var rows strings.Builder
	for i := range 90 {
		k := []int{0, 0, 0, 1, 1, 2}[i%6]
		fmt.Fprintf(&rows, "%d,%d,%d,%c\n", (i*i*7+i)%31+9*k, (i*i*5)%29-9*k, i*i*3%23, 'a'+k)
	}
	data, matrix := at("noisy.csv"), at("C.csv")
	succeed(t, "confusion", "inject", "--data", write(t, dir, "right.csv", rows.String()),
		"--pairwise", "0.2", "--out", data, "--write-confusion", matrix)
	online := 0
	for _, d := range catalog.All() {
		if !d.Uncounted {
			continue
		}
		online++
		model := func(flags string) ([]byte, train.Report) {
			t.Helper()
			m := at("m.npz")
			if !strings.Contains(flags, "--from") && !strings.Contains(flags, "--resume") {
				flags += " --normalize bias,l2"
			}
			printed, _ := succeed(t, append([]string{"train", "--data", data, "--device", "cpu", "--learner",
				d.Name, "--model", m, "--json", "--quiet"}, strings.Fields(flags)...)...)
			return member(t, m, "W.npy"), decode[train.Report](t, printed)
		}
		plain, r := model("--epochs 3")
		if len(r.Passes) != 3 || slices.ContainsFunc(r.Passes, func(p map[string]any) bool {
			return p["mistakes"].(float64) == 0 || p["updates"].(float64) == 0
		}) {
			t.Errorf("%s: found passes %v, wanted 3 with mistakes and updates", d.Name, r.Passes)
		}
		change := []string{"--no-shuffle", "--no-average", "--correction steps --confusion " + matrix}
		if _, ok := learners.Lookup(d.New(), "class_weights"); ok {
			change = append(change, "--class-weights balanced")
		}
		for _, flags := range change {
			if other, _ := model("--epochs 3 " + flags); bytes.Equal(other, plain) {
				t.Errorf("%s: %s changes no weight", d.Name, flags)
			}
		}
		_, best := model("--epochs 5 --weights best --confusion " + matrix)
		for _, p := range best.Passes {
			if p["estimated_error"].(float64) < best.EstimatedError {
				t.Errorf("%s: the best pass errs on %v, found one of %v", d.Name, best.EstimatedError, p)
			}
		}
		model("--epochs 2 --every 1 --checkpoint " + at("k.npz"))
		if on, _ := model("--epochs 3 --resume " + at("k.npz")); !bytes.Equal(on, plain) {
			t.Errorf("%s: gone on after two passes it has other weights", d.Name)
		}
		straight, _ := model("--epochs 3 --no-shuffle --no-average")
		model("--epochs 2 --no-shuffle --no-average")
		two := write(t, dir, "two.npz", string(read(t, at("m.npz"))))
		if on, _ := model("--epochs 1 --no-shuffle --no-average --from " + two); !bytes.Equal(on,
			straight) {
			t.Errorf("%s: two passes and one are not three", d.Name)
		}
		if d.Name == "copa" {
			continue
		}
		whole, _ := model("--epochs 1 --no-shuffle")
		if parts, _ := model("--stream"); !bytes.Equal(parts, whole) {
			t.Errorf("%s: a stream gave other weights than the file", d.Name)
		}
	}
	if online != 7 {
		t.Errorf("found %d online learners, wanted 7", online)
	}
}
