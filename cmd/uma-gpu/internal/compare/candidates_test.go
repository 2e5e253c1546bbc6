package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestExpand(t *testing.T) {
	for text, want := range map[string][]string{
		"": {""}, "a b": {"a b"}, "{a|b}": {"a", "b"}, "x{1|2}y{|3}": {"x1y", "x1y3", "x2y", "x2y3"},
		"{maxabs,bias}": {"maxabs,bias"},
	} {
		if got, err := expand(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: found %q, %v, wanted %q", text, got, err, want)
		}
	}
	for _, text := range []string{"{a", "a}", "{a{b}}", "}{", "{a}}"} {
		if got, err := expand(text); err == nil {
			t.Errorf("%q: found %q", text, got)
		}
	}
	_, err := expand(strings.Repeat("{a|b}", 10))
	if !facts.Told(err, "1000 trainings") {
		t.Errorf("found %v", err)
	}
	if _, err := expand(strings.Repeat("{a|b}", 100)); err == nil {
		t.Error("2^100 trainings are not too many")
	}
}

func TestTrainFlags(t *testing.T) {
	for _, c := range [][3]string{
		{"--l2 1", "", "--l2 1 --confusion C.csv"},
		{"--confusion D.csv", "D.csv", "--confusion D.csv"},
		{"--confusion none --correction none", noConfusion, "--correction none"},
		{"--learn-confusion --confusion=none", noConfusion, "--learn-confusion"},
		{"-confusion none", noConfusion, ""},
		{"--confusion identity --l2 1", "identity", "--l2 1"},
		{"--confusion em --l2 1", "em", "--l2 1 --confusion estimate.csv"},
		{"--confusion=./em --l2 1", "./em", "--l2 1 --confusion ./em"},
	} {
		way := candidate{&training.Options{Noise: app.Noise{Path: c[1]}}, c[0]}
		if got := trainFlags(way, "C.csv"); got != c[2] {
			t.Errorf("%q: found %q, wanted %q", c[0], got, c[2])
		}
	}
}

func TestSpread(t *testing.T) {
	for text, want := range map[string]string{
		"0.01..10:log7": "0.01 0.0316228 0.1 0.316228 1 3.16228 10", "-1..1:lin3": "-1 0 1",
		"1e-2..1:log2": "1e-2 1",
		"a":            "a", "": "", "../C.csv": "../C.csv", "mix:0.1": "mix:0.1",
	} {
		if got, err := spread(text); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: found %q, %v, wanted %q", text, got, err, want)
		}
	}
	for _, text := range []string{"1..2:log", "1..2:cubic3", "2..1:log3", "0..1:log3", "1..2:log1",
		"1..2:lin1001", "a..b:log2"} {
		if got, err := spread(text); err == nil {
			t.Errorf("%q: found %q", text, got)
		}
	}
	if got, err := expand("x {1|2..4:lin3}"); err != nil || !slices.Equal(got, []string{"x 1",
		"x 2", "x 3", "x 4"}) {
		t.Errorf("found %q, %v", got, err)
	}
}
