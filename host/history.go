package host

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Moment is how well the weights of a run were after so many steps.
type Moment struct {
	Step           int     `json:"step"`            // 0 or more
	EstimatedError float64 `json:"estimated_error"` // on the examples that are learned from
	// HeldOutError is the error rate on examples held out; of noisy labels, as C⁻¹ has it. Nil where it was not measured.
	HeldOutError *float64 `json:"held_out_error"`
}

// Most weights that a History keeps, and bytes of them.
const (
	mostKept      = 64
	mostKeptBytes = 256 << 20
)

// History follows a run: its Step is a Watch.Step. The zero value is ready, and keeps estimated
// errors alone; one whose Keeps is set keeps some of the weights as well, at most 64 and at most 256 MiB of
// them, which HoldOut judges: of each step, or of every 2nd, 4th, ... as the run becomes long.
type History struct {
	Keeps   bool
	Moments []Moment // one for each step

	stride int
	kept   []keptWeights // of steps that are multiples of stride, in order
}

type keptWeights struct {
	step int
	w    []float32
}

// Step notes a step.
func (h *History) Step(r Report) {
	h.Moments = append(h.Moments, Moment{Step: r.Step - 1, EstimatedError: r.EstimatedError})
	if !h.Keeps || len(r.W.W) == 0 {
		return
	}
	h.stride = max(1, h.stride)
	if r.Step%h.stride != 0 {
		return
	}
	h.kept = append(h.kept, keptWeights{r.Step, slices.Clone(r.W.W)})
	if len(h.kept) > max(1, min(mostKept, mostKeptBytes/(4*len(r.W.W)))) {
		h.stride *= 2
		h.kept = slices.DeleteFunc(h.kept, func(k keptWeights) bool { return k.step%h.stride != 0 })
	}
}

// HoldOut judges the weights that were kept by examples which the run has not seen, whose labels are noisy by the
// matrix, or right if that is nil, and forgets them. m is the model of the run: held goes through its
// preparation, unless it already has, and through its map. Errors: those of an engine, and of a matrix without
// an inverse.
func (h *History) HoldOut(ctx context.Context, e engine.Engine, m *model.Model, held *dataset.Dataset,
	noise *confusion.Matrix) error {
	if len(h.kept) == 0 {
		return nil
	}
	inverse, err := (&learners.Problem{Q: m.Q, Noise: noise}).Inverse()
	if err != nil {
		return err
	}
	x := held.Stored()
	if held.Prepared == nil {
		if x, err = m.Meta.Preparation.ApplyTo(x); err != nil {
			return err
		}
	}
	if k := m.Map(); k != nil {
		if x, err = k.Apply(ctx, e, x); err != nil {
			return err
		}
	}
	_, task := progress.Begin(ctx, progress.Work{
		Name: "judging weights of the run", Unit: "step", Total: int64(len(h.kept))})
	defer task.End()
	for at, k := range h.kept {
		task.Reach(int64(at))
		if err := ctx.Err(); err != nil {
			return err
		}
		predicted, err := engine.Predict(e, engine.Weights{Q: m.Q, D: m.D, W: k.w}, x)
		if err != nil {
			return err
		}
		counts := make([]int64, m.Q*m.Q)
		for i, p := range predicted {
			counts[int(p)*m.Q+int(held.Y[i])]++
		}
		wrong := inverse.EstimatedError(counts, x.N)
		if at := k.step - h.Moments[0].Step; at < len(h.Moments) { // the last weights have no moment of their own
			h.Moments[at].HeldOutError = &wrong
		}
	}
	h.kept = nil
	return nil
}
