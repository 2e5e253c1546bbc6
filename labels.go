package umagpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Labels are what is known of the classes of n examples: one Code each, or Soft labels, or Votes.
type Labels struct {
	// Classes are the names of the Q classes, different, in an order that is kept everywhere. Names
	// decide nothing.
	Classes []string `json:"classes"`
	// Codes are places in Classes, below 0 without a label.
	Codes []int32 `json:"-" array:"codes"`
	// Soft are n×Q numbers of at least 0, row-major: a row of ones and zeros is a set of candidate
	// classes, another one the probabilities of classes.
	Soft []float32 `json:"-" array:"soft"`
	// Weights are how much each example counts: 2 as the example twice, 0 leaves it out.
	Weights []float64 `json:"-" array:"weights"`
	Votes   *Votes    `json:"votes,omitempty"`
}

// Votes are labels by annotators or labelling functions: By[k] says Codes[k] of example Rows[k].
type Votes struct {
	Names []string `json:"names"` // of the voters, different
	Rows  []int32  `json:"-" array:"rows"`
	By    []int32  `json:"-" array:"by"`
	Codes []int32  `json:"-" array:"codes"` // places in Labels.Classes
	// Functions says that voters are labelling functions, to which abstaining is evidence.
	Functions bool     `json:"functions,omitempty"`
	Trust     []string `json:"trust,omitempty"` // voters whose labels are right
}

// NewLabels returns the labels with these names, and the classes in their order of appearance
// unless others are given. missing, if given, is the name that means no label.
func NewLabels(names []string, classes []string, missing ...string) (*Labels, error) {
	l, code := &Labels{Classes: slices.Clone(classes)}, map[string]int32{}
	for k, name := range classes {
		code[name] = int32(k)
	}
	for i, name := range names {
		k, known := code[name]
		switch {
		case slices.Contains(missing, name):
			k = -1
		case !known && classes != nil:
			return nil, &Fault{Kind: Invalid, Option: "labels", Row: &i, Got: strconv.Quote(name),
				Want: "one of the classes"}
		case !known:
			k = int32(len(l.Classes))
			code[name], l.Classes = k, append(l.Classes, name)
		}
		l.Codes = append(l.Codes, k)
	}
	return l, nil
}

// Check returns the fault of labels that do not fit n examples.
func (l *Labels) Check(n int) error {
	wrong := func(got, want string) error { return invalid("labels", got, want) }
	q, given := len(l.Classes), 0
	for _, is := range []bool{l.Codes != nil, l.Soft != nil, l.Votes != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return conflict("labels", fmt.Sprintf("%d of Codes, Soft and Votes", given), "one")
	case q < 2:
		return wrong(fmt.Sprintf("%d classes", q), "at least two")
	case l.Codes != nil && len(l.Codes) != n:
		return wrong(fmt.Sprintf("%d labels", len(l.Codes)), fmt.Sprintf("%d, one for each example", n))
	case l.Soft != nil && len(l.Soft) != n*q:
		return wrong(fmt.Sprintf("%d probabilities", len(l.Soft)),
			fmt.Sprintf("%d, one for each of %d examples and %d classes", n*q, n, q))
	case l.Weights != nil && len(l.Weights) != n:
		return invalid("weights", fmt.Sprint(len(l.Weights)), fmt.Sprintf("%d, one for each example", n))
	}
	if name, twice := lists.Repeated(l.Classes); twice {
		return wrong(fmt.Sprintf("class %q twice", name), "different classes")
	}
	for i, k := range l.Codes {
		if int(k) >= q {
			return &Fault{Kind: Invalid, Option: "labels", Row: &i, Got: fmt.Sprintf("code %d", k),
				Want: fmt.Sprintf("less than the %d classes", q)}
		}
	}
	if l.Votes != nil {
		return l.Votes.check(n, q)
	}
	return nil
}

func (v *Votes) check(n, q int) error {
	if len(v.Rows) != len(v.By) || len(v.Rows) != len(v.Codes) || len(v.Rows) == 0 {
		return invalid("votes", fmt.Sprintf("%d rows, %d voters and %d labels", len(v.Rows), len(v.By),
			len(v.Codes)), "as many of each, and a vote at least")
	}
	if name, twice := lists.Repeated(v.Names); twice {
		return invalid("votes", fmt.Sprintf("voter %q twice", name), "different names")
	}
	for _, name := range v.Trust {
		if !slices.Contains(v.Names, name) {
			return invalid("trust", strconv.Quote(name), "a voter")
		}
	}
	var seen []bool // n × voters: votes of functions
	if v.Functions {
		seen = make([]bool, n*len(v.Names))
	}
	for k := range v.Rows {
		r, b, c := int(v.Rows[k]), int(v.By[k]), int(v.Codes[k])
		if r < 0 || r >= n || b < 0 || b >= len(v.Names) || c < 0 || c >= q {
			return invalid("votes", fmt.Sprintf("row %d, voter %d, code %d", r, b, c),
				fmt.Sprintf("a row below %d, a voter below %d, a code below %d", n, len(v.Names), q))
		}
		if !v.Functions {
			continue
		}
		at := r*len(v.Names) + b
		if seen[at] {
			return &Fault{Kind: Invalid, Option: "votes", Row: &r,
				Got: fmt.Sprintf("two of function %q", v.Names[b]), Want: "one"}
		}
		seen[at] = true
	}
	return nil
}

// ofRow returns the fault of an option, and of the row that err names.
func ofRow(option string, err error) *Fault {
	f := &Fault{Kind: Invalid, Option: option, Cause: err}
	if row := (*dataset.RowError)(nil); errors.As(err, &row) {
		f.Row, f.Cause = &row.Row, row.Err
	}
	return f
}

// of returns the labels as places in the classes of a model, which must be among them.
func (l *Labels) of(classes []string) (*Labels, error) {
	if l == nil || slices.Equal(l.Classes, classes) {
		return l, nil
	}
	if l.Codes == nil {
		return nil, invalid("labels", fmt.Sprintf("classes %q", l.Classes), fmt.Sprintf("%q", classes))
	}
	place := make([]int32, len(l.Classes))
	for k, name := range l.Classes {
		place[k] = int32(slices.Index(classes, name))
	}
	same := &Labels{Classes: classes, Codes: make([]int32, len(l.Codes)), Weights: l.Weights}
	for i, k := range l.Codes {
		same.Codes[i] = -1
		if k < 0 {
			continue
		}
		if int(k) >= len(place) || place[k] < 0 {
			return nil, &Fault{Kind: Unfit, Option: "labels", Row: &i, Got: fmt.Sprintf("class %q",
				l.Classes[k]), Want: fmt.Sprintf("one of the model's, %q", classes)}
		}
		same.Codes[i] = place[k]
	}
	return same, nil
}

// enter gives the labels to set, and returns what annotators say; nil if they do not.
func (l *Labels) enter(ctx context.Context, set *dataset.Dataset, seed uint64,
) (*dataset.Annotations, error) {
	if l == nil {
		if set.Y == nil && set.Classes == nil {
			return nil, invalid("labels", "none", "a label for each example, or votes")
		}
		return nil, nil
	}
	if err := l.Check(set.N); err != nil {
		return nil, err
	}
	q := len(l.Classes)
	set.Classes, set.Y = l.Classes, make([]int32, set.N)
	known := &dataset.Evidence{Weight: l.Weights, Classes: l.Soft}
	var a *dataset.Annotations
	switch {
	case l.Votes != nil:
		a = l.Votes.annotations(set.N, l.Classes)
		if !l.Votes.Functions {
			var err error
			if a, known.Weight, err = voted(set, a, l.Weights); err != nil {
				return nil, err
			}
			set.Y = a.Votes(seed)
			break
		}
		found, err := crowd.FitFunctions(ctx, a)
		if err != nil {
			return nil, &Fault{Kind: Unfit, Option: "votes", Cause: err}
		}
		a, known.Classes, known.Likely = nil, found.Evidence(), !found.ByVote
	case slices.ContainsFunc(l.Codes, func(k int32) bool { return k < 0 }):
		known.Classes = make([]float32, set.N*q)
		for i, k := range l.Codes {
			if row := known.Classes[i*q : (i+1)*q]; k >= 0 {
				row[k], set.Y[i] = 1, k
			} else {
				copy(row, slices.Repeat([]float32{1}, q))
			}
		}
	case l.Codes != nil:
		copy(set.Y, l.Codes)
	}
	if err := dataset.CheckWeights(known.Weight, set.N); err != nil {
		return nil, ofRow("weights", err)
	}
	if set.Evidence = nil; known.Weight != nil || known.Classes != nil {
		if err := set.SetEvidence(known); err != nil {
			return nil, ofRow("labels", err)
		}
	}
	return a, nil
}

// voted leaves out what no annotator has labelled: of set, a and weights, which may be nil. The
// hash of set is that of its features, whatever the labels are.
func voted(set *dataset.Dataset, a *dataset.Annotations, weights []float64,
) (*dataset.Annotations, []float64, error) {
	which, plain := a.Labelled(), *set
	plain.Classes, plain.Y, plain.Evidence = nil, nil, nil
	if len(which) < set.N {
		set.Notes = append(set.Notes, fmt.Sprintf(
			"annotators: %d of %d examples have no label, and are left out", set.N-len(which), set.N))
		some, err := plain.Choose(which)
		if err != nil {
			return nil, nil, err
		}
		set.Examples, set.Source, set.IDs = some.Examples, some.Source, some.IDs
		plain, set.SHA256, a = *some, "", a.Pick(which)
		if weights != nil {
			weights = lists.At(weights, which)
		}
	}
	if set.SHA256 == "" {
		set.SHA256 = plain.Hash()
	}
	return a, weights, nil
}

// single gives set the labels, -1 where there is none, in calls that take no other evidence. l is
// nil for the labels of set.
func (l *Labels) single(set *dataset.Dataset) error {
	unfit := func(got, advice string) *Fault {
		return &Fault{Kind: Unfit, Option: "labels", Got: got, Want: "one label of each example, or none",
			Advice: advice}
	}
	q := len(set.Classes)
	switch {
	case l == nil && set.Y == nil:
		return invalid("labels", "none", "a label for each example")
	case l == nil && set.Evidence != nil && set.Evidence.Weight != nil, l != nil && l.Weights != nil:
		return unfit("weights", "repeat the examples, or leave the weights out")
	case l == nil && set.Evidence != nil && set.Evidence.Classes != nil:
		set.Y = slices.Clone(set.Y)
		for i := range set.Y {
			switch {
			case set.Evidence.Unknown(i, q):
				set.Y[i] = dataset.Unlabelled
			case !set.Evidence.One(i, q):
				row, several := set.SourceRow(i), unfit("several classes", "leave the others out")
				several.Row = &row
				return several
			}
		}
		set.Evidence = nil
		return nil
	case l == nil:
		return nil
	}
	if err := l.Check(set.N); err != nil {
		return err
	}
	if l.Codes == nil {
		return unfit("votes or soft labels", "take the most likely class of each example, as Consensus "+
			"returns it for votes")
	}
	set.Classes, set.Y, set.Evidence = l.Classes, slices.Clone(l.Codes), nil
	for i, k := range set.Y {
		set.Y[i] = max(k, dataset.Unlabelled)
	}
	return nil
}

// annotations returns the votes as package dataset has them: voters in bytewise order, votes in
// the order of examples and voters.
func (v *Votes) annotations(n int, classes []string) *dataset.Annotations {
	a := &dataset.Annotations{Classes: classes, Names: slices.Sorted(slices.Values(v.Names)),
		Functions: v.Functions, Start: make([]int, n+1)}
	place := map[string]int32{}
	for k, name := range a.Names {
		place[name] = int32(k)
	}
	if len(v.Trust) > 0 {
		a.Right = make([]bool, len(a.Names))
		for _, name := range v.Trust {
			a.Right[place[name]] = true
		}
	}
	order := lists.UpTo[int](len(v.Rows))
	slices.SortStableFunc(order, func(i, k int) int {
		if v.Rows[i] != v.Rows[k] {
			return int(v.Rows[i]) - int(v.Rows[k])
		}
		return int(place[v.Names[v.By[i]]]) - int(place[v.Names[v.By[k]]])
	})
	for _, k := range order {
		a.By, a.Label = append(a.By, place[v.Names[v.By[k]]]), append(a.Label, v.Codes[k])
		a.Start[v.Rows[k]+1]++
	}
	for i := range n {
		a.Start[i+1] += a.Start[i]
	}
	return a
}

// Confusion is the confusion matrix of labels, Q×Q, in the order of Labels.Classes: shares
// P[noisy][true], whose columns sum to 1; or counts of examples.
type Confusion struct {
	P      [][]float64 `json:"-" array:"p"`
	Errors [][]float64 `json:"-" array:"errors"` // standard errors of shares; nil if unknown
	// Axes is "true-rows" where rows are the true classes, as in scikit-learn's confusion_matrix(true,
	// noisy), "true-columns" where columns are, or "auto" (same as ""): what the sums of shares tell.
	Axes string `json:"confusion_axes,omitempty"`
}

// matrix returns the matrix of the classes of set, checked; nil if c is nil.
func (c *Confusion) matrix(set *dataset.Dataset, said *notes) (*confusion.Matrix, error) {
	if c == nil {
		return nil, nil
	}
	t, err := confusion.FromRows(set.Classes, c.P, c.Errors, c.Axes, labelCounts(set))
	var m *confusion.Matrix
	if err == nil {
		m, err = t.Matrix()
	}
	if err != nil {
		return nil, &Fault{Kind: Invalid, Option: "confusion", Cause: err}
	}
	if t.Axes == confusion.TrueRows && c.Axes != confusion.TrueRows {
		said.warn("confusion matrix: by its sums, rows are the true classes, and are taken so (%s says "+
			"it)", quote.Option("confusion-axes", confusion.TrueRows))
	}
	return m, nil
}

// labelCounts counts the examples of each label.
func labelCounts(set *dataset.Dataset) []int64 {
	counts := make([]int64, len(set.Classes))
	for i, y := range set.Y {
		if y >= 0 && (set.Evidence == nil || set.Evidence.One(i, len(set.Classes))) {
			counts[y]++
		}
	}
	return counts
}
