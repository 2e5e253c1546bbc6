package metric

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("%s = %v, wanted %v", what, got, want)
	}
}

// Truth a a a a b b c c; predicted a a b c b c c c.
// Ĉ off the diagonal: column a (0, 1/4, 1/4), column b (0, 0, 1/2), column c 0.
func TestEvaluateByHand(t *testing.T) {
	truth := []int32{0, 0, 0, 0, 1, 1, 2, 2}
	predicted := []int32{0, 0, 1, 2, 1, 2, 2, 2}
	r, err := Evaluate(truth, predicted, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]int64{{2, 0, 0}, {1, 1, 0}, {1, 1, 2}}; !reflect.DeepEqual(r.Confusion, want) {
		t.Errorf("confusion = %v, wanted %v", r.Confusion, want)
	}
	near(t, "error rate", r.ErrorRate, 3.0/8)
	near(t, "confusion rate", r.ConfusionRate, math.Sqrt((1./16+1./16+1./4)/3))
	// The non-zero block [[1/4, 0], [1/4, 1/2]] has M·Mᵀ = [[1, 1], [1, 5]]/16.
	near(t, "operator norm", r.OperatorNorm, math.Sqrt((6+math.Sqrt(20))/2)/4)
	for c, want := range []struct {
		class             string
		examples          int64
		recall, precision float64
	}{{"a", 4, .5, 1}, {"b", 2, .5, .5}, {"c", 2, 1, .5}} {
		got := r.PerClass[c]
		if got.Class != want.class || got.Examples != want.examples || *got.Recall != want.recall ||
			*got.Precision != want.precision {
			t.Errorf("class %d: %s, %d examples, recall %v, precision %v; wanted %v",
				c, got.Class, got.Examples, *got.Recall, *got.Precision, want)
		}
	}
}

func TestEvaluateJSON(t *testing.T) {
	// Class c neither occurs nor is predicted; b occurs and is never predicted.
	r, err := Evaluate([]int32{0, 1}, []int32{0, 0}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "operator norm", r.OperatorNorm, 1)
	near(t, "confusion rate", r.ConfusionRate, math.Sqrt(1./3))
	near(t, "macro F1", r.MacroF1, 1./3)
	// digits that print short
	r.ConfusionRate, r.OperatorNorm, r.MacroF1, *r.PerClass[0].F1 = 0.5, 1, 0.25, 0.75
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"examples":2,"error_rate":0.5,"confusion_rate":0.5,"operator_norm":1,` +
		`"macro_f1":0.25,"balanced_accuracy":0.5,"kappa":0,"per_class":[` +
		`{"class":"a","examples":1,"recall":1,"precision":0.5,"f1":0.75},` +
		`{"class":"b","examples":1,"recall":0,"precision":null,"f1":0},` +
		`{"class":"c","examples":0,"recall":null,"precision":null,"f1":null}],` +
		`"confusion":[[1,1,0],[0,0,0],[0,0,0]]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEvaluatePerfectAndSingleClass(t *testing.T) {
	for _, classes := range [][]string{{"a"}, {"a", "b"}} {
		r, err := Evaluate([]int32{0, 0}, []int32{0, 0}, classes)
		if err != nil {
			t.Fatal(err)
		}
		if r.ErrorRate != 0 || r.ConfusionRate != 0 || r.OperatorNorm != 0 {
			t.Errorf("%v: %+v, wanted zeros", classes, r)
		}
	}
	// All wrong over two classes: Ĉ swaps the classes.
	r, err := Evaluate([]int32{0, 1, 1}, []int32{1, 0, 0}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "error rate", r.ErrorRate, 1)
	near(t, "confusion rate", r.ConfusionRate, 1)
	near(t, "operator norm", r.OperatorNorm, 1)
}

func TestEvaluateErrors(t *testing.T) {
	two := []string{"a", "b"}
	for _, c := range []struct {
		truth, predicted []int32
		classes          []string
		want             string
	}{
		{[]int32{0}, []int32{0}, nil, "evaluate class 1"},
		{nil, nil, two, "evaluate example 1"},
		{[]int32{0, 1}, []int32{0}, two, "evaluate 1 predictions 2 true"},
		{[]int32{0, 2}, []int32{0, 0}, two, "evaluate example 1 0 true label 2 0 1"},
		{[]int32{-1}, []int32{0}, two, "evaluate example 0 0 true label -1 0 1"},
		{[]int32{0}, []int32{2}, two, "evaluate example 0 0 predicted label 2 0 1"},
		{[]int32{0}, []int32{-5}, two, "evaluate example 0 0 predicted label -5 0 1"},
	} {
		if _, err := Evaluate(c.truth, c.predicted, c.classes); !facts.Told(err, c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// Equal lengths of what a matrix makes of the axes of its singular values: diagonal, of rank 1, 0,
// and a mean of noise.
func TestLargestSingular(t *testing.T) {
	for _, c := range []struct {
		a    []float64
		want float64
	}{
		{[]float64{3, 0, 0, 4}, 4}, {[]float64{1, 1, 1, 1}, 2}, {make([]float64, 9), 0},
		{[]float64{0, 2, 0, 0}, 2},
		{[]float64{0, 1, 2, 3, 0, 4, 5, 6, 0}, 8.219522159},
	} {
		got, ok := LargestSingular(c.a, int(math.Sqrt(float64(len(c.a)))))
		if !ok || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("norm of %v is %v, %v, wanted %v", c.a, got, ok, c.want)
		}
	}
}
