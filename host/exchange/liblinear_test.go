package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// predictLIBLINEAR does what LIBLINEAR's predict does, read from its README: the class whose w·x
// is largest.
func predictLIBLINEAR(t *testing.T, file string, x []float32) int64 {
	t.Helper()
	var q, d int
	var bias float64
	head, numbers, _ := strings.Cut(file, "\nw\n")
	var labels []int64
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "nr_class":
			fmt.Sscan(value, &q)
		case "nr_feature":
			fmt.Sscan(value, &d)
		case "bias":
			fmt.Sscan(value, &bias)
		case "label":
			for _, word := range strings.Fields(value) {
				var label int64
				fmt.Sscan(word, &label)
				labels = append(labels, label)
			}
		case "solver_type":
			if value != "MCSVM_CS" {
				t.Fatalf("solver %s has other rules for two classes", value)
			}
		default:
			t.Fatalf("line %q", line)
		}
	}
	columns := make([]float64, 0, d+1)
	for _, v := range x {
		columns = append(columns, float64(v))
	}
	if bias >= 0 {
		columns = append(columns, bias)
	}
	lines := strings.Split(strings.TrimSuffix(numbers, "\n"), "\n")
	if len(labels) != q || len(lines) != len(columns) || len(x) != d {
		t.Fatalf("found %d labels of %d, %d lines of weights for %d columns", len(labels), q, len(lines),
			len(columns))
	}
	scores := make([]float64, q)
	for j, line := range lines {
		for r, word := range strings.Fields(line) {
			var w float64
			fmt.Sscan(word, &w)
			scores[r] += w * columns[j]
		}
	}
	best := 0
	for r, s := range scores {
		if s > scores[best] {
			best = r
		}
	}
	return labels[best]
}

func TestLIBLINEAR(t *testing.T) {
	linear := 0
	for name, r := range trials() {
		var file bytes.Buffer
		err := writeLIBLINEAR(&file, r.m)
		if r.m.Projection != nil {
			if !errors.Is(err, ErrForm) || file.Len() > 0 || !facts.Told(err, "ONNX") {
				t.Errorf("%s: got %v and %d bytes", name, err, file.Len())
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		linear++
		labels, named := Labels(r.m)
		if named != (name == "linear, numbers") {
			t.Errorf("%s: the labels are %d, named %v", name, labels, named)
		}
		want, _ := r.answers(t)
		for i, class := range want {
			x := r.data.DenseRow(make([]float32, r.data.D), i)
			at := slices.Index(r.m.Meta.Classes, class)
			if got := predictLIBLINEAR(t, file.String(), x); got != labels[at] {
				t.Fatalf("%s: example %d became %d, want %d, class %s", name, i, got, labels[at], class)
			}
		}
	}
	if linear < 5 {
		t.Errorf("found %d linear models", linear)
	}
}
