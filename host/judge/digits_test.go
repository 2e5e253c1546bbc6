package judge_test

import (
	"context"
	"log"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// must returns value, or ends the test.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// noisyDigits reads real digits and moves the labels of 40 % of them to the next class;
// right are the labels as they were.
func noisyDigits() (data *dataset.Dataset, noise *confusion.Matrix, right []int32) {
	data = must(file.Read(context.Background(), "../../testdata/digits.csv.gz", file.Options{}))
	noise = must(confusion.Pairwise(data.Classes, 0.4))
	right = data.Y
	data.Y = must(noise.Inject(right, 1))
	return data, noise, right
}
