package confusion_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// Takes C from gonum: the column of a true class says what becomes of its labels.
func ExampleFromMatrix() {
	c, err := confusion.FromMatrix([]string{"cat", "dog"}, mat.NewDense(2, 2, []float64{
		0.9, 0.2,
		0.1, 0.8,
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("P(noisy = cat | true = dog) = %v\n", c.P[1])
	fmt.Printf("determinant %.2f\n", mat.Det(c.Mat()))
	// Output:
	// P(noisy = cat | true = dog) = 0.2
	// determinant 0.70
}

func TestFromMatrixAndBack(t *testing.T) {
	want, err := confusion.Random([]string{"a", "b", "c"}, 0.4, 9)
	if err != nil {
		t.Fatal(err)
	}
	m := want.Mat()
	got, err := confusion.FromMatrix(want.Classes, m)
	if err != nil || !slices.Equal(got.P, want.P) || !slices.Equal(got.Classes, want.Classes) {
		t.Errorf("found %v, %v", got, err)
	}
	m.Set(0, 0, 7)
	if !slices.Equal(got.P, want.P) {
		t.Error("a matrix shares memory with its copy")
	}
}

func TestFromMatrixBad(t *testing.T) {
	for _, c := range []struct {
		classes []string
		m       mat.Matrix
		want    string
	}{
		{[]string{"a", "b"}, mat.NewDense(2, 3, nil), "found 2×3 numbers, wanted 2×2 for its 2 classes"},
		{[]string{"a", "a"}, mat.NewDense(2, 2, []float64{1, 0, 0, 1}), `"a"`},
		{[]string{"a", "b"}, mat.NewDense(2, 2, []float64{0.9, 0.1, 0.2, 0.8}), "its rows do sum to 1"},
		{[]string{"a", "b"}, mat.NewDense(2, 2, []float64{math.NaN(), 0, 0, 1}),
			"is NaN, wanted a number from 0 to 1"},
	} {
		if _, err := confusion.FromMatrix(c.classes, c.m); err == nil || !strings.Contains(err.Error(),
			c.want) {
			t.Errorf("found %v, wanted %q", err, c.want)
		}
	}
}
