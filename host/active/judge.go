package active

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// contend returns the difference between the two largest of at least two scores.
func contend(row []float32) float64 {
	first, second := row[0], row[1]
	if second > first {
		first, second = second, first
	}
	for _, s := range row[2:] {
		if s > first {
			first, second = s, first
		} else if s > second {
			second = s
		}
	}
	return float64(first) - float64(second)
}

// judgeByModel fills w for strategies that look at the model alone. Differences of scores settle
// equal values: where a model is sure of itself, float32 tells its probabilities apart no more.
func (p *Pool) judgeByModel(o Options, m *model.Model, w *worth) error {
	scores, err := p.scores(o.Train.Engine, m)
	if err != nil {
		return err
	}
	q := m.Q
	all := engine.Predicted(scores, q)
	probabilities, temperature := make([]float32, q), float32(1)
	if m.Meta.Temperature > 0 {
		temperature = m.Meta.Temperature
	}
	for _, i := range w.which {
		row := scores[i*q : (i+1)*q]
		difference := contend(row)
		w.predicted, w.tie = append(w.predicted, all[i]), append(w.tie, -difference)
		if o.Strategy == Margin {
			w.value = append(w.value, -difference)
			continue
		}
		for r, s := range row {
			probabilities[r] = s / temperature
		}
		numerics.Softmax(probabilities, probabilities)
		if o.Strategy == Entropy {
			w.value = append(w.value, entropy(probabilities))
		} else {
			w.value = append(w.value, gradient(probabilities)*p.length(i))
		}
	}
	return nil
}

// entropy returns -Σ p log p.
func entropy(p []float32) (sum float64) {
	for _, v := range p {
		if v >= 0x1p-126 { // of smaller ones Log knows nothing, and they add nothing
			sum -= float64(float64(v) * float64(numerics.Log(v)))
		}
	}
	return sum
}

// gradient returns the length that the gradient of the logistic loss has, by the scores, if the
// label is drawn by the probabilities p: Σ_k p_k·‖p − e_k‖.
func gradient(p []float32) (sum float64) {
	square := 0.0
	for _, v := range p {
		square += float64(float64(v) * float64(v))
	}
	for _, v := range p {
		// ‖p − e_k‖² = ‖p‖² − 2p_k + 1
		sum += float64(float64(v) * math.Sqrt(max(square-float64(2*float64(v))+1, 0)))
	}
	return sum
}

// judgeByWeights fills w by how near examples are to where two classes contend: differences of
// scores, of examples of length 1. Example i is the hyperplane ⟨v, x_i⟩ = 0 among the classifiers
// v, and that is how far the classifier is from it.
func (p *Pool) judgeByWeights(o Options, weights engine.Weights, w *worth) error {
	scores, err := engine.Scores(o.Train.Engine, weights, p.Examples)
	if err != nil {
		return err
	}
	all := engine.Predicted(scores, weights.Q)
	w.tie = make([]float64, len(w.which))
	for _, i := range w.which {
		w.predicted = append(w.predicted, all[i])
		w.value = append(w.value, -contend(scores[i*weights.Q:(i+1)*weights.Q])/p.length(i))
	}
	return nil
}

// judgeByCommittee fills w by the entropy of the votes of models, each of as many labelled examples
// as there are, drawn with replacement. The mean of their differences of scores settles ties.
func (p *Pool) judgeByCommittee(ctx context.Context, o Options, w *worth) error {
	known, q := p.labelled(), len(p.Classes)
	votes, sums := make([]float32, p.N*q), make([]float32, p.N*q)
	w.tie = make([]float64, len(w.which))
	ctx, task := progress.Begin(ctx, progress.Work{Name: "a committee", Unit: "member",
		Total: int64(o.Members)})
	defer task.End()
	for member := range o.Members {
		task.Reach(int64(member))
		t, err := p.fit(ctx, p.resample(known, o.Seed, member), o.Noise, o.Train)
		if err != nil {
			return err
		}
		scores, err := p.scores(o.Train.Engine, t.Model)
		if err != nil {
			return err
		}
		unit := 0.0 // scores of members have units of their own
		for _, i := range w.which {
			unit += contend(scores[i*q : (i+1)*q])
		}
		for k, i := range w.which {
			if unit > 0 {
				w.tie[k] -= contend(scores[i*q:(i+1)*q]) / unit
			}
		}
		for i, class := range engine.Predicted(scores, q) {
			votes[i*q+int(class)]++
		}
		lists.Add(sums, scores)
	}
	all := engine.Predicted(votes, q)
	share := make([]float32, q)
	for _, i := range w.which {
		for r, v := range votes[i*q : (i+1)*q] {
			share[r] = v / float32(o.Members)
		}
		w.predicted, w.value = append(w.predicted, all[i]), append(w.value, entropy(share))
	}
	return nil
}

// resample draws as many of the examples known as there are, of two classes at least, as these are.
func (p *Pool) resample(known []int, seed uint64, member int) []int {
	random := rand.New(rand.NewPCG(seed, uint64(len(known))<<8|uint64(member)))
	which := make([]int, len(known))
	for {
		two := false
		for k := range which {
			which[k] = known[random.IntN(len(known))]
			two = two || p.Labels[which[k]] != p.Labels[which[0]]
		}
		if two {
			return which
		}
	}
}
