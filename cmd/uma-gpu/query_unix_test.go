//go:build unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
)

// TestQueryKills kills a session at random instants of each round, and goes on by the same
// command: to the files of a session that nothing stopped.
func TestQueryKills(t *testing.T) {
	r := newRandom(t)
	dir := t.TempDir()
	t.Chdir(dir)
	leaves(t, dir, "few.csv", 0, 6)
	tree := leaves(t, dir, "pool.csv", 6, 300)
	begin := []string{"query", "--pool", "pool.csv", "--labelled", "few.csv", "--id", "id", "--show",
		"text", "--label-column", "tree"}
	commands := func(s string, run func(args []string)) map[string]string {
		run(with(begin, "--session", s))
		for round := 1; round < 3; round++ {
			file := fmt.Sprintf("%s/round-%d.csv", s, round)
			fillIn(t, file, "a.csv", tree, 0)
			run([]string{"query", "--session", s, "--answers", "a.csv"})
		}
		return folder(t, s)
	}
	var took time.Duration
	want := commands("whole", func(args []string) {
		start := time.Now()
		if out, err := processOf(t, "", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		took = max(took, time.Since(start))
	})
	// A session that ends before the first kill shows nothing: another one follows, whose kills come
	// sooner.
	killed, session, got := 0, "", map[string]string(nil)
	for round := 0; killed == 0; round++ {
		session = fmt.Sprintf("killed-%d", round)
		longest := 1.2 * float64(took>>round)
		got = commands(session, func(args []string) {
			for most := killed + 2; ; {
				wait := time.Duration(r.Float64() * longest)
				if killed >= most {
					wait = time.Hour
				}
				var said bytes.Buffer
				p := processOf(t, "", args...)
				p.Stderr = &said
				if !kill(t, p, wait) {
					if !p.ProcessState.Success() {
						t.Fatalf("uma-gpu %s: %s", strings.Join(args, " "), said.String())
					}
					return
				}
				killed++
			}
		})
	}
	if !maps.Equal(got, want) {
		t.Errorf("killed %d times, the session differs", killed)
	}
	if _, err := os.Stat(session + "/model.npz"); err != nil {
		t.Error(err)
	}
}
