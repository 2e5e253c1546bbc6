package file_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// Reads a file of its own accord about format, packing and header, within the time that
// a context allows.
func ExampleRead() {
	d, err := file.Read(context.Background(), "../../../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d examples, %d features, classes %v\n", d.Format, d.N, d.D, d.Classes)
	// Output: csv: 1797 examples, 64 features, classes [0 1 2 3 4 5 6 7 8 9]
}

// Chooses the features of a model by their names from a file that has more of them.
func ExampleReadFrom_featureNames() {
	const table = "weight,id,height,kind\n2,x1,30,cat\n9,x2,60,dog\n"
	d, err := file.ReadFrom(context.Background(), strings.NewReader(table), "pets.csv",
		file.Options{FeatureNames: []string{"height", "weight"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Features, d.X)
	fmt.Println(d.Notes[0])
	// Output:
	// [height weight] [30 2 60 9]
	// pets.csv: ignored are columns that the model does not know: "id"
}
