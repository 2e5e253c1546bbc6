package dataset_test

import (
	"fmt"
	"log"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Makes a data set of what a program has in memory.
func ExampleNew() {
	x := dataset.Examples{N: 3, D: 2, X: []float32{2, 30, 9, 60, 3, 25}}
	d, err := dataset.New(x, []string{"cat", "dog", "cat"}, []string{"weight", "height"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Classes, d.Y)
	// Output: [cat dog] [0 1 0]
}
