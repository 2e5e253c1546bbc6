package fitting

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Ridge regression judges γ on ridgeExamples examples and ridgeLandmarks landmarks. Each of
// ridgeFolds parts is held out in turn. The penalty starts at mostRidge and falls by ridgeFactor.
const (
	ridgeExamples  = 2000
	ridgeLandmarks = 300
	ridgeFolds     = 3
	mostRidge      = 16
	ridgeFactor    = 1. / 8
	leastRidge     = 1e-4
)

// Scores times sharpness are near the logarithms of odds.
const sharpness = 4

// The search starts at firstFactor / median squared distance and goes on, up to mostFactor, while
// the loss falls.
const (
	firstFactor = 2
	mostFactor  = 1 << 8
)

// sampled are examples that judge a kernel function, and what their labels say of their classes.
type sampled struct {
	x      dataset.Examples
	y      []int32
	likely []float32 // how likely the label is with each class, as logarithms, n×Q
	shares []float32 // the same, as shares of a sum of 1
}

// sample returns at most count examples of p.
func sample(p *learners.Problem, count int) (s sampled, err error) {
	which := rand.New(rand.NewPCG(p.Seed, 0x7269646765)).Perm(p.X.N)[:min(p.X.N, count)] // "ridge"
	slices.Sort(which)
	s = sampled{x: p.X.Pick(which), y: lists.At(p.Y, which)}
	part := p.On(s.x, s.y)
	part.Evidence = p.Evidence.Pick(which, p.Q)
	labels, err := learners.NewLabels(learners.Correcting{Correction: learners.EM,
		ClassWeights: learners.Equal}, part)
	for i := range s.y {
		s.likely = append(s.likely, labels.Likelihood(i, p.Q)...)
	}
	s.shares = slices.Clone(s.likely)
	for at := 0; at < len(s.shares); at += p.Q {
		numerics.Softmax(s.shares[at:at+p.Q], s.shares[at:at+p.Q])
	}
	return s, err
}

// regress fits ridge regression of the labels of s on coordinates of few landmarks.
func regress(ctx context.Context, p *learners.Problem, s sampled, o pca.Options) (*ridge, error) {
	o.Landmarks = min(cmp.Or(o.Landmarks, p.X.N), ridgeLandmarks, len(s.y))
	o.Coordinates, o.Components = true, 0
	b, err := pca.Fit(ctx, p.Engine, s.x, o)
	if err != nil {
		return nil, err
	}
	z, err := b.Components(ctx, p.Engine, s.x)
	if err != nil {
		return nil, err
	}
	r := newRidge(z, s, p.Q)
	r.basis = b
	return r, ctx.Err()
}

// ridgeGamma returns the γ, a power of two times o's, under which ridge regression makes held-out
// labels of a sample likeliest, through C, and that regression.
func ridgeGamma(ctx context.Context, p *learners.Problem, o pca.Options,
	tell func(string, ...any)) (float32, *ridge, error) {
	some, err := sample(p, ridgeExamples)
	if err != nil {
		return 0, nil, err
	}
	judge := func(gamma float32) (*ridge, error) {
		o.Function.Gamma = gamma
		r, err := regress(ctx, p, some, o)
		if err != nil {
			return nil, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
		}
		tell("gamma %v: loss %.4f of %d examples held out", gamma, r.loss, len(some.y))
		return r, nil
	}
	best := o.Function.Gamma * firstFactor
	least, err := judge(best)
	if err != nil {
		return 0, nil, err
	}
	for _, factor := range []float32{2, 0.5} {
		moved := false
		for next := best * factor; next <= o.Function.Gamma*mostFactor; next *= factor {
			r, err := judge(next)
			if err != nil {
				return 0, nil, err
			}
			if !(r.loss < least.loss) {
				break
			}
			best, least, moved = next, r, true
		}
		if moved {
			break
		}
	}
	tell("gamma %v is taken", best)
	return best, least, nil
}

// ridge is ridge regression from the rows of z and a constant 1 to what labels say of the classes.
// All sums are float64 in a fixed order.
type ridge struct {
	sampled
	basis  *pca.Basis // z are coordinates of
	z      dataset.Examples
	q, d   int
	parts  []ridgePart
	lambda float64 // the best penalty
	loss   float64 // its mean loss of held-out labels
	sharp  float32 // what scores are multiplied by for that
}

// ridgePart has the sums over the rows of a part.
type ridgePart struct{ gram, sums []float64 } // d×d, the lower triangle; q×d

func newRidge(z dataset.Examples, s sampled, q int) *ridge {
	d := z.D + 1
	r := &ridge{sampled: s, z: z, q: q, d: d, parts: make([]ridgePart, ridgeFolds),
		loss: math.Inf(1)}
	parallel.Tasks(ridgeFolds, func(k int) {
		f := ridgePart{make([]float64, d*d), make([]float64, q*d)}
		var x, shares [4][]float64 // of four rows; zeros add nothing
		for r := range x {
			x[r], shares[r] = make([]float64, d), make([]float64, q)
		}
		for first := k; first < z.N; first += 4 * ridgeFolds {
			for r := range x {
				if i := first + r*ridgeFolds; i < z.N {
					withOne(x[r], z.Row(i))
					for c, v := range s.shares[i*q : (i+1)*q] {
						shares[r][c] = float64(v)
					}
				} else {
					clear(x[r])
				}
			}
			for a := range d {
				numerics.AddScaled4(f.gram[a*d:a*d+a+1], at(x, a), x)
			}
			for c := range q {
				numerics.AddScaled4(f.sums[c*d:c*d+d], at(shares, c), x)
			}
		}
		r.parts[k] = f
	})
	for lambda := float64(mostRidge); lambda > leastRidge; lambda *= ridgeFactor {
		t := r.heldOut(lambda)
		loss, _ := t.Mean()
		if !(loss < r.loss) {
			break
		}
		r.lambda, r.loss, r.sharp = lambda, loss, t.Temperature()
	}
	return r
}

// at returns a column of four rows.
func at(x [4][]float64, j int) [4]float64 { return [4]float64{x[0][j], x[1][j], x[2][j], x[3][j]} }

// withOne writes row and a 1 to dst.
func withOne(dst []float64, row []float32) {
	for j, v := range row {
		dst[j] = float64(v)
	}
	dst[len(row)] = 1
}

// weights returns the weights, q×d, fitted without the rows of a part; -1 for all rows.
func (r *ridge) weights(lambda float64, without int) []float64 {
	d := r.d
	a, w := make([]float64, d*d), make([]float64, r.q*d)
	for l, f := range r.parts {
		if l != without {
			lists.Add(a, f.gram)
			lists.Add(w, f.sums)
		}
	}
	for j := range d {
		a[j*(d+1)] += lambda
	}
	factorise(a, d)
	for c := range r.q {
		solve(a, w[c*d:(c+1)*d])
	}
	return w
}

// heldOut judges the parts, each by weights fitted without it.
func (r *ridge) heldOut(lambda float64) (all learners.Trial) {
	trials := make([]learners.Trial, ridgeFolds)
	parallel.Tasks(ridgeFolds, func(k int) {
		w, x := r.weights(lambda, k), make([]float64, r.d)
		scores, powers := make([]float32, r.q), make([]float64, 4*r.q)
		for i := k; i < r.z.N; i += ridgeFolds {
			withOne(x, r.z.Row(i))
			for c := range scores {
				scores[c] = float32(sharpness * numerics.Dot64(w[c*r.d:(c+1)*r.d], x))
			}
			trials[k].Add(1, r.y[i], scores, r.likely[i*r.q:(i+1)*r.q], nil, false, powers)
		}
	})
	for k := range trials {
		all.Join(&trials[k])
	}
	return all
}

// factorise replaces the lower triangle of a d×d matrix by its Cholesky factor. A pivot that
// rounding made negative becomes tiny.
func factorise(a []float64, d int) {
	for i := range d {
		row := a[i*d : (i+1)*d]
		for j := range i {
			row[j] = (row[j] - numerics.Dot64(row[:j], a[j*d:])) / a[j*(d+1)]
		}
		row[i] = math.Sqrt(max(row[i]-numerics.Dot64(row[:i], row), 1e-12*row[i], 1e-300))
	}
}

// solve replaces v by the solution x of L·Lᵀx = v.
func solve(l, v []float64) {
	d := len(v)
	for i := range d {
		v[i] = (v[i] - numerics.Dot64(v[:i], l[i*d:])) / l[i*(d+1)]
	}
	for i := d - 1; i >= 0; i-- {
		v[i] /= l[i*(d+1)]
		numerics.AddScaled64(v[:i], -v[i], l[i*d:i*d+i])
	}
}
