package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// Corrupts the labels of real digits, trains, and asks how many of the true
// labels the classifier finds again.
func ExampleRun() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	data, err := dataset.Read(context.Background(), "../testdata/digits.csv.gz", dataset.Options{LabelColumn: "last"})
	check(err)
	noise, err := confusion.Pairwise(data.Classes, 0.4)
	check(err)
	noisy, err := noise.Inject(data.Y, 1)
	check(err)

	preparation, err := dataset.Fit(dataset.Steps{Standardize: true, Bias: true, L2: true}, data.Examples)
	check(err)
	x, err := preparation.Apply(data.Examples)
	check(err)

	e := cpuref.New() // or gpu.Open
	problem := &learners.Problem{X: x, Y: noisy, Q: len(data.Classes), Noise: noise, Engine: e}
	result, err := host.Run(context.Background(), uma.Defaults(), problem, host.RunOptions{MaxSteps: 200})
	check(err)

	predicted, err := engine.Predict(e, result.W, x)
	check(err)
	right := 0
	for i, c := range predicted {
		if c == data.Y[i] {
			right++
		}
	}
	fmt.Printf("%d of %d labels were right, %d predictions are\n", count(noisy, data.Y), data.N, right)
	// Output: 1065 of 1797 labels were right, 1608 predictions are
}

// count returns how many entries agree.
func count(a, b []int32) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
