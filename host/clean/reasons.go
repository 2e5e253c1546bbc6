package clean

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Reasons says in a sentence why the label of an example is wrong, "" of one that is not; nil if
// none is. The linear model of named features names those that speak most against the label,
// compared with their mean. right is as Options.Right.
func Reasons(data *dataset.Dataset, r *Result, right []int32) ([]string, error) {
	wrong := lists.Where(data.N, func(i int) bool { return r.Issues[i].Wrong })
	if wrong == nil {
		return nil, nil
	}
	e, err := newExplainer(data, r.linear, wrong)
	if err != nil {
		return nil, err
	}
	reasons := make([]string, data.N)
	for k, i := range wrong {
		is, given := r.Issues[i], data.Y[i]
		name := data.Classes[is.Likely]
		switch {
		case right != nil && right[i] >= 0:
			reasons[i] = fmt.Sprintf("checked: the right label is %.60q", name)
			continue
		case is.Likely == given:
			reasons[i] = fmt.Sprintf("%.60q has the probability %.2f, and no class a larger one", name,
				is.Quality)
			continue
		}
		reasons[i] = fmt.Sprintf("%.60q is likelier than %.60q (%.2f, %.2f)", name,
			data.Classes[given], is.Sure, is.Quality)
		own, other := slices.Index(r.classes, int(given)), slices.Index(r.classes, int(is.Likely))
		if names := e.against(k, i, own, other); names != nil {
			reasons[i] += ": " + strings.Join(names, ", ")
		}
	}
	return reasons, nil
}

// explainer knows which features speak against labels.
type explainer struct {
	model    *model.Model // nil of one that cannot tell
	raw      dataset.Examples
	prepared dataset.Examples // of the wrong labels
	features []feature        // of raw
	mean     []float64        // of the prepared features
	rawMean  []float64
	sums     []float64 // of the features' groups
	row      []float32 // buffer
}

// feature is what a raw feature is part of: a column, or a term of a text.
type feature struct {
	group int
	name  string
	part  int // of the group
}

// The parts.
const (
	itself  = iota // a number, or a term
	bent           // a number beyond a knot
	level          // of a category
	missing        // 1 where the column is
)

// meanRows is the number of examples for the means.
const meanRows = 1000

func newExplainer(data *dataset.Dataset, m *model.Model, wrong []int) (*explainer, error) {
	e := &explainer{raw: data.Examples, features: named(data), row: make([]float32, data.D)}
	if m == nil || data.Prepared != nil || e.features == nil {
		return e, nil
	}
	var err error
	if e.prepared, err = features.Apply(&m.Meta.Preparation, data.Pick(wrong)); err != nil {
		return nil, err
	}
	step := (data.N + meanRows - 1) / meanRows
	usual := data.Pick(lists.Where(data.N, func(i int) bool { return i%step == 0 }))
	e.rawMean = means(usual)
	if usual, err = features.Apply(&m.Meta.Preparation, usual); err != nil {
		return nil, err
	}
	e.model, e.mean = m, means(usual)
	e.sums = make([]float64, e.features[len(e.features)-1].group+1)
	return e, nil
}

// named returns the features of data; nil if they have no names.
func named(data *dataset.Dataset) (list []feature) {
	if data.Encoding == nil {
		for j, name := range data.Features {
			list = append(list, feature{j, name, itself})
		}
		return list
	}
	group := -1
	for _, c := range data.Encoding.Columns {
		if c.Kind != dataset.KindText && c.Kind != dataset.KindAside {
			group++
		}
		put := func(name string, part int) { list = append(list, feature{group, name, part}) }
		if c.Kind == dataset.KindNumber {
			put(c.Name, itself)
		}
		for range c.Knots {
			put(c.Name, bent)
		}
		for _, value := range c.Levels {
			put(c.Name+"="+value, level)
		}
		for _, term := range c.Terms {
			group++
			put(fmt.Sprintf("%.40q in %s", term, c.Name), level)
		}
		if c.Indicator {
			put("no "+c.Name, missing)
		}
	}
	return list
}

func means(x dataset.Examples) []float64 {
	mean := make([]float64, x.D)
	for i := range x.N {
		columns, values := x.Entries(i)
		for k, v := range values {
			if columns != nil {
				k = int(columns[k])
			}
			mean[k] += float64(v) / float64(x.N)
		}
	}
	return mean
}

// mostAgainst is the number of names that a reason has, and leastAgainst the least part of the
// first that another one speaks against the label.
const (
	mostAgainst  = 3
	leastAgainst = 0.2
)

// against names what speaks most for the class likely and against the class given of example i,
// number k of the wrong ones; nil if the model does not say so.
func (e *explainer) against(k, i, given, likely int) (names []string) {
	if e.model == nil {
		return nil
	}
	clear(e.sums)
	all := 0.0
	columns, values := e.prepared.Entries(k)
	for at, v := range values {
		j := at
		if columns != nil {
			j = int(columns[at])
		}
		w := float64(e.model.W[likely*e.model.D+j]) - float64(e.model.W[given*e.model.D+j])
		all += float64(w * float64(v))
		if j < len(e.features) { // else the bias
			e.sums[e.features[j].group] += float64(w * (float64(v) - e.mean[j]))
		}
	}
	if all <= 0 {
		return nil
	}
	row := e.raw.DenseRow(e.row, i)
	said := make([]string, len(e.sums)) // of each group
	for j, f := range e.features {
		switch v := float64(row[j]); {
		case f.part == itself && v > e.rawMean[j]:
			said[f.group] = "high " + f.name
		case f.part == itself && v < e.rawMean[j]:
			said[f.group] = "low " + f.name
		case f.part > bent && v != 0:
			said[f.group] = f.name
		}
	}
	order := lists.Where(len(e.sums), func(g int) bool { return e.sums[g] > 0 && said[g] != "" })
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(e.sums[a], e.sums[b]) })
	for _, g := range order[:min(mostAgainst, len(order))] {
		if e.sums[g] >= leastAgainst*e.sums[order[0]] {
			names = append(names, said[g])
		}
	}
	return names
}
