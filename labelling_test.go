package umagpu_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
)

// threeClasses are the labels of corners.
func threeClasses(codes []int32) *umagpu.Labels {
	return &umagpu.Labels{Classes: []string{" a", "", "1_0"}, Codes: codes}
}

// near reports whether a matrix is that of mislabelled, but for off in each entry.
func near(c [][]float64, off float64) bool {
	for p, row := range c {
		for t, v := range row {
			if math.Abs(v-fortyPercent.P[p][t]) > off {
				return false
			}
		}
	}
	return len(c) == 3
}

// exact are the probabilities of noisy labels: columns of fortyPercent.
func exact(right []int32) (p []float32) {
	for _, t := range right {
		for k := range 3 {
			p = append(p, float32(fortyPercent.P[k][t]))
		}
	}
	return p
}

// The noise is found from each source. Examples without a label say nothing.
func TestEstimateNoise(t *testing.T) {
	r, right := request(3000)
	noisy := r.Labels.Codes
	some := slices.Repeat([]int32{-1}, 3000)
	copy(some, right[:1000])
	gaps := slices.Clone(noisy)
	for i := range 100 {
		gaps[i] = -1
	}
	counts := make([][]float64, 3) // true classes in rows
	for k := range counts {
		counts[k] = make([]float64, 3)
	}
	for i, k := range noisy {
		counts[right[i]][k]++
	}
	for name, c := range map[string]*umagpu.EstimateNoiseRequest{
		"true":   {Labels: threeClasses(gaps), True: some},
		"counts": {Labels: threeClasses(noisy), Counts: &umagpu.Confusion{P: counts}},
		"counts by axes": {Labels: threeClasses(nil), Counts: &umagpu.Confusion{P: counts,
			Axes: "true-rows"}},
		"shares":              {Labels: threeClasses(nil), Counts: fortyPercent},
		"shares of true rows": {Labels: threeClasses(nil), Counts: &umagpu.Confusion{P: shares(counts)}},
		"probabilities":       {Labels: threeClasses(gaps), Probabilities: exact(right), True: some},
		"data":                {Labels: threeClasses(gaps), Data: r.Data, True: some},
	} {
		got, err := umagpu.EstimateNoise(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !near(got.Confusion, 0.05) || got.Assumes == "" {
			t.Errorf("%s: got %v", name, got.Confusion)
		}
	}
}

// shares divides each row by its sum.
func shares(counts [][]float64) (rows [][]float64) {
	for _, row := range counts {
		sum, part := 0.0, make([]float64, len(row))
		for _, v := range row {
			sum += v
		}
		for k, v := range row {
			part[k] = v / sum
		}
		rows = append(rows, part)
	}
	return rows
}

// Wrong labels are found from probabilities and from data, with the matrix and without, in the
// order of the examples; one without a label is no issue.
func TestFindIssues(t *testing.T) {
	r, right := request(900)
	noisy := r.Labels.Codes
	noisy[4] = -1
	for name, c := range map[string]*umagpu.FindIssuesRequest{
		"probabilities":        {Probabilities: exact(right)},
		"probabilities, known": {Probabilities: exact(right), Confusion: fortyPercent},
		"classes, known":       {Probabilities: certain(right), Confusion: fortyPercent},
		"contest, known":       {Data: r.Data, Confusion: fortyPercent, Survey: true},
	} {
		c.Labels = threeClasses(noisy)
		got, err := umagpu.FindIssues(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		missed := 0
		for i, k := range noisy {
			if got.Wrong[i] != (k >= 0 && k != right[i]) {
				missed++
			}
		}
		if missed > 9 || got.Wrong[4] || got.Quality[4] != 1 {
			t.Errorf("%s: %d labels misjudged", name, missed)
		}
		if c.Survey && (got.Survey.Neighbours != 10 || got.Survey.OrderP == 0) {
			t.Errorf("%s: got survey %+v", name, got.Survey)
		}
	}
	// votes of three annotators, the last of whom errs, and one example without any
	votes := &umagpu.Votes{Names: []string{"z", "y", "x"}}
	for i, k := range right {
		for by, said := range []int32{k, k, noisy[i]} {
			if i != 7 && said >= 0 {
				votes.Rows, votes.By = append(votes.Rows, int32(i)), append(votes.By, int32(by))
				votes.Codes = append(votes.Codes, said)
			}
		}
	}
	l := &umagpu.Labels{Classes: []string{" a", "", "1_0"}, Votes: votes}
	got, err := umagpu.FindIssues(t.Context(), &umagpu.FindIssuesRequest{Data: r.Data, Labels: l})
	if err != nil {
		t.Fatal(err)
	}
	if got.Wrong[7] || got.Likely[7] != -1 || got.Likely[8] != right[8] {
		t.Errorf("annotators: got classes %v", got.Likely[:10])
	}
}

func certain(right []int32) (p []float32) {
	for _, t := range right {
		row := make([]float32, 3)
		row[t] = 1
		p = append(p, row...)
	}
	return p
}

// The consensus of voters is found by what each is worth; functions may abstain, and an example
// without a vote has no class.
func TestConsensus(t *testing.T) {
	for _, functions := range []bool{false, true} {
		_, right := corners(300)
		votes := &umagpu.Votes{Names: []string{"good", "bad", "also good"}, Functions: functions}
		for i, k := range right {
			for by, said := range []int32{k, (k + 1) % 3, k} {
				if i == 9 || by == 1 && i%3 != 0 {
					continue
				}
				votes.Rows, votes.By = append(votes.Rows, int32(i)), append(votes.By, int32(by))
				votes.Codes = append(votes.Codes, said)
			}
		}
		got, err := umagpu.Consensus(t.Context(), &umagpu.ConsensusRequest{Examples: 300,
			Labels: &umagpu.Labels{Classes: []string{" a", "", "1_0"}, Votes: votes}})
		if err != nil {
			t.Fatal(err)
		}
		right[9] = -1
		if !slices.Equal(got.Codes, right) || len(got.Probabilities) != 900 {
			t.Errorf("functions %v: got other classes", functions)
		}
		if a := got.Agreement; len(a.Pairs) != 3 || *a.Pairs[0].Kappa != 1 || a.Voters[1].Name != "bad" ||
			*a.Voters[1].Right != 0 {
			t.Errorf("functions %v: got agreement %+v", functions, a)
		}
	}
}

// The examples to label next are without a label, near the boundary.
func TestQuery(t *testing.T) {
	r, right := request(300)
	codes := slices.Repeat([]int32{-1}, 300)
	copy(codes, right[:30])
	got, err := umagpu.Query(t.Context(), &umagpu.QueryRequest{Data: r.Data, K: 3,
		Labels: threeClasses(codes), Aside: []int32{31}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 3 || slices.Min(got.Rows) < 30 || slices.Contains(got.Rows, 31) ||
		got.Labelled != 30 || got.Left != 266 {
		t.Errorf("got %+v", got)
	}
}

// A kernel map has components, whose products are those of the kernel; a table finds them by name.
func TestKernelMap(t *testing.T) {
	r, _ := request(60)
	fitted, err := umagpu.FitKernelMap(t.Context(), &umagpu.FitKernelMapRequest{Data: r.Data,
		Settings: umagpu.Settings{Gamma: "0.5", Landmarks: "all", Components: 59, Normalize: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	z, err := umagpu.ApplyKernelMap(t.Context(), &umagpu.ApplyKernelMapRequest{Basis: fitted.Basis,
		Data: r.Data})
	if err != nil {
		t.Fatal(err)
	}
	x, d := r.Data.Matrix.Float64, z.Components
	got := 0.0
	for k := range d {
		got += float64((z.Values[k] - z.Values[d+k]) * (z.Values[k] - z.Values[d+k]))
	}
	want := 2 - 2*math.Exp(-0.5*(math.Pow(x[0]-x[2], 2)+math.Pow(x[1]-x[3], 2)))
	if d != fitted.Components || math.Abs(got-want) > 0.01 {
		t.Errorf("squared distance of %d components: got %v, want %v", d, got, want)
	}
}

// Faults of all these requests name the option and the row.
func TestFaultsOfLabels(t *testing.T) {
	r, right := request(60)
	labels, p := r.Labels, exact(right)
	nan, sum := slices.Clone(p), slices.Clone(p)
	nan[10], sum[7] = float32(math.NaN()), 0.9
	kernel := umagpu.Settings{Kernel: "rbf", Gamma: "search"}
	vote := func(name string, code int32) *umagpu.Labels {
		return &umagpu.Labels{Classes: []string{"a", "b"}, Votes: &umagpu.Votes{Names: []string{"v",
			name},
			Rows: []int32{0, 0}, By: []int32{0, 1}, Codes: []int32{0, code}}}
	}
	trusting := func(name string, functions bool) *umagpu.Labels {
		l := vote("w", 1)
		l.Votes.Trust, l.Votes.Functions, l.Votes.By[1] = []string{name}, functions, 0
		return l
	}
	for want, request := range map[string]any{
		"probabilities: row 3: column 1: got NaN": &umagpu.FindIssuesRequest{Labels: labels,
			Probabilities: nan},
		"probabilities: row 2: got the sum": &umagpu.FindIssuesRequest{Labels: labels,
			Probabilities: sum},
		"probabilities: got 177 numbers": &umagpu.FindIssuesRequest{Labels: labels,
			Probabilities: p[3:]},
		"normalize: got a value beside probabil": &umagpu.FindIssuesRequest{Labels: labels,
			Normalize: "bias", Probabilities: p},
		"data: got none":      &umagpu.FindIssuesRequest{Labels: labels},
		"survey: got no data": &umagpu.FindIssuesRequest{Labels: labels, Probabilities: p, Survey: true},
		"confusion: confusion matrix: the column": &umagpu.FindIssuesRequest{Labels: labels,
			Probabilities: p, Confusion: &umagpu.Confusion{P: [][]float64{{.5, .2, .3}, {.4, .5, 0},
				{.1, .2, .6}}}},
		"confusion: row 1, column 0: got -0.4": &umagpu.FindIssuesRequest{Labels: labels,
			Probabilities: p, Confusion: &umagpu.Confusion{P: [][]float64{{1, 0, 0}, {-.4, .6, 0},
				{.4, .4, 1}}}},
		"confusion: got row 0 of 3 numbers and 2 rows": &umagpu.FindIssuesRequest{Labels: labels,
			Data:      r.Data,
			Confusion: &umagpu.Confusion{P: fortyPercent.P[:2]}},
		`method: got "em"`: &umagpu.EstimateNoiseRequest{Labels: labels, Probabilities: p, Method: "em"},
		"learner: got a value": &umagpu.EstimateNoiseRequest{Labels: labels, Data: r.Data,
			Settings: umagpu.Settings{Learner: "uma"}},
		"true: got none":      &umagpu.EstimateNoiseRequest{Labels: labels},
		"labels: got none":    &umagpu.EstimateNoiseRequest{True: right},
		"true: got 2 classes": &umagpu.EstimateNoiseRequest{Labels: labels, True: right[:2]},
		"counts: got row 0": &umagpu.EstimateNoiseRequest{Labels: labels,
			Counts: &umagpu.Confusion{P: [][]float64{{1}}}},
		"labels: got no votes": &umagpu.ConsensusRequest{Labels: labels, Examples: 60},
		`trust: got "x"`: &umagpu.ConsensusRequest{Labels: trusting("x", false),
			Examples: 1},
		"votes: row 0: got two of fun": &umagpu.ConsensusRequest{Labels: trusting("v", true),
			Examples: 1},
		`votes: got voter "v"`: &umagpu.ConsensusRequest{Labels: vote("v", 0), Examples: 1},
		"votes: got row 0":     &umagpu.ConsensusRequest{Labels: vote("w", 2), Examples: 1},
		`method: got "best"`: &umagpu.ConsensusRequest{Labels: vote("w", 1), Examples: 1,
			Method: "best"},
		`strategy: got "best"`: &umagpu.QueryRequest{Labels: labels, Data: r.Data, Strategy: "best"},
		"aside: got example 60": &umagpu.QueryRequest{Labels: labels, Data: r.Data,
			Aside: []int32{60}},
		"gamma: got search": &umagpu.FitKernelMapRequest{Data: r.Data, Settings: kernel},
		"max_steps: got a valu": &umagpu.FitKernelMapRequest{Data: r.Data,
			Settings: umagpu.Settings{MaxSteps: new(3)}},
		"basis: basis: ": &umagpu.ApplyKernelMapRequest{Data: r.Data, Basis: []byte("PK")},
	} {
		var f *umagpu.Fault
		if err := call(t, request); !errors.As(err, &f) {
			t.Errorf("got %v, want the fault %q", err, want)
		} else if got := f.Phrase(umagpu.SpellPython, 0); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func call(t *testing.T, request any) (err error) {
	switch r := request.(type) {
	case *umagpu.FindIssuesRequest:
		_, err = umagpu.FindIssues(t.Context(), r)
	case *umagpu.EstimateNoiseRequest:
		_, err = umagpu.EstimateNoise(t.Context(), r)
	case *umagpu.ConsensusRequest:
		_, err = umagpu.Consensus(t.Context(), r)
	case *umagpu.QueryRequest:
		_, err = umagpu.Query(t.Context(), r)
	case *umagpu.FitKernelMapRequest:
		_, err = umagpu.FitKernelMap(t.Context(), r)
	case *umagpu.ApplyKernelMapRequest:
		_, err = umagpu.ApplyKernelMap(t.Context(), r)
	}
	return err
}
