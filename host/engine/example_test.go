package engine_test

import (
	"fmt"
	"log"
	"math"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Scores examples by weights that a program has from anywhere.
func ExamplePredict() {
	e := simd.New() // or gpu.Open
	w := engine.Weights{Q: 2, D: 3, W: []float32{1, 0, 0, 0, 1, 1}}
	x := dataset.Examples{N: 3, D: 3, X: []float32{5, 1, 1, 1, 2, 2, 0, 1, 0}}
	classes, err := engine.Predict(e, w, x)
	if err != nil {
		log.Fatal(err)
	}
	scores, err := engine.Scores(e, w, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(classes, scores)
	// Output: [0 1 1] [5 2 1 4 0 1]
}

// Asks what a learner asks in each step: the cell of each example, by its prediction and
// its noisy label, and the sum of the examples of the cells.
func ExampleEngine() {
	e := simd.New()
	x := dataset.Examples{N: 4, D: 2, X: []float32{2, 0, 3, 1, 0, 2, 1, 4}}
	noisy := []int32{0, 1, 1, 1}
	cells, err := e.LoadCells(x, noisy, 2, numerics.FixedPoint{}) // in the format of x itself
	if err != nil {
		log.Fatal(err)
	}
	defer cells.Close()
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, 0, 1}}
	if err := cells.Rescore(w, []int{0, 1}); err != nil {
		log.Fatal(err)
	}
	a, err := cells.Assign(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("predicted 0, labelled 0 and 1:", a.Predicted[0:2])
	fmt.Println("predicted 1, labelled 0 and 1:", a.Predicted[2:4])
	z := make([]float32, 2)
	identity := []float32{1, 0, 0, 1} // C⁻¹ of labels that are right
	if err := cells.UpdateVectors(z, []engine.Pair{{P: 0, Q: 1}}, identity); err != nil {
		log.Fatal(err)
	}
	fmt.Println("update vector of class 1 taken for class 0:", z)
	// Output:
	// predicted 0, labelled 0 and 1: [1 1]
	// predicted 1, labelled 0 and 1: [0 2]
	// update vector of class 1 taken for class 0: [0.75 0.25]
}

// Asks what a learner by gradients asks in each step: the loss of weights, and its gradient,
// here with a quarter of the labels wrong.
func ExampleEvaluator() {
	e := simd.New()
	x := dataset.Examples{N: 4, D: 2, X: []float32{2, 0, 3, 1, 0, 2, 1, 4}}
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	right, wrong := float32(math.Log(0.75)), float32(math.Log(0.25))
	noisy := engine.Targets{Values: []float32{right, wrong, wrong, right}, Row: []int32{0, 1, 1, 1}}
	if err := r.SetTargets(noisy); err != nil {
		log.Fatal(err)
	}
	sums := make([]int64, 2*2)
	v, err := r.Evaluate(sums, engine.NewWeights(2, 2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean loss: %.4f\n", math.Ldexp(float64(v.Loss),
		-numerics.LossFormat(x.N).S)/float64(x.N))
	u := r.FixedPoint().Unit()
	fmt.Println("gradient of class 0:", float32(sums[0])*u, float32(sums[1])*u)
	fmt.Println("gradient of class 1:", float32(sums[2])*u, float32(sums[3])*u)
	// Output:
	// mean loss: 0.6931
	// gradient of class 0: 0.125 0.4375
	// gradient of class 1: -0.125 -0.4375
}
