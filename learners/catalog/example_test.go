package catalog_test

import (
	"fmt"
	"log"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Finds a learner by its name, and sets its parameters by their names.
func ExampleFind() {
	d, err := catalog.Find("uma")
	if err != nil {
		log.Fatal(err)
	}
	p := d.New() // for host.Options.Learner
	if rule, ok := learners.Lookup(p, "select"); ok {
		if err := rule.Set("confusion"); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(d.Step)
	for _, each := range p.Definition().Parameters {
		fmt.Printf("%s: %v\n", each.Name, each)
	}
	// Output:
	// an update of W by all mistakes, or by one kind of mistakes
	// step: all
	// select: confusion
	// alpha: 0
	// alpha_unit: weights
	// tol: 1e-09
	// doubt: 1
}

// Reads the parameters that a model file keeps; what they lack is at its default.
func ExampleParse() {
	p, err := catalog.Parse("uma",
		[]byte(`{"step": "all", "select": "random", "alpha_unit": "weights"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", p)
	// Output: &{Step:all Select:random Alpha:0 AlphaUnit:weights Tol:1e-09 Doubt:1}
}
