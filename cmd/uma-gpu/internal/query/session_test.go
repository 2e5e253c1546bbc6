package query

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestCompare(t *testing.T) {
	// 4 of 6 agree; by chance ½·⅓ + ½·⅔ = ½ would.
	a := compare([]int32{0, 0, 0, 1, 1, 1}, []int32{0, 0, 1, 1, 1, 0}, 2)
	if math.Abs(a.Changed-1./3) > 1e-15 || math.Abs(a.Kappa-1./3) > 1e-15 {
		t.Errorf("found %+v", a)
	}
	if a := compare([]int32{1, 1}, []int32{1, 1}, 3); a.Changed != 0 || a.Kappa != 1 {
		t.Errorf("found %+v", a)
	}
	if a := compare([]int32{1, 1}, []int32{0, 0}, 3); a.Changed != 1 || a.Kappa != 0 {
		t.Errorf("found %+v", a)
	}
	for _, c := range []struct {
		kappas []float64
		want   bool
	}{{nil, false}, {[]float64{1, 1}, false}, {[]float64{0, 1, 0.99, 0.985}, true},
		{[]float64{1, 1, 1, 0.9}, false}} {
		var s session
		for _, k := range c.kappas {
			s.Rounds = append(s.Rounds, round{Agreement: &agreement{Kappa: k}}, round{})
		}
		if (s.steady() != nil) != c.want {
			t.Errorf("%v: wanted %v", c.kappas, c.want)
		}
	}
}

func exampleSession() *session {
	return &session{Settings: map[string]string{"k": "2", "pool": "<p>.csv"}, Pool: "ab",
		Classes: []string{"<a", "b"}, Examples: 5, Predicted: []int32{0, 1, 0, 1, 1}, Rounds: []round{
			{Asked: []int{4, 2}, Answers: []int32{1, active.Aside}},
			{Asked: []int{0, 3}, Answers: []int32{active.Unknown, 0}, Agreement: &agreement{0.2, 0.5}}}}
}

func TestSessionComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.json")
	for rounds := range 3 {
		s := exampleSession()
		if s.Rounds = s.Rounds[:rounds]; rounds == 0 {
			s.Rounds, s.Predicted = []round{}, []int32{}
		}
		if err := s.save(path); err != nil {
			t.Fatal(err)
		}
		got, err := loadSession(path)
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%d rounds: found %+v, %v, wanted %+v", rounds, got, err, s)
		}
	}
	s := exampleSession()
	want := []int32{active.Unknown, active.Unknown, active.Aside, 0, 1}
	if got := s.labels(); !slices.Equal(got, want) || s.open() != 1 {
		t.Errorf("found the labels %v, %d open", got, s.open())
	}
	if _, err := loadSession(path + "x"); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("found the error %v", err)
	}
}

// TestDamagedSession: whatever a file holds, it is read as it was, or the error names it.
func TestDamagedSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.json")
	if err := exampleSession().save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(text []byte, want string) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := loadSession(path)
		if err == nil && want != "" || err != nil && !facts.Told(err, want) ||
			err != nil && !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: found the error %v, wanted one with %q", text, err, want)
		}
	}
	for n := range len(bytes.TrimSpace(whole)) {
		try(whole[:n], "session")
	}
	for i := range whole {
		for _, c := range []byte("9-[") {
			changed := bytes.Clone(whole)
			changed[i] = c
			try(changed, "") // another number or text may be right
		}
	}
	for _, c := range [][3]string{
		{`"asked":[4,2]`, `"asked":[4,4]`, "example 4 0 round 1"},
		{`"asked":[4,2]`, `"asked":[4,5]`, "example 5"},
		{`"answers":[1,-2]`, `"answers":[1,-1]`, "answer -1 question 2 round 1"},
		{`"answers":[1,-2]`, `"answers":[2,-2]`, "answer 2 question 1"},
		{`"answers":[1,-2]`, `"answers":[1]`, "2 questions 1 answers"},
		{`"predicted":[0,`, `"predicted":[7,`, "prediction 7 example 0"},
		{`"predicted":[0,`, `"predicted":[`, "4 predictions 5"},
		{`"format_version":1`, `"format_version":2`, "format version 2"},
		{"\n]}\n", "\n]}\nmore", "session.json:4"},
	} {
		if !strings.Contains(string(whole), c[0]) {
			t.Fatalf("no %s in %s", c[0], whole)
		}
		try([]byte(strings.Replace(string(whole), c[0], c[1], 1)), c[2])
	}
}
