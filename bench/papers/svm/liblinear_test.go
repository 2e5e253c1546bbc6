package svm_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/bench/papers/svm"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
)

// overLIBLINEAR is the problem of testdata/liblinear.py.
func overLIBLINEAR(q int) *learners.Problem {
	p := &learners.Problem{Q: q, Engine: cpuref.New(), X: dataset.Examples{N: 60, D: 6}}
	for i := range 60 {
		for j := range 6 {
			p.X.X = append(p.X.X, float32((i*7+j*13+i*j*5+i*i)%17-8)/8)
		}
		row, y := p.X.Row(i), 0
		side := row[0] + row[1]/2 - row[3]
		for _, from := range map[int][]float32{2: {0}, 4: {-0.7, 0, 0.7}}[q] {
			if side > from || q == 4 && side == from {
				y++
			}
		}
		if i%7 == 3 {
			y = (y + 1) % q
		}
		p.Y = append(p.Y, int32(y))
	}
	return p
}

// learned returns the weights of a run to its end.
func learned(t *testing.T, params *svm.Params, p *learners.Problem) []float32 {
	t.Helper()
	r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 1000000})
	if err != nil {
		t.Fatal(err)
	}
	if r.Stop != host.Converged {
		t.Fatalf("%+v: ended by %s after %d steps, wanted %s", params, r.Stop, r.Steps, host.Converged)
	}
	return r.W.W
}

// objective returns what is minimised.
func objective(p *learners.Problem, o *svm.Params, w []float64) float64 {
	sum, d := 0.0, p.X.D
	for _, v := range w {
		sum += v * v / 2
	}
	for i, y := range p.Y {
		scores := make([]float64, p.Q)
		for r := range scores {
			for j, v := range p.X.Row(i) {
				scores[r] += w[r*d+j] * float64(v)
			}
		}
		for r, s := range scores {
			missed := max(0, 1+s)
			if r == int(y) {
				missed = max(0, 1-s)
			}
			if o.Loss == svm.Squared {
				missed *= missed
			}
			sum += o.Cost * missed
		}
	}
	return sum
}

// TestLIBLINEAR compares weights with LIBLINEAR's, which testdata/liblinear.py wrote and
// scikit-learn's LinearSVC found as well: weights to 1e-5 of the largest, the objective to 1e-7.
func TestLIBLINEAR(t *testing.T) {
	f, err := os.Open("testdata/liblinear.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, judged := bufio.NewScanner(f), 0
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var v []float64
		for _, field := range strings.Split(lines.Text(), ",") {
			f, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, f)
		}
		solver, cost, q, want := v[0], v[1], int(v[2]), v[3:]
		p, params := overLIBLINEAR(q), svm.Defaults()
		params.Cost, params.Tolerance = cost, 1e-8
		if solver == 3 {
			params.Loss = svm.Hinge
		}
		if q == 2 { // whose first row is the mirror image
			mirrored := make([]float64, 0, 2*len(want))
			for _, v := range want {
				mirrored = append(mirrored, -v)
			}
			want = append(mirrored, want...)
		}
		w := learned(t, params, p)
		found, largest := make([]float64, len(w)), 0.0
		for k, v := range w {
			found[k] = float64(v)
			largest = max(largest, math.Abs(want[k]))
		}
		for k, v := range found {
			if math.Abs(v-want[k]) > 1e-5*largest {
				t.Errorf("-s %v -c %v, %d classes: weight %d is %v, LIBLINEAR's %v", solver, cost, q, k, v,
					want[k])
			}
		}
		if own, theirs := objective(p, params, found), objective(p, params,
			want); math.Abs(own-theirs) > 1e-7*theirs {
			t.Errorf("-s %v -c %v, %d classes: the objective is %v, LIBLINEAR's %v", solver, cost, q, own,
				theirs)
		}
		judged++
	}
	if err := lines.Err(); err != nil || judged != 12 {
		t.Errorf("%d solutions were compared (%v), wanted 12", judged, err)
	}
}
