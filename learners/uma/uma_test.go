package uma

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

func invert(t *testing.T, m *confusion.Matrix, err error) *confusion.Inverse {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	inv, err := m.Invert()
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func identity(t *testing.T, q int) *confusion.Inverse {
	m, err := confusion.Symmetric([]string{"a", "b", "c", "d", "e", "f"}[:q], 0)
	return invert(t, m, err)
}

func TestBadParams(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		edit func(*Params)
		want string
	}{
		{func(p *Params) { p.Select = "" }, `select ""`},
		{func(p *Params) { p.Select = "best" }, `select "best"`},
		{func(p *Params) { p.Alpha = -1 }, "alpha -1"},
		{func(p *Params) { p.Alpha = float32(nan) }, "alpha NaN"},
		{func(p *Params) { p.Tol = -1 }, "tol -1"},
		{func(p *Params) { p.Tol = inf }, "tol +Inf"},
		{func(p *Params) { p.Doubt = nan }, "doubt NaN"},
		{func(p *Params) { p.Step = "" }, `step ""`},
		{func(p *Params) { p.Step = "some" }, `step "some"`},
		{func(p *Params) { p.AlphaUnit = "" }, `alpha unit ""`},
	} {
		params := Defaults()
		c.edit(params)
		for _, err := range []error{learners.Check(params), func() error {
			_, err := learners.Start(t.Context(), params, nil)
			return err
		}()} {
			if !errors.As(err, new(*learners.ParameterError)) || !facts.Told(err, c.want) {
				t.Errorf("%+v: %v, want %q", params, err, c.want)
			}
		}
	}
}

// advance counts and makes a step, whose pair it returns; {0,0} if there was none to make.
func advance(t *testing.T, l learners.Learner, w engine.Weights, changed []int) (pair engine.Pair,
	next []int) {
	t.Helper()
	if _, err := l.Count(t.Context(), w, changed); err != nil {
		t.Fatal(err)
	}
	s, err := l.Step(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Done {
		pair = s.Fields[0].Value.(engine.Pair)
	}
	return pair, s.Changed
}

// scripted is a data set whose norms and update vectors are given.
type scripted struct {
	engine.LoadedCells
	n, q       int
	norms      []float32
	z          map[engine.Pair]float32 // z_pq, one feature; 1 where not given
	assignment engine.Assignment
	alpha      float32 // of the last Assign
}

// run begins a run on the data set.
func (s *scripted) run(t *testing.T, p Params, seed uint64) learners.Learner {
	if p.Select == "" {
		p.Select = SelectError
	}
	if p.Step == "" {
		p.Step = StepPair
	}
	cells, err := engine.New(scriptedDriver{data: s}).LoadCells(dataset.Examples{N: s.n, D: 1,
		X: make([]float32, s.n)}, make([]int32, s.n), s.q, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	return newRun(p, cells, identity(t, s.q), seed)
}

// scriptedDriver loads a scripted data set.
type scriptedDriver struct {
	engine.Driver
	data *scripted
}

func (scriptedDriver) Serial() bool { return false }

func (d scriptedDriver) Load(dataset.Examples, engine.Task) (engine.Loaded, error) {
	return d.data, nil
}

func (s *scripted) Rescore(engine.Weights, []int) error { return nil }
func (s *scripted) Assign(alpha float32) (engine.Assignment, error) {
	s.alpha = alpha
	return s.assignment, nil
}

func (s *scripted) Norms(dst, inv []float32) error {
	copy(dst, s.norms)
	return nil
}
func (s *scripted) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	for i, pair := range pairs {
		dst[i] = 1
		if z, ok := s.z[pair]; ok {
			dst[i] = z
		}
	}
	return nil
}

func TestChoice(t *testing.T) {
	full := []int64{9, 9, 9, 9, 9, 9, 9, 9, 9}
	for _, c := range []struct {
		name    string
		params  Params
		norms   []float32
		regions []int64
		z       map[engine.Pair]float32
		want    [2]int    // {0,0}: converged
		changes []float32 // W, if given
	}{
		{name: "largest", norms: []float32{9, 1, 4, 1, 9, 3, 1, 1, 9}, want: [2]int{0, 2}},
		{name: "tie: lowest p, then lowest q", norms: []float32{0, 1, 2, 2, 0, 2, 2, 2, 0},
			want: [2]int{0, 2}},
		{name: "tie in q", norms: []float32{0, 2, 2, 1, 0, 2, 2, 2, 0}, want: [2]int{0, 1}},
		{name: "an empty region is passed over", norms: []float32{0, 1, 2, 9, 0, 9, 1, 1, 0},
			regions: []int64{1, 0, 0, 0, 0, 0, 0, 0, 1}, want: [2]int{0, 2}},
		{name: "the tolerance itself is too small", params: Params{Tol: 3}, norms: []float32{0, 9, 9, 9,
			0, 9, 9, 9, 0}},
		{name: "just above the tolerance", params: Params{Tol: 2.999}, norms: []float32{0, 9, 9, 9, 0, 9,
			9, 9, 0}, want: [2]int{0, 1}},
		{name: "nothing left", norms: make([]float32, 9)},
		// W is (2, 1, 0) there: z > 0 is a mistake of W iff w_p ≥ w_q.
		{name: "no mistake of W: the next pair", norms: []float32{0, 2, 1, 9, 0, 3, 8, 7, 0},
			want: [2]int{1, 2}, changes: []float32{2, 0, 1}},
		{name: "z turns the error set round", norms: []float32{0, 2, 1, 9, 0, 3, 8, 7, 0},
			z:    map[engine.Pair]float32{{P: 1, Q: 0}: -1},
			want: [2]int{1, 0}, changes: []float32{1, 2, 0}},
		{name: "margin of the error set", params: Params{Alpha: 1.5}, norms: []float32{0, 9, 8, 1, 0, 7,
			1, 1, 0}, want: [2]int{0, 2}},
		{name: "no mistake at all", norms: []float32{0, 0, 0, 9, 0, 0, 8, 7, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.regions == nil {
				c.regions = full
			}
			s := &scripted{n: 81, q: 3, norms: c.norms, z: c.z,
				assignment: engine.Assignment{Regions: c.regions, Predicted: full}}
			w := engine.Weights{Q: 3, D: 1, W: []float32{2, 1, 0}}
			u, changed := advance(t, s.run(t, c.params, 1), w, nil)
			if got := [2]int{u.P, u.Q}; got != c.want || (changed == nil) != (c.want == [2]int{}) {
				t.Errorf("step %+v, want %v", u, c.want)
			}
			if c.changes != nil && !slices.Equal(w.W, c.changes) {
				t.Errorf("W = %v, want %v", w.W, c.changes)
			}
		})
	}
}

// While W = 0 the margin counts as 0, in regions and in the error set: else no first step
// would be possible. Weights that a run starts from are not 0.
func TestFirstStepHasNoMargin(t *testing.T) {
	s := &scripted{n: 4, q: 2, norms: []float32{0, 1, 1, 0},
		assignment: engine.Assignment{Regions: []int64{2, 2, 0, 0}, Predicted: []int64{2, 2, 0, 0}}}
	l, w := s.run(t, Params{Alpha: 5}, 1), engine.NewWeights(2, 1)
	var changed []int
	for step, alpha := range []float32{0, 5} {
		_, changed = advance(t, l, w, changed)
		if s.alpha != alpha || (changed == nil) != (step == 1) {
			t.Errorf("step %d: margin %v, changed %v; want %v and a step only while W is 0", step+1, s.alpha,
				changed, alpha)
		}
	}
	w = engine.Weights{Q: 2, D: 1, W: []float32{0, 1}}
	if advance(t, s.run(t, Params{Alpha: 5}, 1), w, nil); s.alpha != 5 {
		t.Errorf("with weights to start from the margin is %v, want 5", s.alpha)
	}
}

// Selection by confusion weighs a small class up: 90 examples of class a, 10 of b.
func TestSelectConfusion(t *testing.T) {
	for rule, want := range map[string]engine.Pair{SelectError: {P: 1, Q: 0}, SelectConfusion: {P: 0,
		Q: 1}} {
		cells := []int64{80, 4, 10, 6}
		s := &scripted{n: 100, q: 2, norms: []float32{0, 1, 4, 0},
			assignment: engine.Assignment{Regions: cells, Predicted: cells}}
		if got, _ := advance(t, s.run(t, Params{Select: rule}, 1), engine.NewWeights(2, 1),
			nil); got != want {
			t.Errorf("%s: %+v; want %v", rule, got, want)
		}
	}
}

func TestSelectRandom(t *testing.T) {
	nine := slices.Repeat([]int64{9}, 9)
	s := &scripted{n: 81, q: 3, norms: []float32{0, 1, 1, 1, 0, 0, 5, 1, 0},
		assignment: engine.Assignment{Regions: nine, Predicted: nine}}
	draw := func(l learners.Learner, n int) (pairs []engine.Pair) {
		for range n {
			p, _ := advance(t, l, engine.NewWeights(3, 1), nil)
			pairs = append(pairs, p)
		}
		return pairs
	}
	random := func(seed uint64) learners.Learner {
		return s.run(t, Params{Select: SelectRandom}, seed)
	}
	first := draw(random(1), 300)
	if !slices.Equal(first, draw(random(1), 300)) {
		t.Error("the same seed draws other pairs")
	}
	if slices.Equal(first, draw(random(2), 300)) {
		t.Error("another seed draws the same pairs")
	}
	// A run that goes on draws what the first one would have.
	l := random(1)
	draw(l, 100)
	saved, err := l.Save()
	if err != nil {
		t.Fatal(err)
	}
	l = random(2)
	if err := l.Restore(saved); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first[100:], draw(l, 200)) {
		t.Error("a restored run draws other pairs")
	}
	for _, bad := range []string{"", "{}", `{"random":"AAAA"}`, "[1]"} {
		if err := l.Restore([]byte(bad)); err == nil {
			t.Errorf("state %q is taken", bad)
		}
	}
	count := map[engine.Pair]int{}
	for _, p := range first {
		count[p]++
	}
	if len(count) != 5 || count[engine.Pair{P: 1, Q: 2}] != 0 {
		t.Errorf("drawn %v, want the five pairs with a norm above 0", count)
	}
	for p, c := range count {
		if c < 30 || c > 95 { // 60 expected, 5 sigma is 35
			t.Errorf("pair %v was drawn %d times of 300, want about 60", p, c)
		}
	}
}

func TestWrongProblems(t *testing.T) {
	three, err := confusion.Symmetric([]string{"a", "b", "c"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.Examples{N: 2, D: 1, X: []float32{1, 2}}
	for want, p := range map[string]*learners.Problem{
		"3 classes 2":    {X: x, Y: []int32{0, 1}, Q: 2, Noise: three, Engine: cpuref.New()},
		"engine none":    {X: x, Y: []int32{0, 1}, Q: 2},
		"without labels": {X: x, Q: 2, Engine: cpuref.New()},
		"1 classes":      {X: x, Y: []int32{0, 0}, Q: 1, Engine: cpuref.New()},
	} {
		if _, err := learners.Start(t.Context(), Defaults(), p); !facts.Told(err, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
