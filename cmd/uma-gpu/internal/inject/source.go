package inject

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// Source are the rates of a confusion matrix that is made, and not read; at most one is given.
type Source struct {
	Symmetric float64
	Pairwise  float64
	Random    float64
}

func (s *Source) flags() []cli.Flag {
	return []cli.Flag{
		&cli.Float64Flag{Name: "symmetric", Destination: &s.Symmetric,
			Usage: "labels are wrong at this `RATE`, all wrong classes alike"},
		&cli.Float64Flag{Name: "pairwise", Destination: &s.Pairwise,
			Usage: "class q becomes q+1, the last one the first, at this `RATE`"},
		&cli.Float64Flag{Name: "random", Destination: &s.Random,
			Usage: "this `SHARE` of a random matrix, the rest of the identity"},
	}
}

// check makes sure that the flags name exactly one matrix.
func (o *Options) check() error {
	given := 0
	for _, noise := range []struct {
		flag string
		rate float64
	}{{"symmetric", o.Symmetric}, {"pairwise", o.Pairwise}, {"random", o.Random}} {
		if !o.Given(noise.flag) {
			continue
		}
		if given++; !(noise.rate >= 0 && noise.rate <= 1) {
			return app.Usage("--%s is %v, wanted a number from 0 to 1", noise.flag, noise.rate)
		}
	}
	if o.Noise.Path != "" {
		given++
	}
	if given != 1 {
		return app.Usage("found %d confusion matrices, wanted exactly one of --confusion, "+
			"--symmetric, --pairwise and --random", given)
	}
	return o.Noise.Check(&o.Common)
}

// matrix returns the confusion matrix for these classes.
func (o *Options) matrix(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	switch {
	case o.Given("symmetric"):
		return confusion.Symmetric(classes, o.Symmetric)
	case o.Given("pairwise"):
		return confusion.Pairwise(classes, o.Pairwise)
	case o.Given("random"):
		return confusion.Random(classes, o.Random, o.Seed)
	}
	return o.Noise.Read(ctx, classes)
}
