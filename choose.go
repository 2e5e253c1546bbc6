package umagpu

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// AutoLearner is a TrainRequest's learner that stands for the one, of a linear model, a curved one
// and trees, whose out-of-fold probabilities explain the labels best: through the confusion, if
// there is one.
const AutoLearner = "auto"

// What a choice of the learner reads at most, and tries curved models on.
const (
	mostChoosing       = 5000 // examples
	mostCurvedFeatures = 2000
	choosingFolds      = 3
)

// checkAuto returns the fault of settings of one learner beside AutoLearner.
func (r *TrainRequest) checkAuto() error {
	for _, p := range Parameters(&r.Settings) {
		own := p.Group == kernelGroup || p.Name == "normalize" || p.Name == "weights" ||
			p.Name == "max_steps"
		if own && !p.field.IsZero() {
			return conflict(p.Name, "a value beside the learner auto", "a learner")
		}
	}
	if len(r.Parameters) > 0 {
		return conflict("parameters", "values beside the learner auto", "a learner")
	}
	if r.From != nil || r.Resume != nil {
		return conflict("learner", "auto beside a model to begin with", "its learner")
	}
	plain := *r
	plain.Learner = ""
	return plain.Check()
}

// choose returns the request with a learner in place of AutoLearner, and why.
func (r *TrainRequest) choose(ctx context.Context) (*TrainRequest, []Note, error) {
	began := time.Now()
	set, err := r.Data.examples(ctx)
	if err != nil {
		return nil, nil, fault(ctx, err)
	}
	ways := []Candidate{{Name: "linear"}}
	if !set.Sparse() && set.D <= mostCurvedFeatures {
		ways = append(ways, Candidate{Name: "curved", Settings: Settings{Kernel: "rbf"}})
	}
	if !set.Encoding.HasText() {
		ways = append(ways, Candidate{Name: "trees", Settings: Settings{Learner: "trees"}})
	}
	if len(ways) == 1 {
		chosen := *r
		chosen.Learner = ""
		return &chosen, nil, nil
	}
	for k := range ways { // half of the time, in equal parts
		ways[k].Time = r.Time / float64(2*choosingFolds*len(ways))
	}
	tried, err := CrossValidate(ctx, &CrossValidateRequest{Data: r.Data, Labels: r.Labels,
		Confusion: r.Confusion, Settings: Settings{Seed: r.Seed}, Folds: choosingFolds, Compare: ways,
		Compute: r.Compute, most: mostChoosing})
	if err != nil {
		return nil, nil, err
	}
	best, text := tried.Compared[0], "learner auto: log-loss of labels held out:"
	for _, c := range tried.Compared {
		if c.LogLoss != nil {
			text += fmt.Sprintf(" %s %.4f,", c.Name, *c.LogLoss)
		}
	}
	chosen, at := *r, slices.IndexFunc(ways, func(c Candidate) bool { return c.Name == best.Name })
	chosen.Learner, chosen.Kernel = ways[at].Learner, ways[at].Kernel
	if r.Time > 0 {
		chosen.Time = max(1e-9, r.Time-time.Since(began).Seconds())
	}
	said := notes{to: r.Compute.Note}
	said.say("%s so %s", text, best.Name)
	return &chosen, said.all, nil
}

// sample leaves about most of the examples of v, with their shares of each label.
func (v *validation) sample(most int) error {
	d := v.data
	if most == 0 || d.N <= most {
		return nil
	}
	part := *d
	folds := dataset.DrawFolds(d.Y, len(d.Classes), (d.N+most-1)/most, v.request.seed(),
		dataset.OuterFolds)
	some := lists.Where(d.N, func(i int) bool { return folds[i] == 0 })
	examples, err := d.Copy(some)
	if err != nil {
		return err
	}
	part.Examples, part.Y, part.SHA256 = examples, lists.At(d.Y, some), ""
	part.IDs, part.Source, part.Rest = nil, nil, nil
	part.Evidence = d.Evidence.Pick(some, len(d.Classes))
	if v.annotations != nil {
		v.annotations = v.annotations.Pick(some)
	}
	v.data = &part
	return nil
}
