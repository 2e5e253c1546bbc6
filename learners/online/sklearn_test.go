package online_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// overSKLearn is the problem of testdata/coefficients.py.
func overSKLearn(q int) *learners.Problem {
	p := &learners.Problem{Q: q, Engine: cpuref.New(), X: dataset.Examples{N: 60, D: 6}}
	for i := range 60 {
		for j := range 6 {
			p.X.X = append(p.X.X, float32((i*7+j*13+i*j*5+i*i)%17-8)/8)
		}
		row, y := p.X.Row(i), 0
		switch side := row[0] + row[1]/2 - row[3]; {
		case q == 2 && side > 0 || q == 3 && side >= -0.5 && side < 0.5:
			y = 1
		case q == 3 && side >= 0.5:
			y = 2
		}
		if i%7 == 3 {
			y = (y + 1) % q
		}
		p.Y = append(p.Y, int32(y))
	}
	return p
}

// TestScikitLearn compares weights with scikit-learn's coefficients, which
// testdata/coefficients.py wrote: to 1e-5 of the largest.
func TestScikitLearn(t *testing.T) {
	f, err := os.Open("testdata/coefficients.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, judged := bufio.NewScanner(f), 0
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		if strings.HasPrefix(fields[0], "#") {
			continue
		}
		q, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		name, how, _ := strings.Cut(fields[0], " ")
		params := inOrderOf(name, how != "average", func(p *online.Params) {
			p.Multiclass = online.OVR
			if how == "balanced" {
				p.ClassWeights = learners.Balanced
			}
			if name != "perceptron" {
				p.Aggressiveness = 0.3
			}
		})
		w := train(t, params, overSKLearn(q), 5)
		if q == 2 { // whose second row is scikit-learn's only one
			w = w[6:]
		}
		want := make([]float64, len(w))
		largest := 0.0
		for k := range want {
			if want[k], err = strconv.ParseFloat(fields[2+k], 64); err != nil {
				t.Fatal(err)
			}
			largest = max(largest, math.Abs(want[k]))
		}
		for k, v := range w {
			if math.Abs(float64(v)-want[k]) > 1e-5*largest {
				t.Errorf("%s, %d classes: weight %d is %v, scikit-learn's %v", fields[0], q, k, v, want[k])
			}
		}
		judged++
	}
	if err := lines.Err(); err != nil || judged != 13 {
		t.Errorf("%d learners were compared (%v), wanted 13", judged, err)
	}
}
