// Package umagpu trains multiclass classifiers from labels that are wrong in a known way: Fit
// learns a model of examples with noisy labels, Load reads one from a file, and a Model predicts.
//
// The noise is a confusion matrix, P(noisy label | true class). The weights have the same bits on
// every engine: the processor, which is the default, and OpenCL devices (package gpu), which are
// linked only into programs that import them.
//
// Functions may be called from several goroutines at once, and so may all methods of one Model.
// The arguments are only read, but must not be changed before the call returns. A cancelled
// context ends each call; Fit then returns the model so far (see Model.Interrupted).
package umagpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrOptions marks errors of Options that exclude each other.
var ErrOptions = errors.New("options do not fit together")

// Options of Fit. The zero value takes the labels for right, and trains the first learner of
// package learners/catalog on the processor.
type Options struct {
	Noise *Noise // of the labels; nil if they are right

	// Votes are labels by several workers, instead of the labels of Fit: each worker's noise is
	// learned.
	Votes []Vote

	Learner     learners.Params // such as uma.Defaults(); nil for Resume's, or softmax.Defaults()
	Kernel      *Kernel         // for curved boundaries between classes; nil for a linear classifier
	Preparation string          // steps such as "standardize,bias,l2"; "": what suits the data
	MaxSteps    int             // 0 for the learner's own
	// how long Fit may take; 0 for no limit. One step is always made (see host.Options.Time).
	Time time.Duration
	Seed uint64 // of all random choices

	// such as gpu.Open or shard.New return, which the caller closes; nil for the processor. That of a
	// device is best wrapped by audit.Driver, which finds wrong results, as the command line does.
	Engine *engine.Engine

	Checkpoint host.Checkpoint // where and how often to save the training; the zero value saves none
	// a training to continue that was interrupted or out of time, with the same data and Noise; nil
	// for none
	Resume *Model
	Note   func(string) // receives remarks for the user; may be nil
}

// Noise is the confusion matrix of labels.
type Noise struct {
	// P[noisy][true] is the probability that an example of the true class gets the noisy label:
	// columns sum to 1. With TrueRows it is P[true][noisy], and rows sum to 1.
	P        [][]float64
	TrueRows bool
	Classes  []string // in the order of P; nil for the order of Model.Classes
}

// Vote is the label that a worker gave an example.
type Vote struct {
	Example       int // 0 for the first
	Worker, Label string
}

// Kernel describes a classifier with curved boundaries. Softmax works on coordinates of landmarks
// unless Components is set, all others on Components kernel principal components.
type Kernel struct {
	Function   Function
	Gamma      float64 // of RBF and Poly; 0 for 1 / the median squared distance, or Search of softmax
	Search     bool    // find the best of several Gamma near 1 / the median squared distance
	Degree     int     // of Poly; 0 for 3
	Coef0      float64 // of Poly
	Components int     // 0 for 500, or all if there are fewer
	Landmarks  int     // examples that represent all; 0 for 1000, or of components up to 5000
}

// Function is a kernel function.
type Function string

// The kernel functions.
const (
	RBF    Function = kernel.RBF    // exp(-Gamma·‖a-b‖²)
	Poly   Function = kernel.Poly   // (Gamma·⟨a,b⟩ + Coef0)^Degree
	Linear Function = kernel.Linear // ⟨a,b⟩
)

// Label is the type of the labels of Fit. Numbers become names: 7 is "7".
type Label interface{ ~int | ~string }

// Fit returns the model learned from examples x and their noisy labels, one for each example;
// labels are nil with Options.Votes. Errors: ErrOptions, and errors from host.Train.
func Fit[L Label](ctx context.Context, x Examples, labels []L, o Options) (*Model, error) {
	if x.err != nil {
		return nil, x.err
	}
	var names []string
	for _, l := range labels {
		names = append(names, fmt.Sprint(l))
	}
	data, err := dataset.New(x.set, names, nil)
	if err != nil {
		return nil, err
	}
	settings, err := o.settings(data)
	if err != nil {
		return nil, err
	}
	noise, err := o.Noise.matrix(data.Classes)
	if err != nil {
		return nil, err
	}
	trained, err := host.Train(ctx, data, noise, settings)
	if err != nil {
		return nil, err
	}
	return &Model{model: trained.Model, engine: settings.Engine, doubts: trained.Doubts}, nil
}

// settings returns the options of host.Train, and gives data the votes as labels.
func (o *Options) settings(data *dataset.Dataset) (s host.Options, err error) {
	s = host.Options{Engine: o.Engine, Learner: o.Learner, Preparation: o.Preparation,
		MaxSteps: o.MaxSteps, Time: o.Time, Seed: o.Seed, Checkpoint: o.Checkpoint,
		Tool: "package umagpu"}
	if s.Engine == nil {
		s.Engine = simd.New()
	}
	if o.Resume != nil {
		s.Resume = o.Resume.model
	}
	if o.Note != nil {
		s.Watch.Note = func(format string, args ...any) { o.Note(fmt.Sprintf(format, args...)) }
	}
	if o.Votes != nil {
		if data.Y != nil || o.Noise != nil {
			return s, fmt.Errorf("%w: Votes: got labels or Noise too, want Votes alone", ErrOptions)
		}
		if s.Annotations, err = annotations(o.Votes, data.N); err != nil {
			return s, err
		}
		data.Classes = s.Annotations.Classes
		data.Y = s.Annotations.Votes(o.Seed)
	}
	if k := o.Kernel; k != nil {
		f := kernel.Function{Kind: string(k.Function), Gamma: float32(k.Gamma)}
		if k.Function == Poly {
			if f.Coef0, f.Degree = float32(k.Coef0), k.Degree; f.Degree == 0 {
				f.Degree = 3
			}
		}
		s.Kernel = &fitting.Options{Function: f, Search: k.Search, Components: k.Components,
			Landmarks: k.Landmarks}
	}
	return s, nil
}

// matrix returns the confusion matrix for data of the given classes; nil for no noise.
func (n *Noise) matrix(classes []string) (*confusion.Matrix, error) {
	if n == nil {
		return nil, nil
	}
	order, q := n.Classes, len(classes)
	if order == nil {
		order = classes
	}
	if len(n.P) != q || len(order) != q {
		return nil, fmt.Errorf("%w: Noise: got %d rows and %d classes, want %d as the data have",
			ErrOptions, len(n.P), len(order), q)
	}
	at := make([]int, q)
	for k, name := range order {
		if at[k] = slices.Index(classes, name); at[k] < 0 || slices.Contains(order[:k], name) {
			return nil, fmt.Errorf("%w: Noise: class %q: want each class of the data once", ErrOptions, name)
		}
	}
	m := &confusion.Matrix{Classes: classes, P: make([]float64, q*q)}
	for i, row := range n.P {
		if len(row) != q {
			return nil, fmt.Errorf("%w: Noise: row %d: got %d entries, want %d", ErrOptions, i, len(row), q)
		}
		for j, p := range row {
			noisy, right := at[i], at[j]
			if n.TrueRows {
				noisy, right = right, noisy
			}
			m.P[noisy*q+right] = p
		}
	}
	return m, m.Check()
}

// annotations returns votes as the learners take them, for n examples.
func annotations(votes []Vote, n int) (*dataset.Annotations, error) {
	a := &dataset.Annotations{}
	for _, v := range votes {
		if v.Example < 0 || v.Example >= n {
			return nil, fmt.Errorf("%w: Votes: example %d: want 0 to %d", ErrOptions, v.Example, n-1)
		}
		a.Classes, a.Names = append(a.Classes, v.Label), append(a.Names, v.Worker)
	}
	dataset.SortClasses(a.Classes)
	slices.Sort(a.Names)
	a.Classes, a.Names = slices.Compact(a.Classes), slices.Compact(a.Names)
	sorted := slices.Clone(votes)
	slices.SortStableFunc(sorted, func(v, w Vote) int {
		return cmp.Or(v.Example-w.Example, cmp.Compare(v.Worker, w.Worker)) // as Names are sorted
	})
	for _, v := range sorted {
		for len(a.Start) <= v.Example {
			a.Start = append(a.Start, len(a.By))
		}
		a.By = append(a.By, int32(slices.Index(a.Names, v.Worker)))
		a.Label = append(a.Label, int32(slices.Index(a.Classes, v.Label)))
	}
	for len(a.Start) <= n {
		a.Start = append(a.Start, len(a.By))
	}
	return a, a.Check(n, len(a.Classes))
}
