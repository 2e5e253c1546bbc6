// Package means computes class means in feature space: the mean of φ(x) over the examples of each
// class, ω_k = Σ_l β_kl·φ(x_l), as an engine.Projection whose outputs are ⟨ω_k, φ(x)⟩ (van Rooyen
// et al., Sparse robust classification via the kernel mean, equation 1).
//
// φ is never computed. The landmarks of the projection are examples, called atoms, and each class
// has a row of weights β. The engine multiplies tiles of kernel values by the weights (clause 13),
// so only a tile is in memory, and the bits do not depend on the engine, the storage and the tiles.
package means

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// ErrOptions is wrapped by errors about invalid options.
var ErrOptions = errors.New("no such atoms")

// The ways to choose atoms. All are seeded.
const (
	Uniform = "uniform" // each set of examples is equally likely
	// Clusters divides a class by farthest-first traversal (Gonzalez 1985) and draws one atom from
	// each part (Algorithms 1 and 2, Theorem 21).
	Clusters = "clusters"
	// Herding repeatedly takes the example at which the class mean exceeds the mean of the atoms most
	// (Chen, Welling and Smola 2010).
	Herding = "herding"
)

// The weights of atoms.
const (
	Optimal = "optimal" // the projection of each mean onto the atoms' span (Cortés and Scott 2016)
	// Own are the weights of the choice: each class has its own atoms, with positive weights of sum 1.
	Own = "own"
)

// Options configures Fit.
type Options struct {
	Function kernel.Function
	Atoms    int // number over all classes; or 0 for all examples, which is exact
	// Within, if above 0, replaces Atoms: the fewest atoms of each class whose mean is within that
	// distance of the class mean in feature space, by a bound that holds in 95 draws of 100 (Algorithm
	// 2), or by the distance itself for Herding. Optimal weights come nearer still.
	Within  float64
	Choice  string // Uniform (also ""), Clusters or Herding
	Weights string // Optimal (also "") or Own
	Seed    uint64
}

// check returns an error for invalid options and sets defaults, for n examples.
func (o *Options) check(n int) error {
	if err := o.Function.Check(); err != nil {
		return err
	}
	wrong := func(format string, a ...any) error {
		return fmt.Errorf("kernel mean: %w: "+format, append([]any{ErrOptions}, a...)...)
	}
	o.Choice = cmp.Or(o.Choice, Uniform)
	o.Weights = cmp.Or(o.Weights, Optimal)
	switch o.Choice {
	case Uniform, Clusters, Herding:
	default:
		return wrong("found the choice %q, wanted %s, %s or %s", o.Choice, Uniform, Clusters, Herding)
	}
	switch {
	case o.Weights != Optimal && o.Weights != Own:
		return wrong("found the weights %q, wanted %s or %s", o.Weights, Optimal, Own)
	case o.Atoms < 0 || o.Atoms > n:
		return wrong("found %d atoms, wanted 1 to %d, the number of examples", o.Atoms, n)
	case o.Within < 0 || math.IsNaN(o.Within) || math.IsInf(o.Within, 0):
		return wrong("found atoms within %v of the means, wanted a length above 0, or 0 for none",
			o.Within)
	case o.Within > 0 && o.Atoms != 0:
		return wrong("found atoms within %v of the means and a number of them, wanted one of both",
			o.Within)
	}
	return nil
}

// Means are approximate class means in feature space and their errors.
type Means struct {
	engine.Projection       // the atoms, and a row of weights for each class
	Rows              []int // the example of each atom

	// Error is ‖ω_k - ω̂_k‖ in feature space for each class, 0 if the means are exact: the root of the
	// mean of ⟨ω_k - ω̂_k, φ(x) - ω̂_k⟩ over up to errorRows examples x of the class. Rounding hides
	// errors below about 0.0003 of the largest length.
	Error []float64
	// Length is ‖ω_k‖, measured on the same examples; nil if the means are exact.
	Length []float64
	// Bound exceeds Error in 95 draws of 100, for each class; nil for Optimal weights, whose Error is
	// at most the Error of any other weights of the same atoms.
	Bound []float64
	// Statistical bounds the distance of each exact mean from the true class mean, in 95 samples of
	// 100 (Theorem 5).
	Statistical []float64
	Dropped     int // atoms in the span of the remaining ones
}

// Notes describes the result, a sentence each.
func (m *Means) Notes() []string {
	statistical, far, bound := slices.Max(m.Statistical), slices.Max(m.Error), 0.0
	if m.Bound != nil {
		bound = slices.Max(m.Bound)
	}
	text := fmt.Sprintf("means of %d classes by %d atoms", m.Axes.Q, m.Landmarks.N)
	switch {
	case far == 0 && bound == 0:
		text += ", exact"
	case bound == 0:
		text += fmt.Sprintf(", at most %.2g from the means of all examples", far)
	default:
		text += fmt.Sprintf(", at most %.2g from the means of all examples (bound %.2g)", far, bound)
	}
	if m.Length != nil {
		text += fmt.Sprintf(", which are %.2g to %.2g long", slices.Min(m.Length), slices.Max(m.Length))
	}
	notes := []string{text +
		fmt.Sprintf("; these are within %.2g of the true ones, in 95 samples of 100", statistical)}
	if m.Dropped > 0 {
		notes = append(notes,
			fmt.Sprintf("%d atoms were dropped: they are in the span of the others", m.Dropped))
	}
	return notes
}

// errorRows is how many examples of all classes Error is measured on.
const errorRows = 4096

// Fit estimates the means of the q classes of examples x with labels y, from all examples or from
// the atoms that o asks for. If o.Within is set, it takes the fewest atoms that near.
// A cancelled ctx ends it with ctx's error. Other errors: ErrOptions, and errors from Exact and
// Engine.Project.
func Fit(ctx context.Context, e *engine.Engine, x dataset.Examples, y []int32, q int, o Options,
) (*Means, error) {
	if err := o.check(x.N); err != nil {
		return nil, err
	}
	sizes, err := countClasses(x, y, q)
	if err != nil {
		return nil, err
	}
	exact, err := Exact(x, y, q, o.Function)
	if err != nil {
		return nil, err
	}
	m := &Means{Projection: exact, Error: make([]float64, q), Statistical: make([]float64, q)}
	s := &sample{ctx: ctx, e: e, x: x, exact: exact, y: y, sizes: sizes, o: o}
	s.radius = math.Sqrt(slices.Max(engine.SquaredLengths(o.Function, x)))
	for k, n := range sizes {
		m.Statistical[k] = Deviation(s.radius, n)
	}
	if o.Atoms == 0 && o.Within == 0 {
		m.Rows = lists.UpTo[int](x.N)
		return m, nil
	}
	s.ctx, s.task = progress.Begin(ctx, progress.Work{Name: "fitting the means", Unit: "class",
		Total: int64(q)})
	defer s.task.End()
	if err := s.choose(m); err != nil {
		return nil, err
	}
	if o.Weights == Optimal {
		err = s.optimal(m)
	} else {
		var means []float32
		if means, err = s.exactAt(m.Rows); err == nil {
			m.Error, err = s.errors(m.Projection, means)
		}
	}
	m.Length = s.lengths
	return m, err
}

// sample is the state of a fit.
type sample struct {
	ctx   context.Context
	task  *progress.Task // the choice for a class is a part of it
	e     *engine.Engine
	x     dataset.Examples
	exact engine.Projection // the landmarks are the examples
	y     []int32
	sizes []int // examples of each class
	o     Options

	radius float64 // the root of the largest κ(x,x)

	rows    []int     // on which errors are measured
	at      []float32 // the exact means at these
	lengths []float64 // of the exact means
}

// Bounds hold in 95 draws of 100. logarithm is ln(1/0.05) as a literal, since the last bit of
// math.Log depends on the processor, and Auto decides by it.
const (
	confidence = 0.95
	logarithm  = 2.995732273553991
)

// Deviation bounds the distance between the mean of n examples and the mean of their distribution,
// in 95 samples of 100 (Theorem 5). Feature vectors have at most length radius. On average the
// distance is R/√n, and replacing one example moves it by 2R/n (McDiarmid's inequality). It is 0
// for n = 0.
func Deviation(radius float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return radius * (1 + math.Sqrt(2*logarithm)) / math.Sqrt(float64(n))
}

// project returns the numbers of p at examples, n × p.Width().
func (s *sample) project(x dataset.Examples, p engine.Projection) ([]float32, error) {
	what := fmt.Sprintf("%d kernel means at %d examples", p.Width(), x.N)
	if err := memory.Check(memory.Product(x.N, p.Width(), 4), what); err != nil {
		return nil, err
	}
	dst := make([]float32, x.N*p.Width())
	return dst, s.e.ProjectBlocks(s.ctx, dst, x, p)
}

// errors returns how far the means of p are from the exact ones, whose numbers at p's landmarks
// are exact. With r = ω - ω̂, ‖r‖² = ⟨r, ω⟩ - ⟨r, ω̂⟩; the first is the mean of r over
// the class, and the second Σ β_l·r(a_l).
func (s *sample) errors(p engine.Projection, exact []float32) ([]float64, error) {
	q := p.Axes.Q
	own, err := s.project(p.Landmarks, p)
	if err != nil {
		return nil, err
	}
	inner := make([]float64, q)
	for l := range p.Landmarks.N {
		for k := range q {
			r := float64(exact[l*q+k]) - float64(own[l*q+k])
			inner[k] += float64(float64(p.Axes.Row(k)[l]) * r)
		}
	}
	means, err := s.residuals(p)
	if err != nil {
		return nil, err
	}
	for k, v := range means {
		means[k] = math.Sqrt(max(0, v-inner[k]))
	}
	return means, nil
}

// exactAt returns the exact means at the examples rows, and sets the means at the examples on which
// errors are measured, in one reading of all examples.
func (s *sample) exactAt(rows []int) ([]float32, error) {
	s.rows = s.errorSample()
	means, err := s.project(s.x.Pick(slices.Concat(rows, s.rows)), s.exact)
	if err != nil {
		return nil, err
	}
	split := len(rows) * len(s.sizes)
	s.at = means[split:]
	return means[:split], nil
}

// residuals returns the mean of ω_k - ω̂_k over the examples of class k in the sample.
func (s *sample) residuals(p engine.Projection) ([]float64, error) {
	q := p.Axes.Q
	near, err := s.project(s.x.Pick(s.rows), p)
	if err != nil {
		return nil, err
	}
	sums, count, squares := make([]float64, q), make([]int, q), make([]float64, q)
	for at, i := range s.rows {
		k := int(s.y[i])
		sums[k] += float64(s.at[at*q+k]) - float64(near[at*q+k])
		squares[k] += float64(s.at[at*q+k])
		count[k]++
	}
	s.lengths = make([]float64, q)
	for k, n := range count {
		sums[k] /= float64(max(1, n))
		s.lengths[k] = math.Sqrt(max(0, squares[k]/float64(max(1, n))))
	}
	return sums, nil
}

// errorSample returns up to errorRows examples, each class in proportion to its size but at least
// 64.
func (s *sample) errorSample() []int {
	rng := rand.New(rand.NewPCG(s.o.Seed, 0x6572726f72)) // "error"
	left := make([]int, len(s.sizes))
	for k, n := range s.sizes {
		left[k] = min(n, max(64, errorRows*n/len(s.y)))
	}
	var rows []int
	for _, i := range rng.Perm(len(s.y)) {
		if k := s.y[i]; left[k] > 0 {
			left[k]--
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}

// Exact returns the means of q classes by f: every example of x is an atom, with the weight 1/n_k,
// n_k the examples of its class y[i], and 0 in the other classes. A class without examples has the
// mean 0. The projection keeps references to x's slices. Errors: engine.ErrShape, engine.ErrLabel,
// engine.ErrMemory, and errors about f.
func Exact(x dataset.Examples, y []int32, q int, f kernel.Function) (engine.Projection, error) {
	none := engine.Projection{}
	if err := f.Check(); err != nil {
		return none, err
	}
	sizes, err := countClasses(x, y, q)
	if err != nil {
		return none, err
	}
	what := fmt.Sprintf("the weights of %d examples in the means of %d classes", x.N, q)
	if err := memory.Check(memory.Product(x.N, q, 4), what); err != nil {
		return none, err
	}
	p := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(q, x.N)}
	for i, k := range y {
		p.Axes.Row(int(k))[i] = float32(1 / float64(sizes[k]))
	}
	return p, nil
}

// countClasses checks labels and returns the number of examples of each class.
func countClasses(x dataset.Examples, y []int32, q int) ([]int, error) {
	if q < 1 || x.N < 1 || len(y) != x.N {
		return nil, fmt.Errorf("kernel mean: %w: found %d labels of %d examples and %d classes, wanted "+
			"a label for each example, at least one example and one class", engine.ErrShape, len(y), x.N, q)
	}
	sizes := make([]int, q)
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("kernel mean: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel,
				i, k, q-1)
		}
		sizes[k]++
	}
	return sizes, nil
}
