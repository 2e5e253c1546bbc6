package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// must returns a value that there has to be.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// noisyDigits reads real digits and moves the labels of 40 % of them to the next class;
// right are the labels as they were.
func noisyDigits() (data *dataset.Dataset, noise *confusion.Matrix, right []int32) {
	data = must(file.Read(context.Background(), "../testdata/digits.csv.gz", file.Options{}))
	noise = must(confusion.Pairwise(data.Classes, 0.4))
	right = data.Y
	data.Y = must(noise.Inject(right, 1))
	return data, noise, right
}

// share returns how many of two lists of classes agree, in per cent.
func share(a, b []int32) int {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return 100 * same / len(a)
}

// Corrupts labels in a known way, trains, saves the model, loads it and predicts.
func ExampleTrain() {
	ctx, e := context.Background(), simd.New() // or gpu.Open
	data := must(file.Read(ctx, "../testdata/digits.csv.gz", file.Options{}))
	noise := must(confusion.Pairwise(data.Classes, 0.4)) // or confusion.ReadTable
	right := data.Y
	data.Y = must(noise.Inject(right, 1))

	trained := must(host.Train(ctx, data, noise, host.Options{Engine: e}))
	path := filepath.Join(must(os.MkdirTemp("", "uma-gpu")), "m.npz")
	defer os.RemoveAll(filepath.Dir(path))
	if err := trained.Save(path); err != nil {
		log.Fatal(err)
	}

	m := must(model.Load(path))
	predicted := must(m.Predict(ctx, e, data.Examples))
	fmt.Printf("%d %% of the labels are right, %d %% of the predictions\n",
		share(data.Y, right), share(predicted, right))
	fmt.Println("the first three:", m.Names(predicted[:3]))
	// Output:
	// 59 % of the labels are right, 98 % of the predictions
	// the first three: [0 1 2]
}
