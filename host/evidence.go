package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrEvidence marks a learner that cannot learn from what is known of labels.
var ErrEvidence = errors.New("learner cannot learn from what is known of the labels")

// count returns the examples as they count: whole weights are rows in their place, and a learner
// that sums is given the others. Examples of weight 0 are left out, and, for a learner that cannot
// learn from them, those without a label.
func (o *Options) count(data *dataset.Dataset) (*dataset.Dataset, error) {
	e, q := data.Evidence, len(data.Classes)
	if e == nil {
		return data, nil
	}
	if err := e.Check(data.Y, q); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	name := o.Learner.Definition().Name
	soft, probabilistic := o.Learner.(learners.Probabilistic)
	times := e.Times(data.N)
	whole := times != nil
	switch {
	case !whole && !probabilistic:
		return nil, fmt.Errorf("train: %w: learner %s: got weights that are not whole, want whole ones, "+
			"or learner softmax", ErrEvidence, name)
	case !whole:
		times = make([]int, data.N)
		for i, v := range e.Weight {
			if v > 0 {
				times[i] = 1
			}
		}
	}
	unknown, rows, same := []int(nil), 0, true
	for i := range times {
		if times[i] > 0 && e.Unknown(i, q) && !(probabilistic && soft.Unlabelled()) {
			times[i] = 0
			unknown = append(unknown, data.SourceRow(i)+1)
		}
		rows += times[i]
		same = same && times[i] == 1
	}
	if len(unknown) > 0 {
		o.note("labels: %d of %d examples have none, and are left out: rows %s (counted from 1)",
			len(unknown), data.N, few(unknown))
	}
	if rows == 0 {
		return nil, fmt.Errorf("train: %w: got no example with a label, want one", dataset.ErrEvidence)
	}
	counted := *data
	if !same {
		what := fmt.Sprintf("%d rows for the weights of %d examples", rows, data.N)
		if err := memory.Check(memory.Product(rows, 8), what); err != nil {
			return nil, fmt.Errorf("train: weights: %w (divide all weights by a number)", err)
		}
		which := make([]int, 0, rows)
		for i, count := range times {
			for range count {
				which = append(which, i)
			}
		}
		if err := memory.Check(memory.Product(rows, data.Size()/max(1, data.N), 4), what); err != nil {
			return nil, fmt.Errorf("train: weights: %w (divide all weights by a number)", err)
		}
		some, err := data.Choose(which)
		if err != nil {
			return nil, fmt.Errorf("train: weights: %w", err)
		}
		if o.Annotations != nil {
			o.Annotations = o.Annotations.Pick(which)
		}
		if o.inPlace() {
			if err := data.Close(); err != nil {
				return nil, err
			}
			data.Examples = dataset.Examples{}
		}
		if counted = *some; counted.Prepared == nil {
			counted.Encoding = features.WithMeans(counted.Encoding, counted.Examples)
		}
	}
	if e := counted.Evidence; e != nil && whole { // rows say how much they count
		kept := *e
		if kept.Weight = nil; kept.Classes == nil {
			counted.Evidence = nil
		} else {
			counted.Evidence = &kept
		}
		if counted.SHA256 = ""; counted.Prepared == nil && !o.Trial {
			counted.SHA256 = counted.Hash()
		}
	}
	if counted.Evidence != nil && !probabilistic {
		return nil, fmt.Errorf("train: %w: learner %s: got several candidate classes or probabilities, "+
			"want learner softmax, or one class of each example", ErrEvidence, name)
	}
	return &counted, nil
}

// few returns the first of some numbers, for a message.
func few(all []int) string {
	const most = 5
	text := strings.Trim(fmt.Sprint(all[:min(most, len(all))]), "[]")
	text = strings.ReplaceAll(text, " ", ", ")
	if len(all) > most {
		text += ", …"
	}
	return text
}

// labelled returns the examples with evidence, each as often as any.
func labelled(data *dataset.Dataset) (*dataset.Dataset, error) {
	if data.Evidence == nil {
		return data, nil
	}
	which := lists.Where(data.N, func(i int) bool {
		return !data.Evidence.Unknown(i, len(data.Classes))
	})
	if which == nil {
		return nil, fmt.Errorf("%w: got no example with a label, want some to judge by",
			dataset.ErrEvidence)
	}
	some, err := data.Choose(which)
	if err == nil && some.Evidence != nil {
		some.Evidence.Weight = nil
	}
	return some, err
}
