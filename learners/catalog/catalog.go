// Package catalog is the table of all learners, by which they are found by name. A learner is one
// folder below learners and one line here; flags, help, model files and tests follow from it.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/noisyperceptron"
	"github.com/uma-gpu/uma-gpu/learners/online"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/trees"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// All returns the definitions of all learners, the command's default first.
func All() []*learners.Definition {
	return slices.Concat(
		of(softmax.Defaults()),
		of(trees.Defaults()),
		of(uma.Defaults()),
		of(classmean.Defaults()),
		of(kernelmean.Defaults()),
		online.Definitions(),
		of(noisyperceptron.NewBylander(), noisyperceptron.NewBlum()),
	)
}

func of(defaults ...learners.Params) (all []*learners.Definition) {
	for _, p := range defaults {
		all = append(all, p.Definition())
	}
	return all
}

// Find returns the definition of a learner. The error lists those there are.
func Find(name string) (*learners.Definition, error) {
	var names []string
	for _, d := range All() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("learner %q is not known; use %s", name, strings.Join(names, ", "))
}

// Parse returns the parameters of the named learner that text holds (Definition.Parse).
func Parse(name string, text []byte) (learners.Params, error) {
	d, err := Find(name)
	if err != nil {
		return nil, err
	}
	return d.Parse(text)
}
