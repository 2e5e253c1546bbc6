package clean

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// rings has n examples of three classes around three points, and their true classes; wrong has a
// share of labels moved on to the next class.
func rings(t *testing.T, n int, wrong float64, seed uint64) (*dataset.Dataset, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := [][2]float64{{0, 0}, {3, 0}, {0, 3}}
	x := dataset.Examples{N: n, D: 2}
	d := &dataset.Dataset{Classes: []string{"a", "b", "c"}}
	var right []int32
	for range n {
		k := rng.IntN(3)
		x.X = append(x.X, float32(centres[k][0]+rng.NormFloat64()*0.7),
			float32(centres[k][1]+rng.NormFloat64()*0.7))
		y := k
		if rng.Float64() < wrong {
			y = (k + 1) % 3
		}
		right, d.Y = append(right, int32(k)), append(d.Y, int32(y))
	}
	d.Examples = x
	return d, right
}

func find(t *testing.T, d *dataset.Dataset, right []int32, e *engine.Engine) *Result {
	t.Helper()
	r, err := Find(context.Background(), d, Options{Right: right, Options: host.Options{Engine: e}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Wrong labels that depend on the class alone are found and mended, from the labels alone.
func TestWrongLabelsAreMended(t *testing.T) {
	d, right := rings(t, 600, 0.3, 1)
	r := find(t, d, nil, simd.New())
	if r.Noise == nil {
		t.Fatalf("chose %s, want one that doubts labels", r.Candidates[r.Chosen].Name)
	}
	if !(*r.Wrong.Low < 0.3 && 0.3 < *r.Wrong.High) {
		t.Errorf("wrong labels: got %v, want about 0.3", r.Wrong)
	}
	hit, flagged, wrong := 0, 0, 0
	for i, is := range r.Issues {
		if d.Y[i] != right[i] {
			wrong++
		}
		if is.Wrong {
			flagged++
			if is.Likely == right[i] && d.Y[i] != right[i] {
				hit++
			}
		}
	}
	if float64(hit) < 0.9*float64(wrong) || float64(hit) < 0.9*float64(flagged) {
		t.Errorf("mended %d of %d wrong labels, flagged %d", hit, wrong, flagged)
	}
}

// Labels that nothing shows to be wrong are left alone, and the model is that of labels as they
// are.
func TestRightLabelsAreLeftAlone(t *testing.T) {
	d, _ := rings(t, 600, 0, 2)
	r := find(t, d, nil, simd.New())
	flagged := 0
	for _, is := range r.Issues {
		if is.Wrong {
			flagged++
		}
	}
	if flagged > 6 {
		t.Errorf("flagged %d of 600 right labels", flagged)
	}
}

// Checked rows overrule noisy labels: where most labels of a class are another's, labels alone
// cannot say which is which.
func TestCheckedRowsDecide(t *testing.T) {
	d, right := rings(t, 600, 0.7, 3)
	checked := slices.Repeat([]int32{-1}, d.N)
	for i := range 80 {
		checked[i] = right[i]
	}
	r := find(t, d, checked, simd.New())
	wrong := 0
	for i := range d.N {
		if slices.Index(r.True[i*3:(i+1)*3], slices.Max(r.True[i*3:(i+1)*3])) != int(right[i]) {
			wrong++
		}
	}
	if wrong > 60 {
		t.Errorf("%s: %d of 600 classes are wrong", r.Candidates[r.Chosen].Name, wrong)
	}
	if !(*r.Wrong.Low < 0.7 && 0.7 < *r.Wrong.High) {
		t.Errorf("wrong labels: got %v, want about 0.7", r.Wrong)
	}
	for i := range 80 {
		if is := r.Issues[i]; is.Likely != right[i] || is.Wrong != (d.Y[i] != right[i]) {
			t.Fatalf("checked row %d: got %+v", i, is)
		}
	}
}

// All engines give the same bits.
func TestEnginesAgree(t *testing.T) {
	d, _ := rings(t, 200, 0.3, 4)
	a, b := find(t, d, nil, simd.New()), find(t, d, nil, cpuref.New())
	if !slices.Equal(a.True, b.True) || !slices.Equal(a.Model.W, b.Model.W) {
		t.Error("cpuref and simd differ")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	d, right := rings(t, 30, 0, 5)
	for _, o := range []Options{{Right: right[1:]}, {Folds: 1}, {Folds: 31},
		{Right: slices.Repeat([]int32{3}, 30)}} {
		o.Engine = simd.New()
		if _, err := Find(context.Background(), d, o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// Suspects takes the model that predicts labels held out best: a curved one or neighbours where
// classes lie within each other.
func TestSuspectsChooseTheirModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x := dataset.Examples{N: 600, D: 2}
	d := &dataset.Dataset{Classes: []string{"inner", "middle", "outer"}}
	var right []int32
	for range x.N {
		k := rng.IntN(3)
		sin, cos := math.Sincos(rng.Float64() * 2 * math.Pi)
		r := float64(k) + 0.5 + 0.1*rng.NormFloat64()
		x.X = append(x.X, float32(r*sin), float32(r*cos))
		y := k
		if rng.Float64() < 0.3 {
			y = (k + 1) % 3
		}
		right, d.Y = append(right, int32(k)), append(d.Y, int32(y))
	}
	d.Examples = x
	r, err := Suspects(context.Background(), d, Options{Options: host.Options{Engine: simd.New()}})
	if err != nil {
		t.Fatal(err)
	}
	agree := 0
	for i, is := range r.Issues {
		if is.Wrong == (d.Y[i] != right[i]) {
			agree++
		}
	}
	if agree < 540 {
		t.Errorf("%s: %d of 600 labels are judged rightly", r.By, agree)
	}
}

// Features that say nothing of the labels are no error: labels are left alone.
func TestLabelsThatNothingTells(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	d, _ := rings(t, 200, 0, 7)
	for i := range d.Y {
		d.Y[i] = int32(rng.IntN(3))
	}
	r := find(t, d, nil, simd.New())
	for i, is := range r.Issues {
		if is.Wrong && r.Noise == nil {
			t.Fatalf("row %d of chance is called wrong", i)
		}
	}
}

// Neighbours join a model as far as they make labels likelier: wholly one that knows nothing, and
// not at all if they know nothing.
func TestPoolOfNeighbours(t *testing.T) {
	d, _ := rings(t, 300, 0, 8)
	c, err := newContest(d, Options{Options: host.Options{Engine: simd.New()}})
	if err != nil {
		t.Fatal(err)
	}
	flat, sharp := make([]float32, 900), make([]float32, 900)
	for i, y := range d.Y {
		for k := range 3 {
			flat[i*3+k], sharp[i*3+k] = 1.0/3, 0.1
		}
		sharp[i*3+int(y)] = 0.8
	}
	for _, of := range []struct{ models, near []float32 }{{flat, sharp}, {sharp, flat}} {
		r := &Result{True: slices.Clone(of.models), By: "linear"}
		near := &candidate{way: way{neighbours: true}, p: of.near}
		if err := pool(t.Context(), c.Engine, &c.cases, r, near); err != nil {
			t.Fatal(err)
		}
		joined := r.By == "linear and nearest neighbours"
		if joined != (of.near[0] != of.near[1] || of.near[0] != of.near[2]) {
			t.Errorf("by %s", r.By)
		}
		for i, y := range d.Y {
			row := r.True[i*3 : (i+1)*3]
			if sum := row[0] + row[1] + row[2]; row[y] < 0.79 || sum < 0.999 || sum > 1.001 {
				t.Fatalf("row %d of class %d: got %v", i, y, row)
			}
		}
	}
}
