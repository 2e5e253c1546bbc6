package main

import (
	"errors"
	"testing"
)

// TestNoise: from labels with a third of them wrong the mean and softmax still learn, and the mean
// needs no C.
func TestNoise(t *testing.T) {
	var rows []Row
	r, s := smallRun(t, &rows)
	s.first = 700
	err := errors.Join(r.noiseRows(t.Context(), s, []float64{0, 0.2}), r.flush())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 12 || rows[0].Note == "" || rows[11].X != 0.2 || rows[11].Level != 1 {
		t.Fatalf("found %+v, wanted two levels of six learners", rows)
	}
	for k, right := range rows[:6] {
		noisy := rows[k+6]
		t.Logf("%s: %.3f, then %.3f", right.Learner, right.Mean, noisy.Mean)
		if right.Learner != noisy.Learner || right.Mean > 0.12 || noisy.Mean < right.Mean ||
			noisy.Mean > 0.25 {
			t.Errorf("found %+v and with noise %+v, wanted few errors, and then some more", right, noisy)
		}
	}
	if told, blind := rows[8].Mean, rows[6].Mean; told > blind+0.01 || blind > told+0.01 {
		t.Errorf("found an error of %.3f with C and %.3f without, wanted about the same", told, blind)
	}
}
