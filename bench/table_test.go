package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// small is a plan of two ways, whose results are easily computed.
func small(t *testing.T) table {
	t.Helper()
	human := noise{name: "people", human: true}
	p := plan{seeds: 3, ways: []choice{{way: way{"one", "--learner x", false}, how: "x"},
		{way: way{"two", "--learner y", true}, how: "y"}},
		sets: []set{{name: "big", noises: []noise{right, pairwise(0.2), symmetric(0.4)}},
			{name: "tiny", noises: []noise{human}}, {name: "absent", noises: []noise{pairwise(0.2)}}}}
	r := &results[key, result]{found: map[key]result{}}
	add := func(set, noise, how string, blind bool, errors ...float64) {
		for i, e := range errors {
			v := result{key: key{set, noise, i + 1, how, blind}, shape: shape{5000, 500, 64, 4, "l2"},
				Wrong: 0.25, Error: e, Seconds: 100 * e}
			if e < 0 {
				v.Error, v.Seconds, v.Failed = 0, 0, "a|b"
			}
			if err := r.add(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	add("big", "none", "x", false, .125, .125, .125)
	add("big", "none", "y", false, .125, .125, .125)
	add("big", "pairwise 20 %", "x", false, .25, .5, .75)
	add("big", "pairwise 20 %", "y", true, .75, .75, .75)
	add("big", "symmetric 40 %", "x", false, .5, -1)
	add("big", "symmetric 40 %", "y", true, .5)
	add("tiny", "people", "x", false, .25)
	return table{plan: p, results: r, machine: "a machine"}
}

// TestMarkdown checks every computed line of small tables by hand.
func TestMarkdown(t *testing.T) {
	got := small(t).markdown()
	for _, want := range []string{
		"| one | `--learner x` | the true one |\n| two | `--learner y` | none, that is the identity |\n",
		"\n## Noise: none\n\n| set | one | two |\n|---|--:|--:|\n| big | **12.5 ± 0.0** | **12.5 ± " +
			"0.0** |\n\n",
		"\n## Noise: pairwise 20 %\n\n| set | one | two |\n|---|--:|--:|\n| big | **50.0 ± 25.0** | " +
			"75.0 ± 0.0 |\n\n",
		"| big | fails 1 of 2 | **50.0 (1)** |\n",
		// pairwise: 50 and 75; symmetric: (50 + 75)/2 and 50.
		"Every learner was measured on 2 of 2 pairs of a set and a noise.\n",
		"| one | 56.2 | 1.50 | 6.2 | 12.5 (big, symmetric 40 %) |\n| two | 62.5 | 1.50 | 12.5 | 25.0 " +
			"(big, pairwise 20 %) |\n",
		"0 of 1 pairs",
		"| tiny, people, 25.0 % | **25.0 (1)** | – |\n",
		"| one | 1 of 9 | a\\|b |\n",
		"on a machine.\n",
		"| big | 25 | 50 |\n| tiny | 25 | – |\n\n",
		"| big | 5000 | 500 | 64 | 4 | `l2` |\n",
		"Not measured yet are 14 of 30 trainings: big 3 of 18, tiny 5 of 6, absent 6 of 6.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables lack\n%s\nthey are\n%s", want, got)
		}
	}
	if strings.Contains(got, "| absent") {
		t.Errorf("a table has a set that was not measured:\n%s", got)
	}
}

func TestSeconds(t *testing.T) {
	for v, want := range map[float64]string{
		0.00042: "0.0004", 0.0123: "0.012", 0.129: "0.13", 1.26: "1.3", 12.6: "13", 131: "131",
	} {
		if got := seconds(v); got != want {
			t.Errorf("%v: found %s, want %s", v, got, want)
		}
	}
}

func TestWritePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	write(t, path, []byte("# Learners\n\nText.\n\n"+mark+"\nold\n"))
	for range 2 {
		if err := writePage(path, "\nnew\n"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil ||
		string(text) != "# Learners\n\nText.\n\n"+mark+"\nnew\n" {
		t.Errorf("found %q, %v", text, err)
	}
	write(t, path, []byte("# Learners\n"))
	if err := writePage(path, "new"); !facts.Told(err, "line") {
		t.Errorf("a page without a mark: error %v", err)
	}
	if err := writePage(path+"x", "new"); err == nil {
		t.Error("no page is no error")
	}
}
