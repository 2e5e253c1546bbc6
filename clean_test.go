package umagpu_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
)

// cleaning is a request on corners, as a table.
func cleaning(n int) (r *umagpu.CleanRequest, right []int32) {
	x, right := corners(n)
	var a, b []float64
	for i := range n {
		a, b = append(a, x[2*i]), append(b, x[2*i+1])
	}
	return &umagpu.CleanRequest{Labels: &umagpu.Labels{Classes: []string{" a", "", "1_0"},
		Codes: mislabelled(right)}, Data: umagpu.Data{Table: &umagpu.Table{Columns: []umagpu.Column{
		umagpu.NewNumbers("x", a), umagpu.NewNumbers("y", b)}}}}, right
}

// Wrong labels are found; an example without a label is no issue and gets a suggestion; a checked
// one has its class. Everything is in the order of the rows.
func TestClean(t *testing.T) {
	r, right := cleaning(600)
	const unlabelled, checked, both = 7, 100, 200
	r.Labels.Codes[unlabelled], r.Labels.Codes[both] = -1, -1
	r.Checked = make([]int32, 600)
	for i := range r.Checked {
		if r.Checked[i] = -1; i >= 560 {
			r.Checked[i] = right[i] // they decide
		}
	}
	r.Checked[checked], r.Checked[both] = right[checked], right[both]
	r.Labels.Codes[checked] = (right[checked] + 1) % 3
	got, err := umagpu.Clean(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	hits, moved := 0, 0
	for i, k := range right {
		if got.Cleaned[i] == k {
			hits++
		}
		if got.Wrong[i] {
			if got.Reasons[i] == "" {
				t.Errorf("row %d has no reason", i)
			}
			if got.Cleaned[i] != r.Labels.Codes[i] {
				moved++
			}
		} else if got.Reasons[i] != "" {
			t.Errorf("row %d: got reason %q of no issue", i, got.Reasons[i])
		}
	}
	if hits < 590 || moved != got.Corrected || got.Judgement == nil || got.Confusion == nil {
		t.Errorf("got %d of 600 right, %d moved, %d corrected", hits, moved, got.Corrected)
	}
	if got.Wrong[unlabelled] || got.Cleaned[unlabelled] != -1 ||
		got.Suggested[unlabelled] != right[unlabelled] {
		t.Error("an example without a label was not left as it is")
	}
	if got.Cleaned[checked] != right[checked] || got.Cleaned[both] != right[both] ||
		got.WrongProbability[checked] != 1 {
		t.Error("a checked example has not its class")
	}
	if !strings.Contains(strings.Join(got.Reasons, "\n"), `" a" is likelier than "" (`) {
		t.Error("no reason names the classes")
	}
	if !strings.Contains(strings.Join(got.Reasons, "\n"), ": high x") {
		t.Error("no reason names a feature")
	}
}

// Faults of requests name the option and the row.
func TestCleanFaults(t *testing.T) {
	for want, change := range map[string]func(*umagpu.CleanRequest){
		"checked: got 1 classes, want 60": func(r *umagpu.CleanRequest) { r.Checked = []int32{0} },
		"checked: row 2: got code 3": func(r *umagpu.CleanRequest) {
			r.Checked = make([]int32, 60)
			r.Checked[2] = 3
		},
		"labels: row 5: got code 9": func(r *umagpu.CleanRequest) { r.Labels.Codes[5] = 9 },
		"labels: got votes or soft": func(r *umagpu.CleanRequest) {
			r.Labels.Codes, r.Labels.Soft = nil, make([]float32, 180)
		},
		"labels: got weights":   func(r *umagpu.CleanRequest) { r.Labels.Weights = make([]float64, 60) },
		"normalize: ":           func(r *umagpu.CleanRequest) { r.Normalize = "sphere" },
		"labels: got none":      func(r *umagpu.CleanRequest) { r.Labels = nil },
		"data: got 0 of Table":  func(r *umagpu.CleanRequest) { r.Data = umagpu.Data{} },
		"clean: labels: got no": func(r *umagpu.CleanRequest) { minus(r.Labels.Codes) },
	} {
		r, _ := cleaning(60)
		change(r)
		_, err := umagpu.Clean(t.Context(), r)
		var f *umagpu.Fault
		if !errors.As(err, &f) {
			t.Errorf("got %v, want the fault %q", err, want)
		} else if got := f.Phrase(umagpu.SpellPython, 0); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// minus takes away all labels.
func minus(codes []int32) {
	for i := range codes {
		codes[i] = -1
	}
}

// Cleaning, issues, the estimate of C and training with it agree on rows, C and model.
func TestUnknownNoiseIsJudgedOnce(t *testing.T) {
	r, _ := request(300)
	data := func() umagpu.Data { return r.Data }
	cleaned, err := umagpu.Clean(t.Context(), &umagpu.CleanRequest{Data: data(), Labels: r.Labels})
	if err != nil {
		t.Fatal(err)
	}
	issues, err := umagpu.FindIssues(t.Context(), &umagpu.FindIssuesRequest{Data: data(),
		Labels: r.Labels})
	if err != nil {
		t.Fatal(err)
	}
	c, err := umagpu.EstimateNoise(t.Context(), &umagpu.EstimateNoiseRequest{Data: data(),
		Labels: r.Labels})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := umagpu.Train(t.Context(), &umagpu.TrainRequest{Data: data(), Labels: r.Labels,
		EstimateConfusion: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(cleaned.Wrong, issues.Wrong) ||
		!slices.Equal(cleaned.ToIdentify, issues.ToIdentify) ||
		!slices.Equal(cleaned.ToIdentify, c.ToIdentify) {
		t.Error("clean, issues and the estimate differ in rows")
	}
	for _, share := range []*umagpu.Share{issues.WrongShare, trained.WrongShare} {
		if !reflect.DeepEqual(share, &cleaned.WrongShare) {
			t.Errorf("clean says that %+v are wrong, and issues or train %+v", cleaned.WrongShare, share)
		}
	}
	for p, row := range cleaned.Confusion {
		if !slices.Equal(row, issues.Noise[p]) || !slices.Equal(row, c.Confusion[p]) ||
			!slices.Equal(row, trained.Confusion[p]) {
			t.Errorf("row %d of C: got %v, %v, %v and %v", p, row, issues.Noise[p], c.Confusion[p],
				trained.Confusion[p])
		}
	}
	if !slices.Equal(cleaned.Model.Host().W, trained.Model.Host().W) {
		t.Error("clean and train differ in the model")
	}
}
