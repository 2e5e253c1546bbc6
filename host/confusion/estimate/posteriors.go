package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Parameters of the fits of explained.
const (
	firstRounds  = 2 // unmixings of the probabilities by C, of each start
	outerRounds  = 4 // more of them, of the best
	leaps        = 6 // of EM after each, of three rounds
	mostLeap     = 16.0
	stillStep    = 1e-7
	leastEntry   = 1e-6 // of C after a leap
	pseudoLabels = 1.0  // symmetric ones of each class in an M-step
	leastMixed   = 1e-3 // entry of the C that unmixes
	leastUnmixed = 1e-4 // probability of a class after unmixing
	leastLabel   = 1e-6 // probability of a label
	blockRows    = 512  // whose sums are taken in order
	calmC        = 1e-3 // largest change of C that ends the outer rounds
	newtonStep   = 1.5  // times a Newton step of the complete data
	leastSharp   = 0.3  // and mostSharp bound the sharpness
	mostSharp    = 8.0  // of probabilities
	mostBias     = 3.0  // of the logarithm of a class's frequency
	equalClasses = 0.5  // pseudo-examples of each class in its frequency
	// doubtful is the weight of the entropy of classes given the features: of two fits that explain
	// the labels equally well, the one in which the features tell the classes is right.
	doubtful = 0.005
)

// shape is what a fit may change of C.
type shape int

const (
	free      shape = iota // all entries
	symmetric              // one rate
	given                  // nothing
)

// explained is the model of noisy labels y given out-of-fold probabilities p of noisy labels,
//
//	P(y | x) = C · softmax(sharp · log u(x) + bias),
//
// where u(x) are p(x) unmixed by C. The sharpness lets C, and not too cautious models, explain
// labels that held-out models do not expect; the likelihood decides between the two.
type explained struct {
	q     int
	shape shape
	c     []float64 // Q×Q
	sharp float64
	bias  []float64
	// counts are the expected numbers of examples by label and class, Q×Q.
	counts []float64
	loss   float64 // sum of -log P(y | x)
	// doubt is the sum of the entropies of the classes, times doubtful.
	doubt float64
}

// observed are the examples of a fit.
type observed struct {
	q int
	y []int32   // labels, none below 0
	p []float32 // out-of-fold probabilities of labels, n×Q
	// known is the true class of each example, below 0 where it is unknown; nil of none
	known []int32
	// part of each example, of jackknife: the same for equal examples in any order of rows and
	// classes
	part []int8
}

// newObserved takes over its arguments.
func newObserved(y []int32, p []float32, known []int32, q int) *observed {
	o := &observed{q: q, y: y, p: p, known: known, part: make([]int8, len(y))}
	for i := range y {
		o.part[i] = int8(mark(p[i*q:(i+1)*q]) % jackknife)
	}
	return o
}

// mark returns a number for the probabilities of an example, the same in any order of classes.
func mark(p []float32) uint64 {
	sum := uint64(0)
	for _, v := range p {
		bits := uint64(math.Float32bits(v)) * 0x9e3779b97f4a7c15
		sum += bits ^ bits>>29
	}
	sum *= 0xbf58476d1ce4e5b9
	return sum ^ sum>>31
}

// all is no part of the examples.
const all = -1

// begin returns a fit that starts from C.
func begin(start []float64, s shape, q int) *explained {
	e := &explained{q: q, shape: s, c: slices.Clone(start), sharp: 1, bias: make([]float64, q)}
	if s == free { // no entry is stuck at zero
		for at := range e.c {
			e.c[at] = 0.98*e.c[at] + 0.02/float64(q)
		}
	}
	return e
}

// improve continues a fit by EM with the shape's M-step, for some outer rounds at most.
func (o *observed) improve(ctx context.Context, e *explained, outer int) {
	for range outer {
		u, before := o.unmixed(ctx, e.c), slices.Clone(e.c)
		o.settle(ctx, e, u, all)
		moved := 0.0
		for at, v := range e.c {
			moved = max(moved, math.Abs(v-before[at]))
		}
		if moved < calmC {
			break
		}
	}
}

// worse returns how far e is behind another fit.
func (e *explained) worse(other *explained) float64 {
	return e.loss + e.doubt - other.loss - other.doubt
}

// without continues a fit without one part of the examples.
func (o *observed) without(ctx context.Context, part int, e *explained, u []float32) *explained {
	again := *e
	again.c, again.bias = slices.Clone(e.c), slices.Clone(e.bias)
	o.settle(ctx, &again, u, part)
	return &again
}

// settle makes rounds of EM with log u, without a part of the examples. After each two, it leaps
// along their direction (Varadhan and Roland, Simple and globally convergent methods for
// accelerating the convergence of any EM algorithm, Scand. J. Statist. 35, 2008), since EM is slow
// where the labels tell little; a leap that explains them worse is taken back.
func (o *observed) settle(ctx context.Context, e *explained, u []float32, without int) {
	for range leaps {
		first := e.place()
		o.round(ctx, e, u, without)
		second := e.place()
		o.round(ctx, e, u, without)
		third, least := e.place(), e.loss+e.doubt
		step, bend := 0.0, 0.0
		for at := range first {
			r, v := second[at]-first[at], third[at]-2*second[at]+first[at]
			step += float64(r * r)
			bend += float64(v * v)
		}
		if step < stillStep {
			return
		}
		far := min(math.Sqrt(step/max(bend, math.SmallestNonzeroFloat64)), mostLeap)
		if far <= 1 {
			continue
		}
		to := make([]float64, len(first))
		for at := range to {
			r, v := second[at]-first[at], third[at]-2*second[at]+first[at]
			to[at] = first[at] + float64(2*far*r) + float64(far*far*v)
		}
		e.move(to)
		o.round(ctx, e, u, without)
		if e.loss+e.doubt > least {
			e.move(third)
			o.round(ctx, e, u, without)
		}
	}
}

// place returns what a fit has found: C, the logarithm of the sharpness, and the biases.
func (e *explained) place() []float64 {
	log := float64(numerics.Log(float32(e.sharp)))
	return append(append(slices.Clone(e.c), log), e.bias...)
}

// move sets what a fit has found, as of place, within its bounds.
func (e *explained) move(to []float64) {
	q := e.q
	if e.shape != given {
		for at := range e.c {
			e.c[at] = max(to[at], leastEntry)
		}
		numerics.NormaliseColumns(e.c, q)
	}
	e.sharp = float64(numerics.Exp(float32(to[q*q])))
	copy(e.bias, to[q*q+1:])
	e.bound()
}

// bound keeps the sharpness and the biases within their bounds.
func (e *explained) bound() {
	e.sharp = min(max(e.sharp, leastSharp), mostSharp)
	middle := lists.Mean(e.bias)
	for k, v := range e.bias {
		e.bias[k] = min(max(v-middle, -mostBias), mostBias)
	}
}

// unmixed returns log u.
func (o *observed) unmixed(ctx context.Context, c []float64) []float32 {
	q, mix := o.q, slices.Clone(c)
	for at, v := range mix {
		mix[at] = max(v, leastMixed)
	}
	numerics.NormaliseColumns(mix, q)
	u := slices.Clone(o.p)
	Unmix(ctx, u, mix, q)
	parallel.Ranges(len(u), 1<<12, func(from, to int) {
		for at := from; at < to; at++ {
			u[at] = numerics.Log(max(u[at], leastUnmixed))
		}
	})
	return u
}

// tally are sums over examples.
type tally struct {
	counts, class    []float64 // Q×Q, by label and class; of the probabilities of classes
	slope, curvature float64   // by the sharpness
	sum, entropy     float64   // of -log P(y | x), and of the classes
}

// round is one E-step and one M-step.
func (o *observed) round(ctx context.Context, e *explained, u []float32, without int) {
	q, n := o.q, len(o.y)
	blocks := make([]tally, (n+blockRows-1)/blockRows)
	parallel.Tasks(len(blocks), func(k int) {
		t := tally{counts: make([]float64, q*q), class: make([]float64, q)}
		p, s := make([]float32, q), make([]float32, q)
		for i := k * blockRows; i < min(n, (k+1)*blockRows) && ctx.Err() == nil; i++ {
			if int(o.part[i]) != without {
				sum := e.classes(p, s, u[i*q:(i+1)*q])
				e.add(&t, p, s, u[i*q:(i+1)*q], sum, int(o.y[i]), o.class(i))
			}
		}
		blocks[k] = t
	})
	total := tally{counts: make([]float64, q*q), class: make([]float64, q)}
	for _, t := range blocks {
		lists.Add(total.counts, t.counts)
		lists.Add(total.class, t.class)
		total.slope += t.slope
		total.curvature += t.curvature
		total.sum += t.sum
		total.entropy += t.entropy
	}
	e.counts, e.loss, e.doubt = total.counts, total.sum, doubtful*total.entropy
	e.maximise(&total)
}

// classes writes the probabilities of the true classes to p and their scores to s, from log u, and
// returns the logarithm of the sum of the scores' exponentials.
func (e *explained) classes(p, s, u []float32) float64 {
	for t, v := range u {
		s[t] = float32(float64(e.sharp*float64(v)) + e.bias[t])
	}
	most, sum := numerics.Softmax(p, s)
	return float64(most) + float64(sum)
}

// class returns the true class of an example, -1 if it is unknown.
func (o *observed) class(i int) int {
	if o.known == nil {
		return -1
	}
	return int(o.known[i])
}

// add adds an example to t: p, s and sum are of classes, y is its label, and known its class, below
// 0 if that is unknown.
func (e *explained) add(t *tally, p, s, u []float32, sum float64, y, known int) {
	row, label, entropy := e.c[y*e.q:(y+1)*e.q], 0.0, 0.0
	for k, v := range p {
		entropy += float64(float64(v) * (sum - float64(s[k])))
		if known < 0 || known == k {
			label += float64(row[k] * float64(v))
		}
	}
	label = max(label, leastLabel)
	t.sum -= float64(numerics.Log(float32(label)))
	t.entropy += entropy
	mean, square := 0.0, 0.0
	for k, v := range p {
		before, after := float64(v), 0.0
		if known < 0 || known == k {
			after = float64(before*row[k]) / label
		}
		t.counts[y*e.q+k] += after
		t.class[k] += before
		surer := float64(doubtful * float64(before*(float64(s[k])-sum+entropy)))
		t.slope += float64((after - before + surer) * float64(u[k]))
		mean += float64(before * float64(u[k]))
		square += float64(before * float64(u[k]*u[k]))
	}
	t.curvature += square - float64(mean*mean)
}

// maximise is the M-step.
func (e *explained) maximise(t *tally) {
	q := e.q
	e.sharp += float64(newtonStep*t.slope) / max(t.curvature, math.SmallestNonzeroFloat64)
	for k := range q {
		n := columnSum(t.counts, q, k)
		ratio := (n + equalClasses) / (t.class[k] + equalClasses)
		e.bias[k] += float64(numerics.Log(float32(ratio)))
	}
	e.bound()
	if e.shape == given {
		return
	}
	before := priorOf(t.counts, q, nil)
	for k := range q {
		n := columnSum(t.counts, q, k)
		for y := range q {
			at := y*q + k
			if e.c[at] = before[at]; e.shape == free {
				e.c[at] = (t.counts[at] + float64(pseudoLabels*before[at])) / (n + pseudoLabels)
			}
		}
	}
}

// probabilities returns the probabilities of the true classes given the features, n×Q.
func (o *observed) probabilities(ctx context.Context, e *explained) []float32 {
	u, q := o.unmixed(ctx, e.c), o.q
	parallel.Ranges(len(o.y), 1<<8, func(from, to int) {
		for i := from; i < to; i++ {
			row := u[i*q : (i+1)*q]
			e.classes(row, row, row)
		}
	})
	return u
}

// shrunk returns C from expected counts: the rates of right labels, and the shares of each wrong
// one, are drawn towards their means over classes, as strongly as makes counts left out likeliest.
func shrunk(counts []float64, q int) []float64 {
	right, wrong := make([]float64, 2*q), make([]float64, q*q)
	for k := range q {
		for y := range q {
			if v := counts[y*q+k]; y == k {
				right[k] += v
			} else {
				right[q+k] += v
				wrong[y*q+k] = v
			}
		}
	}
	all, miss := lists.Sum(right), lists.Sum(right[q:])
	rate := (miss + 1) / (all + 2)
	before := make([]float64, 2*q)
	for k := range q {
		before[k], before[q+k] = 1-rate, rate
	}
	s := strength(right, before, q)
	even := make([]float64, q*q)
	for at := range even {
		if at%q != at/q {
			even[at] = 1 / float64(q-1)
		}
	}
	each := strength(wrong, even, q)
	c := make([]float64, q*q)
	for k := range q {
		off, n := right[q+k], right[k]+right[q+k]
		missed := (off + float64(s*rate)) / (n + s)
		for y := range q {
			if at := y*q + k; y == k {
				c[at] = 1 - missed
			} else {
				c[at] = missed * (wrong[at] + float64(each*even[at])) / (off + each)
			}
		}
	}
	return c
}
