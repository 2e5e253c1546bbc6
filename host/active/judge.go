package active

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// margin returns the difference between the two largest of at least two scores.
func margin(row []float32) float64 {
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

// judgeByModel fills w for Margin and Entropy. Differences of scores break ties, since float32
// cannot tell the probabilities of a confident model apart.
func (p *Pool) judgeByModel(o Options, m *model.Model, w *worth) error {
	scores, err := p.scores(o.Train.Engine, m)
	if err != nil {
		return err
	}
	q := m.Q
	predicted := engine.Predicted(scores, q)
	probabilities, temperature := make([]float32, q), float32(1)
	if m.Meta.Temperature > 0 {
		temperature = m.Meta.Temperature
	}
	for _, i := range w.which {
		row := scores[i*q : (i+1)*q]
		difference := margin(row)
		w.predicted, w.tie = append(w.predicted, predicted[i]), append(w.tie, -difference)
		if o.Strategy == Margin {
			w.value = append(w.value, -difference)
			continue
		}
		for r, s := range row {
			probabilities[r] = s / temperature
		}
		numerics.Softmax(probabilities, probabilities)
		w.value = append(w.value, entropy(probabilities))
	}
	return nil
}

// entropy returns -Σ p log p.
func entropy(p []float32) (sum float64) {
	for _, v := range p {
		if v >= 0x1p-126 { // Log takes no smaller numbers, and they add nothing
			sum -= float64(float64(v) * float64(numerics.Log(v)))
		}
	}
	return sum
}

// judgeByWeights fills w for SVM and BPM by the margins of the examples, scaled to length 1:
// example i is the hyperplane ⟨v, x_i⟩ = 0 among the classifiers v, and its margin is the distance
// of the classifier from it.
func (p *Pool) judgeByWeights(o Options, weights engine.Weights, w *worth) error {
	scores, err := engine.Scores(o.Train.Engine, weights, p.Examples)
	if err != nil {
		return err
	}
	predicted := engine.Predicted(scores, weights.Q)
	w.tie = make([]float64, len(w.which))
	for _, i := range w.which {
		w.predicted = append(w.predicted, predicted[i])
		w.value = append(w.value, -margin(scores[i*weights.Q:(i+1)*weights.Q])/p.length(i))
	}
	return nil
}
