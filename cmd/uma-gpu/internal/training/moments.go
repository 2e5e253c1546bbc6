package training

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// Most weights that a History keeps, and bytes of them.
const (
	mostKept      = 64
	mostKeptBytes = 256 << 20
)

// History holds the errors of a training step by step. The zero value keeps estimated errors
// alone. With Keeps it also keeps the weights of each step, or of every 2nd, 4th, ... in a long
// training: at most 64, and at most 256 MiB. HoldOut judges these.
type History struct {
	Keeps   bool
	Moments []report.Moment // one for each step

	stride int
	kept   []keptWeights // of steps that are multiples of stride, in order
}

type keptWeights struct {
	step int
	w    []float32
}

// Step adds a step, 1 for the first: the estimated error before it, and the weights after it.
func (h *History) Step(step int, estimatedError float64, w engine.Weights) {
	h.Moments = append(h.Moments, report.Moment{Step: step - 1, EstimatedError: estimatedError})
	if !h.Keeps || len(w.W) == 0 {
		return
	}
	h.stride = max(1, h.stride)
	if step%h.stride != 0 {
		return
	}
	h.kept = append(h.kept, keptWeights{step, slices.Clone(w.W)})
	if len(h.kept) > max(1, min(mostKept, mostKeptBytes/(4*len(w.W)))) {
		h.stride *= 2
		h.kept = slices.DeleteFunc(h.kept, func(k keptWeights) bool { return k.step%h.stride != 0 })
	}
}

// HoldOut judges the weights that were kept by examples that the training has not seen, and forgets
// them. inverse is the C⁻¹ of the labels of held. m is the model of the training: its preparation,
// unless held is prepared, and its map are applied to held. Errors come from the engine.
func (h *History) HoldOut(ctx context.Context, e *engine.Engine, m *model.Model,
	held *dataset.Dataset, inverse *confusion.Inverse) (err error) {
	if len(h.kept) == 0 {
		return nil
	}
	x := held.Examples
	if held.Prepared == nil {
		if x, err = features.Apply(&m.Meta.Preparation, x); err != nil {
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
		// the last weights have no moment of their own
		if at := k.step - h.Moments[0].Step; at < len(h.Moments) {
			h.Moments[at].HeldOutError = &wrong
		}
	}
	h.kept = nil
	return nil
}
