package features

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// A column gives the labels away if it alone predicts at least mostTelling of them, and each other
// column at least leastApart fewer: a copy of the label, or what is only known after it.
const (
	mostTelling = 0.99
	leastApart  = 0.1
)

// GiveAway needs fewestTold labelled rows and uses at most about mostRows. It divides the values of
// a numeric column into parts of equal size and predicts the most common label of each part.
const (
	fewestTold = 100
	mostRows   = 2000
	parts      = 32
)

// mostColumns is the number of columns above which GiveAway would take long.
const mostColumns = 1000

// GiveAway returns the name of the column that gives the labels of d away, and the share of labels
// that it predicts alone; "" if no column does, or of features without names.
func GiveAway(d *dataset.Dataset) (column string, share float64) {
	if len(d.Y) != d.N { // distributions, or votes
		return "", 0
	}
	labelled := lists.Where(d.N, func(i int) bool { return d.Y[i] >= 0 })
	step := max(1, len(labelled)/mostRows)
	some := lists.Keep(labelled, func(i int) bool { return i%step == 0 })
	if d.Sparse() || d.Prepared != nil || len(some) < fewestTold {
		return "", 0
	}
	columns, first := columnsOf(d)
	if len(columns) < 2 || len(columns) > mostColumns {
		return "", 0
	}
	x, y := d.Pick(some), lists.At(d.Y, some)
	if mostAlike(y) > (1-leastApart)*float64(len(y)) {
		return "", 0
	}
	second := 0.0
	for k, name := range columns {
		switch told := tells(x, y, first[k], first[k+1]); {
		case told > share:
			column, share, second = name, told, share
		case told > second:
			second = told
		}
	}
	if share < mostTelling || share-second < leastApart {
		return "", 0
	}
	return column, share
}

// columnsOf returns the names of columns, and the first feature of each; the last is d.D.
func columnsOf(d *dataset.Dataset) (names []string, first []int) {
	if d.Encoding == nil {
		return d.Features, lists.UpTo[int](d.D + 1)
	}
	at := 0
	for _, c := range d.Encoding.Columns {
		if n := c.Width(); n > 0 {
			names, first = append(names, c.Name), append(first, at)
			at += n
		}
	}
	return names, append(first, at)
}

// tells returns the share of labels that features from first on tell alone: the commonest label of
// the rows with the same levels of a category, or of a part of the numbers.
func tells(x dataset.Examples, y []int32, first, end int) float64 {
	order := lists.UpTo[int](x.N)
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Compare(x.Row(a)[first:end], x.Row(b)[first:end])
	})
	right, part := 0.0, []int32(nil)
	for k, i := range order {
		part = append(part, y[i])
		last := k+1 == len(order) || !slices.Equal(x.Row(i)[first:end], x.Row(order[k+1])[first:end])
		if last && (len(part) >= x.N/parts || k+1 == len(order)) {
			right += mostAlike(part)
			part = part[:0]
		}
	}
	return right / float64(x.N)
}

// mostAlike returns how often the commonest of some labels is there.
func mostAlike(y []int32) float64 {
	counts, most := map[int32]int{}, 0
	for _, k := range y {
		counts[k]++
		most = max(most, counts[k])
	}
	return float64(most)
}
