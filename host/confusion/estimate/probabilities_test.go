package estimate

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestProbabilityFile(t *testing.T) {
	want := []float32{.9, .1, .25, .75, .5, .5}
	var wide []float64
	for _, v := range want {
		wide = append(wide, float64(v))
	}
	path := save(t, "p.npy", npyFile(npyDict("<f8", "False", "(3, 2)"), float64Bytes(wide...)))
	rows, err := ProbabilityFile(path, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got []float32
		err := rows(func(p []float32) error { got = append(got, p...); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	_, err = ConfidentJoint(names(2), []int32{0, 1, 0}, rows, false)
	if !errors.Is(err, ErrInSample) {
		t.Errorf("labels known by heart: %v", err)
	}
	for want, file := range map[string][]byte{
		"shape 2 2 3 2": npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1, 0, 0, 1)),
		"elements":      npyFile(npyDict("<i8", "False", "(3, 2)"), float64Bytes(wide...)),
		"Fortran":       npyFile(npyDict("<f8", "True", "(3, 2)"), float64Bytes(wide...)),
		"npy":           []byte("1,0\n"),
	} {
		if _, err := ProbabilityFile(save(t, "p.npy", file), 3, 2); !facts.Told(err, want) {
			t.Errorf("%v, wanted %q", err, want)
		}
	}
	cut := npyFile(npyDict("<f8", "False", "(3, 2)"), float64Bytes(1, math.Pi))
	if rows, err = ProbabilityFile(save(t, "p.npy", cut), 3, 2); err != nil {
		t.Fatal(err)
	}
	if err := rows(func([]float32) error { return nil }); !facts.Told(err,
		"whole") {
		t.Errorf("cut: %v", err)
	}
	if _, err := ProbabilityFile("none", 3, 2); !facts.Told(err, "none") {
		t.Errorf("no file: %v", err)
	}
}
