// Package active chooses the examples of a pool that an expert should label next (active learning).
// A Pool has labelled and unlabelled examples, Ask chooses examples, and Fit trains a model on the
// labels so far. docs/active.md describes each strategy, and when it loses.
//
// The same pool, labels, options and seed give the same choice on every engine and for any number
// of processors: scores come from the engine, and the host adds float64 in a fixed order.
package active

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
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

// Pool holds examples, some of them labelled.
type Pool struct {
	Examples dataset.Examples // prepared and mapped, as a learner sees them
	Classes  []string         // at least two
	Labels   []int32          // a class, Unknown or Aside; the caller changes it between calls of Ask

	features    []string             // names of the raw features; nil for none
	preparation *dataset.Preparation // of the raw examples
	kernel      *pca.Map             // of the prepared examples; nil for none
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
		features: d.Features, preparation: d.Prepared}
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
	var steps dataset.Steps // none: a bias of length 1 misleads version spaces of small components
	if o.Kernel.Steps != nil {
		steps = *o.Kernel.Steps
	}
	var z dataset.Examples
	if p.kernel, z, err = pca.FitMap(ctx, o.Engine, p.Examples, found, steps); err != nil {
		return nil, err
	}
	p.Examples = z
	if say := o.Watch.Note; say != nil {
		if note != "" {
			say("kernel: %s", note)
		}
		say("kernel: %s", p.kernel.Basis.Summary())
	}
	return p, nil
}

// Apply prepares and maps raw examples in the same way as the pool's examples.
func (p *Pool) Apply(ctx context.Context, e *engine.Engine, raw dataset.Examples,
) (dataset.Examples, error) {
	x, err := features.Apply(p.preparation, raw)
	if err != nil || p.kernel == nil {
		return x, err
	}
	z, err := p.kernel.Apply(ctx, e, x)
	return z, err
}

// labelled returns which examples have a label, in increasing order.
func (p *Pool) labelled() []int { return p.where(func(y int32) bool { return y >= 0 }) }

// where returns the examples whose label satisfies want, in increasing order.
func (p *Pool) where(want func(y int32) bool) []int {
	return lists.Where(len(p.Labels), func(i int) bool { return want(p.Labels[i]) })
}

// classes returns how many classes have labels.
func (p *Pool) classes() int { return len(lists.Set(lists.At(p.Labels, p.labelled()))) }

// Fit trains a model on the labels so far with the given noise, nil if the labels are right. The
// model uses the pool's preparation and kernel instead of o's, and predicts from raw examples.
// Errors: errors from host.Train, and a cancelled ctx.
func (p *Pool) Fit(ctx context.Context, noise *confusion.Matrix, o host.Options,
) (*host.Trained, error) {
	which := p.labelled()
	d := &dataset.Dataset{Examples: p.Examples.Pick(which), Classes: p.Classes, Features: p.features,
		Prepared: p.preparation, Y: lists.At(p.Labels, which)}
	if p.kernel != nil {
		d.Features, d.Prepared = nil, p.kernel.Preparation
	}
	o.Preparation, o.Kernel = "", nil
	t, err := host.Train(ctx, d, noise, o)
	if err == nil {
		err = ctx.Err() // an interrupted training returns another model
	}
	if err != nil {
		return nil, err
	}
	if p.kernel != nil {
		t.Meta.Features, t.Meta.Preparation = model.Features{Count: p.preparation.D, Names: p.features},
			*p.preparation
		t.SetMap(p.kernel)
	}
	return t, nil
}

// inner returns ⟨x_i, x_j⟩.
func (p *Pool) inner(i, j int) (sum float64) {
	if !p.Examples.Sparse() {
		b := p.Examples.Row(j)
		for k, v := range p.Examples.Row(i) {
			sum += float64(float64(v) * float64(b[k]))
		}
		return sum
	}
	columns, values := p.Examples.SparseRow(i)
	others, numbers := p.Examples.SparseRow(j)
	for k, at := 0, 0; k < len(columns) && at < len(others); {
		switch a, b := columns[k], others[at]; {
		case a < b:
			k++
		case a > b:
			at++
		default:
			sum += float64(float64(values[k]) * float64(numbers[at]))
			k++
			at++
		}
	}
	return sum
}

// addTo adds a·x_i to sum.
func (p *Pool) addTo(sum []float64, a float64, i int) {
	columns, values := p.Examples.Entries(i)
	for k, v := range values {
		j := k
		if columns != nil {
			j = int(columns[k])
		}
		sum[j] += float64(a * float64(v))
	}
}

// length returns ‖x_i‖, or 1 for an example of zeros.
func (p *Pool) length(i int) float64 {
	if l := math.Sqrt(p.inner(i, i)); l > 0 {
		return l
	}
	return 1
}
