package catalog_test

import (
	"flag"
	"fmt"
	"log"

	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Finds a learner by its name, and sets its parameters as flags do.
func ExampleFind() {
	d, err := catalog.Find("uma")
	if err != nil {
		log.Fatal(err)
	}
	p := d.New() // for host.Options.Learner
	flags := flag.NewFlagSet(d.Name, flag.ContinueOnError)
	p.Flags(flags)
	if err := flags.Parse([]string{"--select", "confusion"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Step)
	flags.VisitAll(func(f *flag.Flag) { fmt.Printf("--%s %v\n", f.Name, f.Value) })
	// Output:
	// an update of W by all mistakes, or by those of one kind
	// --alpha 0
	// --alpha-unit weights
	// --doubt 1
	// --select confusion
	// --step all
	// --tol 1e-09
}

// Reads the parameters that a model file keeps; what they lack is at its default.
func ExampleParse() {
	p, err := catalog.Parse("uma", []byte(`{"step": "all", "select": "random", "alpha_unit": "weights"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", p)
	// Output: &{Step:all Select:random Alpha:0 AlphaUnit:weights Tol:1e-09 Doubt:0}
}
