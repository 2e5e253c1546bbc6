package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestQuick measures real sets with all learners, once.
func TestQuick(t *testing.T) {
	dir := t.TempDir()
	kept, page := filepath.Join(dir, "results.jsonl"), filepath.Join(dir, "page.md")
	write(t, page, []byte("# Learners\n\n"+mark))
	args := []string{"learners", "-quick", "-data", "../testdata", "-results", kept, "-page", page}
	var out, said bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := start(ctx, args, &out, &said); code != 130 || !facts.Told(said.String(), "goes on") {
		t.Fatalf("interrupted: code %d, %q", code, said.String())
	}
	if code := start(t.Context(), args, &out, &said); code != 0 {
		t.Fatalf("code %d: %s", code, said.String())
	}
	first, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| digits | 300 | 300 | 64 | 10 |",
		"| letter | 400 | 400 | 16 | 26 |", "2 of 2 pairs of a set and a noise"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the page lacks %q:\n%s", want, first)
		}
	}
	if strings.Contains(string(first), "Not measured yet") || strings.Contains(string(first), "–") {
		t.Errorf("the page lacks figures:\n%s", first)
	}
	// What is known is not measured again.
	said.Reset()
	if code := start(t.Context(), args, &out, &said); code != 0 || said.Len() != 0 {
		t.Errorf("the second time: code %d, %q", code, said.String())
	}
	if again, err := os.ReadFile(page); err != nil || !bytes.Equal(first, again) || out.Len() != 0 {
		t.Errorf("the second page differs: %v, stdout %q", err, out.String())
	}
	if code := start(t.Context(), append(args, "-held", "-sets", "digits"), &out, &said); code != 0 {
		t.Fatalf("held out: code %d: %s", code, said.String())
	}
	chosen := "| digits, pairwise 40 %, 1 | softmax"
	if again, err := os.ReadFile(page); err != nil || !strings.Contains(string(again), chosen) {
		t.Errorf("held out: %v, the page does not say what is chosen:\n%s", err, again)
	}
	r, err := openResults[key, result](kept)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	choices, err := parse(ways)
	if err != nil {
		t.Fatal(err)
	}
	p := plan{sets: quickSets, ways: choices, seeds: 1}
	errorOf := func(way string) float64 {
		for _, w := range choices {
			if w.name == way {
				return r.found[p.key(quickSets[0], pairwise(0.4), w, 1)].Error
			}
		}
		t.Fatalf("no way %q", way)
		return 0
	}
	if known, blind := errorOf("softmax"), errorOf("softmax none"); known == 0 || known > blind-0.1 {
		t.Errorf("softmax errs %v with C and %v without, wanted much less with it", known, blind)
	}
}

func TestRunRefuses(t *testing.T) {
	empty := t.TempDir()
	damaged := filepath.Join(empty, "damaged")
	write(t, damaged, []byte("no\n"))
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"-h"}, 0, "-data folder"},
		{nil, 2, "-data missing"},
		{[]string{"-data", "d", "-seeds", "0"}, 2, "-seeds"},
		{[]string{"-data", "d", "more"}, 2, `"more" 0`},
		{[]string{"-data", "d", "-sets", "lettre"}, 2, `"lettre"`},
		{[]string{"-data", empty, "-sets", "wine,optdigits"}, 1, "none sets"},
		{[]string{"-data", empty, "-sets", "wine"}, 1, "wine left out"},
		{[]string{"-data", empty, "-results", damaged}, 1, "damaged:1 result"},
		{[]string{"-data", empty, "-device", "none"}, 1, "unknown name"},
		{[]string{"-data", empty, "-page", filepath.Join(empty, "none")}, 1, "none file"},
	} {
		var out, said bytes.Buffer
		code := start(t.Context(), append([]string{"learners"}, c.args...), &out, &said)
		if code != c.code || out.Len() != 0 || !facts.Told(said.String(), c.said) {
			t.Errorf("%q: code %d, %q, stdout %q; want %d, %q and no output", c.args, code, said.String(),
				out.String(), c.code, c.said)
		}
	}
}

func TestChoose(t *testing.T) {
	choices, err := parse(ways)
	if err != nil {
		t.Fatal(err)
	}
	p := plan{sets: sets, ways: choices, seeds: 2}
	chosen, err := p.choose("wine,labelme")
	if err != nil || len(chosen.sets) != 2 || len(chosen.ways) != len(ways) || chosen.seeds != 2 ||
		chosen.sets[1].name != "labelme" || len(chosen.sets[1].noises) != 2 {
		t.Fatalf("found %+v, %v", chosen, err)
	}
	all, err := p.choose("")
	if err != nil || len(all.sets) != len(sets) || len(all.ways) != len(ways) ||
		len(all.sets[0].noises) != len(injected) {
		t.Errorf("found %d sets and %d ways, %v", len(all.sets), len(all.ways), err)
	}
}

// TestStart lists the measurements, and names are unique.
func TestStart(t *testing.T) {
	var out, said bytes.Buffer
	code := start(t.Context(), nil, &out, &said)
	if code != 2 || !facts.Told(said.String(), "docs/weights-table.md") {
		t.Errorf("without arguments: code %d, %q", code, said.String())
	}
	seen := map[string]bool{}
	for _, m := range measurements() {
		if seen[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		seen[m.name] = true
	}
}

// TestWeights measures ways of UMA, whose page has tables of its own.
func TestWeights(t *testing.T) {
	var out, said bytes.Buffer
	args := []string{"weights", "-quick", "-data", "../testdata", "-sets", "digits"}
	if code := start(t.Context(), args, &out, &said); code != 0 {
		t.Fatalf("code %d: %s", code, said.String())
	}
	for _, want := range []string{"## Mean of all sets", "| all, doubt 1.4 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
