// Package active chooses which examples of a pool to have labelled, so that few labels go far: a
// Pool has examples with labels and without, Ask names examples to ask an expert about, and Fit
// learns a model of what is known so far.
// docs/active.md says what each strategy is, and when it loses.
//
// Promised: the same pool, labels, options and seed give the same questions on every engine and any
// number of processors. Scores come from the engine; the host adds float64 in a fixed order.
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

// What Pool.Labels has where there is no label.
const (
	Unknown int32 = -1 // no expert was asked
	Aside   int32 = -2 // the expert could not tell, so it is not asked again
)

// Pool holds examples, some of them labelled.
type Pool struct {
	dataset.Examples          // prepared, as a learner sees them
	Classes          []string // two at least
	// of each example its class, Unknown or Aside; the caller changes it between questions
	Labels []int32

	features    []string             // their names; nil for none
	preparation *dataset.Preparation // of the raw examples
	kernel      *pca.Map             // of the prepared ones; nil for none
}

// NewPool makes a pool of data with no label known. It prepares the examples by o.Preparation and
// maps them by o.Kernel, if not nil, on o.Engine: both are fitted to all of them. A γ that takes
// labels to find is an error, and so are less than two classes; other errors are those of
// host.Prepare and pca.FitMap.
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
		return nil, errors.New("pool of examples: found a γ to search for, which takes more labels " +
			"than there are: give γ as a number, or leave it to the median distance")
	}
	found, note, err := o.Kernel.FindPCA(o.Engine, p.Examples, o.Seed)
	if err != nil {
		return nil, err
	}
	var steps dataset.Steps // none: a bias as long as a component is large leads version spaces astray
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

// Apply returns raw examples as those of the pool are. The errors are those of preparing and
// mapping.
func (p *Pool) Apply(ctx context.Context, e engine.Engine, raw dataset.Examples,
) (dataset.Examples, error) {
	x, err := features.Apply(p.preparation, raw)
	if err != nil || p.kernel == nil {
		return x, err
	}
	z, err := p.kernel.Apply(ctx, e, x)
	return z, err
}

// labelled returns which examples have a label, in increasing order.
func (p *Pool) labelled() []int { return p.are(func(y int32) bool { return y >= 0 }) }

// are returns the examples whose label is one that want holds of, in increasing order.
func (p *Pool) are(want func(y int32) bool) []int {
	return lists.Where(len(p.Labels), func(i int) bool { return want(p.Labels[i]) })
}

// counts returns how many labels each class has, and how many classes have some.
func (p *Pool) counts() (of []int, classes int) {
	of = make([]int, len(p.Classes))
	for _, y := range p.Labels {
		if y < 0 {
			continue
		}
		if of[y] == 0 {
			classes++
		}
		of[y]++
	}
	return of, classes
}

// Fit learns a model of the labels so far, which are wrong as noise says, nil if they are right.
// The model has the pool's preparation and kernel, not those of o, and predicts from raw examples.
// The errors are those of host.Train; a cancelled ctx is one, too.
func (p *Pool) Fit(ctx context.Context, noise *confusion.Matrix, o host.Options,
) (*host.Trained, error) {
	return p.fit(ctx, p.labelled(), noise, o)
}

// fit learns from the examples that which names; one may be named twice.
func (p *Pool) fit(ctx context.Context, which []int, noise *confusion.Matrix,
	o host.Options) (*host.Trained, error) {
	d := &dataset.Dataset{Examples: p.Pick(which), Classes: p.Classes, Features: p.features,
		Prepared: p.preparation, Y: lists.At(p.Labels, which)}
	if p.kernel != nil {
		d.Features, d.Prepared = nil, p.kernel.Preparation
	}
	o.Preparation, o.Kernel = "", nil
	t, err := host.Train(ctx, d, noise, o)
	if err == nil {
		err = ctx.Err() // an interrupted training has a model too, but another one
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

// scores returns the scores of the examples by m, which Fit made, N×Q row-major.
func (p *Pool) scores(e engine.Engine, m *model.Model) ([]float32, error) {
	return engine.Scores(e, engine.Weights{Q: m.Q, D: m.D, W: m.W}, p.Examples)
}

// inner returns ⟨x_i, x_j⟩.
func (p *Pool) inner(i, j int) (sum float64) {
	if !p.Sparse() {
		b := p.Row(j)
		for k, v := range p.Row(i) {
			sum += float64(float64(v) * float64(b[k]))
		}
		return sum
	}
	columns, values := p.SparseRow(i)
	others, numbers := p.SparseRow(j)
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
	columns, values := p.Entries(i)
	for k, v := range values {
		j := k
		if columns != nil {
			j = int(columns[k])
		}
		sum[j] += float64(a * float64(v))
	}
}

// length returns ‖x_i‖, or 1 of an example of zeros, which has no direction.
func (p *Pool) length(i int) float64 {
	if l := math.Sqrt(p.inner(i, i)); l > 0 {
		return l
	}
	return 1
}
