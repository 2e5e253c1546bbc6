// Package active chooses the examples of a pool that an expert should label next (active learning).
// A Pool has labelled and unlabelled examples, Fit trains a model on the labels so far, and Ask
// chooses examples. docs/active.md says when each strategy loses.
//
// The same pool, labels, options and seed give the same choice on every engine and for any number
// of processors: scores come from the engine.
package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Values of Pool.Labels for examples without a label.
const (
	Unknown int32 = -1 // not labelled yet
	Aside   int32 = -2 // the expert could not tell; Ask does not choose it again
)

// The strategies. The margin of an example is the difference between its two largest scores, which
// for two classes is its distance from the boundary.
const (
	Random = "random" // any example
	Margin = "margin" // least margin in the model (Scheffer, Decomain and Wrobel 2001)
)

// Strategies are all of them, the default first.
var Strategies = []string{Margin, Random}

// Pool holds examples, some of them labelled.
type Pool struct {
	Examples dataset.Examples // prepared and mapped, as a learner sees them
	Classes  []string         // at least two
	Labels   []int32          // a class, Unknown or Aside; the caller changes it between calls of Ask

	Preparation *dataset.Preparation // of the raw examples
	Kernel      *pca.Map             // of the prepared examples; nil for none

	features []string // names of the raw features; nil for none
}

// NewPool returns a pool of data without labels. It prepares the examples by o.Preparation and, if
// o.Kernel is not nil, maps them by o.Kernel on o.Engine; both are fitted to all examples. Errors:
// fewer than two classes, a search for γ, which needs labels, and errors from host.Prepare and
// pca.FitMap.
func NewPool(ctx context.Context, data *dataset.Dataset, o host.Options) (*Pool, error) {
	if len(data.Classes) < 2 {
		return nil, fmt.Errorf("pool of examples: found the classes %.60q, wanted two at least",
			data.Classes)
	}
	d := *data
	if err := host.Prepare(&d, o.Preparation, o.Kernel != nil); err != nil {
		return nil, err
	}
	p := &Pool{Examples: d.Examples, Classes: d.Classes, Labels: slices.Repeat([]int32{Unknown}, d.N),
		features: d.Features, Preparation: d.Prepared}
	if o.Kernel == nil {
		return p, nil
	}
	if o.Kernel.Search || o.Kernel.Mean {
		return nil, errors.New("pool of examples: a search for γ needs labels: give γ as a number, or " +
			"leave it to the median distance")
	}
	found, note, err := o.Kernel.FindPCA(o.Engine, p.Examples, o.Seed)
	if err != nil {
		return nil, err
	}
	var steps dataset.Steps // none: a bias of length 1 misleads small components
	if o.Kernel.Steps != nil {
		steps = *o.Kernel.Steps
	}
	p.Kernel, p.Examples, err = pca.FitMap(ctx, o.Engine, p.Examples, found, steps)
	if err != nil {
		return nil, err
	}
	if say := o.Watch.Note; say != nil {
		if note != "" {
			say("kernel: %s", note)
		}
		say("kernel: %s", p.Kernel.Basis.Summary())
	}
	return p, nil
}

// Labelled returns which examples have a label, in increasing order.
func (p *Pool) Labelled() []int {
	return lists.Where(len(p.Labels), func(i int) bool { return p.Labels[i] >= 0 })
}

// Fit trains a model on the labels so far with the given noise, nil if the labels are right. The
// model uses the pool's preparation and kernel instead of o's, and predicts from raw examples.
// Errors: errors from host.Train, and a cancelled ctx.
func (p *Pool) Fit(ctx context.Context, noise *confusion.Matrix, o host.Options,
) (*host.Trained, error) {
	which := p.Labelled()
	d := &dataset.Dataset{Examples: p.Examples.Pick(which), Classes: p.Classes, Features: p.features,
		Prepared: p.Preparation, Y: lists.At(p.Labels, which)}
	if p.Kernel != nil {
		d.Features, d.Prepared = nil, p.Kernel.Preparation
	}
	o.Preparation, o.Kernel = "", nil
	t, err := host.Train(ctx, d, noise, o)
	if err == nil {
		err = ctx.Err() // an interrupted training returns another model
	}
	if err != nil {
		return nil, err
	}
	if p.Kernel != nil {
		t.Meta.Features, t.Meta.Preparation = model.Features{Count: p.Preparation.D, Names: p.features},
			*p.Preparation
		t.SetMap(p.Kernel)
	}
	return t, nil
}

// Ask chooses up to k examples whose label is Unknown, the most valuable first: of least margin by
// the model m, which Fit returned for these labels, or at random by the seed if m is nil.
func (p *Pool) Ask(e *engine.Engine, m *model.Model, k int, seed uint64) ([]int, error) {
	if m != nil {
		return p.Least(e, engine.Weights{Q: m.Q, D: m.D, W: m.W}, nil, k)
	}
	free := p.free()
	random := rand.New(rand.NewPCG(seed, uint64(len(p.Labelled()))))
	random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	return free[:min(k, len(free))], nil
}

// Least returns up to k examples whose label is Unknown and whose margin by weights w is least,
// the margin of each divided by its length; nil for 1.
func (p *Pool) Least(e *engine.Engine, w engine.Weights, length func(i int) float64, k int,
) ([]int, error) {
	scores, err := engine.Scores(e, w, p.Examples)
	if err != nil {
		return nil, err
	}
	margins := make([]float64, p.Examples.N)
	for i := range margins {
		margins[i] = margin(scores[i*w.Q : (i+1)*w.Q])
		if length != nil {
			margins[i] /= length(i)
		}
	}
	free := p.free()
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(margins[a], margins[b]) })
	return free[:min(k, len(free))], nil
}

// free returns the examples to ask about, in increasing order.
func (p *Pool) free() []int {
	return lists.Where(len(p.Labels), func(i int) bool { return p.Labels[i] == Unknown })
}

// margin returns the difference between the two largest of at least two scores.
func margin(row []float32) float64 {
	largest := slices.Clone(row)
	slices.Sort(largest)
	q := len(row)
	return float64(largest[q-1]) - float64(largest[q-2])
}
