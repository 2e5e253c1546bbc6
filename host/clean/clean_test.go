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
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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
	for _, share := range []Share{r.Wrong, r.Error} {
		if share.Low != nil && !(0 <= *share.Low && *share.Low <= share.Value &&
			share.Value <= *share.High && *share.High <= 1) {
			t.Errorf("a share of %v is outside of its interval from %v to %v", share.Value, *share.Low,
				*share.High)
		}
	}
	if r.Shown && r.Wrong.Value < leastShown/2 {
		t.Errorf("wrong labels are shown, and are %v of all", r.Wrong.Value)
	}
	return r
}

// Wrong labels that depend on the class alone are found and mended, from the labels alone.
func TestWrongLabelsAreMended(t *testing.T) {
	d, right := rings(t, 600, 0.3, 1)
	r := find(t, d, nil, simd.New())
	if !r.Shown || r.Agreeing < r.Repetitions {
		t.Fatalf("%+v: want evidence of wrong labels", r.Hypotheses)
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
	if r.Noise.Unidentified != nil {
		t.Errorf("classes %v of right labels are not identified", r.Noise.Unidentified)
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
		t.Errorf("%s: %d of 600 classes are wrong", r.By, wrong)
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

// Checked rows that confirm all labels are evidence that labels are right.
func TestCheckedRowsConfirm(t *testing.T) {
	d, _ := rings(t, 300, 0, 4)
	checked := slices.Repeat([]int32{-1}, d.N)
	copy(checked[:50], d.Y)
	r := find(t, d, checked, simd.New())
	if r.Shown || r.Wrong.Value > 0.02 {
		t.Errorf("got %.3f wrong labels, shown %v", r.Wrong.Value, r.Shown)
	}
}

// All engines give the same bits, of any order of rows and classes.
func TestEnginesAndOrdersAgree(t *testing.T) {
	d, _ := rings(t, 200, 0.3, 4)
	o := Options{Options: host.Options{Engine: simd.New()}}
	a := find(t, d, nil, o.Engine)
	m, err := Learn(t.Context(), d, o, a)
	if err != nil {
		t.Fatal(err)
	}
	o.Engine = cpuref.New()
	b := find(t, d, nil, o.Engine)
	n, err := Learn(t.Context(), d, o, b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.True, b.True) || !slices.Equal(m.W, n.W) {
		t.Error("cpuref and simd differ")
	}
	turned := *d // the last row first, and classes in another order
	turned.Classes, turned.Y = []string{"c", "a", "b"}, make([]int32, d.N)
	turned.Examples.X = make([]float32, len(d.X))
	for i, y := range d.Y {
		to := d.N - 1 - i
		turned.Y[to] = (y + 1) % 3
		copy(turned.X[to*2:to*2+2], d.X[i*2:i*2+2])
	}
	c := find(t, &turned, nil, simd.New())
	for i, is := range a.Issues {
		if other := c.Issues[d.N-1-i]; math.Abs(is.Quality-other.Quality) > 1e-9 ||
			(is.Likely+1)%3 != other.Likely {
			t.Fatalf("row %d: got %+v, and %+v in another order", i, is, other)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	d, right := rings(t, 30, 0, 5)
	for _, o := range []Options{{Right: right[1:]}, {Probabilities: make([]float32, 30)},
		{Right: slices.Repeat([]int32{3}, 30)}} {
		o.Engine = simd.New()
		if _, err := Find(context.Background(), d, o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// The mixture has the models that predict held-out labels best: curved ones where classes lie
// within each other.
func TestCurvedClasses(t *testing.T) {
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
	r := find(t, d, nil, simd.New())
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

// Features that say nothing of the labels are no error: no class is identified, labels are left
// alone, but by an accident that is as rare as two standard errors, and all that predictions miss
// may be wrong.
func TestLabelsThatNothingTells(t *testing.T) {
	accidents := 0
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d, _ := rings(t, 200, 0, seed)
		for i := range d.Y {
			d.Y[i] = int32(rng.IntN(3))
		}
		r := find(t, d, nil, simd.New())
		if slices.ContainsFunc(r.Issues, func(is estimate.Issue) bool { return is.Wrong }) {
			accidents++
		}
		if r.Shown || !slices.Equal(r.Noise.Unidentified, []int{0, 1, 2}) {
			t.Errorf("draw %d: shown %v, classes %v are not identified", seed, r.Shown,
				r.Noise.Unidentified)
		}
		if high := r.Wrong.High; high != nil && *high < 0.5 {
			t.Errorf("draw %d: at most %v are wrong, and predictions miss two of three", seed, *high)
		}
	}
	if accidents > 1 {
		t.Errorf("labels of %d of 6 draws by chance are called wrong", accidents)
	}
}

// Where classes are not identified, examples that are most surely of them are named, in turn, if
// they have a label and nobody has checked them.
func TestToIdentify(t *testing.T) {
	c := &contest{data: &dataset.Dataset{}, q: 3}
	r := &Result{Noise: &estimate.Estimate{Unidentified: []int{0, 2}}}
	for i := range 90 {
		c.data.Y, c.right = append(c.data.Y, int32(i%3)), append(c.right, -1)
		p := make([]float32, 3)
		p[i/30] = float32(i) / 90
		r.True = append(r.True, p...)
	}
	c.data.N, c.data.Y[29], c.right[89] = 90, -1, 2
	want := append(lists.UpTo[int](29)[19:], lists.UpTo[int](89)[79:]...)
	if got := toIdentify(c, r); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if r.Noise.Unidentified = nil; toIdentify(c, r) != nil {
		t.Error("all classes are identified, and examples are named")
	}
}

// Evidence is none where nothing shows wrong labels, and unstable where repetitions disagree.
func TestEvidence(t *testing.T) {
	judged := []Hypothesis{{}}
	for want, r := range map[string]Result{
		"the confusion matrix, which was given": {},
		"none beyond classes that overlap: what seems wrong may be a rare but right label": {
			Hypotheses: judged, Repetitions: 2, Agreeing: 2},
		"held-out labels or checked rows show that labels are wrong; unstable: so in 3 of 5 " +
			"repetitions of the folds": {Hypotheses: judged, Shown: true, Repetitions: 5, Agreeing: 3},
	} {
		if got := r.Evidence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A model that is right everywhere is all of the mixture; of two that are right on a half each both
// have half.
func TestClimb(t *testing.T) {
	good, half, other := make([]float64, 100), make([]float64, 100), make([]float64, 100)
	for i := range good {
		good[i], half[i], other[i] = 0.9, 0.9, 0.1
		if i < 50 {
			half[i], other[i] = 0.1, 0.9
		}
	}
	if s := Shares([][]float64{half, good}); s[1] < 0.99 {
		t.Errorf("got %v, want all for the second", s)
	}
	if s := Shares([][]float64{half, other}); math.Abs(s[0]-0.5) > 1e-3 {
		t.Errorf("got %v, want halves", s)
	}
}
