package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/bench/papers/localisation"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
)

const (
	thesis       = "Louche, From confusion noise to active learning (2016), "
	figure6About = `1000 points of a square of side 20, labelled by a line through its centre, without
the points nearer to it than the margin.
`
)

var figure63 = &experiment{
	Name: "fig6.3", Usage: "cutting planes that three oracles ask for (figure 6.3 of Louche's thesis)",
	Paper: thesis + "Figure 6.3",
	About: figure6About +
		`The margin is 0.1. Rows are, for each oracle and number of planes, the share of runs that ask
for at least this number, and the updates of the perceptron by then, 0 in shorter runs. The thesis
has 1000 runs, and tells two shares of the oracle that asks for the largest mistake.`,
	Axis: "planes", run: runFigure63,
}

var figure64 = &experiment{
	Name: "fig6.4", Usage: "cutting planes and updates by the margin (figure 6.4 of Louche's thesis)",
	Paper: thesis + "Figure 6.4",
	About: figure6About +
		`Margins from 0.01 to 0.3: of each oracle planes and all updates; and the updates of the
perceptron that sees all examples, each by the one of the lowest margin. The thesis has 1000 runs,
and its text no numbers.`,
	Axis: "margin", run: runFigure64,
}

// Measures of cutting planes.
const (
	Reached = "share_of_runs" // of runs that ask for at least this number of planes
	Planes  = "planes"
	Updates = "updates" // of the perceptron
)

var oracles = []string{localisation.Largest, localisation.Smallest,
	localisation.Random}

const (
	squareMost     = 30 // planes that are told of
	squareExamples = 1000
	squareStream   = 0x737175617265 // "square"
)

// paperReached are the shares that the thesis tells of the largest mistake, by the number of
// planes.
var paperReached = map[int]*float64{5: new(0.2), 7: new(0.0)}

// square draws the examples of a run. Class 1 is on the side of the classifier, class 0 on the
// other.
func (r *run) square(margin float64, seed uint64) *learners.Problem {
	rng := rand.New(rand.NewPCG(seed, squareStream))
	u, v := rng.NormFloat64(), rng.NormFloat64()
	length := math.Sqrt(float64(u*u) + float64(v*v))
	p := &learners.Problem{X: dataset.Examples{D: 2}, Q: 2, Engine: r.Engine, Seed: seed}
	for range squareExamples {
		a, b := float32(20*rng.Float64()-10), float32(20*rng.Float64()-10)
		score := (float64(u*float64(a)) + float64(v*float64(b))) / length
		if math.Abs(score) < margin {
			continue
		}
		class := int32(0)
		if score > 0 {
			class = 1
		}
		p.X.X, p.Y = append(p.X.X, a, b), append(p.Y, class)
		p.X.N++
	}
	return p
}

// localise runs the learner, and returns the updates after each plane.
func (r *run) localise(ctx context.Context, o string, margin float64, seed uint64,
) (updates []float64, err error) {
	_, err = host.Run(ctx, &localisation.Params{Oracle: o, Updates: math.MaxInt32},
		r.square(margin, seed), host.RunOptions{MaxSteps: squareExamples, OnStep: func(s host.Report) {
			for _, f := range s.Fields {
				if n, ok := f.Value.(int); ok && f.Name == Updates {
					updates = append(updates, float64(n))
				}
			}
		}})
	if err == nil {
		err = ctx.Err()
	}
	return updates, err
}

func runFigure63(ctx context.Context, r *run) error {
	for _, o := range oracles {
		most, found := 0, make([][]float64, 0, r.Runs)
		if err := r.repeat(ctx, "oracle "+o, func(seed uint64) error {
			updates, err := r.localise(ctx, o, 0.1, seed)
			most, found = max(most, len(updates)), append(found, updates)
			return err
		}); err != nil {
			return err
		}
		for level := 1; level <= min(most+1, squareMost); level++ {
			row := Row{Data: "square", Learner: o, Level: level, X: float64(level)}
			for _, updates := range found {
				reached, at := 0.0, 0.0
				if level <= len(updates) {
					reached, at = 1, updates[level-1]
				}
				row.Measure, row.Paper = Reached, nil
				if o == localisation.Largest {
					row.Paper = paperReached[level]
				}
				r.add(row, reached)
				row.Measure, row.Paper = Updates, nil
				r.add(row, at)
			}
		}
	}
	return nil
}

func runFigure64(ctx context.Context, r *run) error {
	margins := []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}
	return r.along(ctx, "square", margins, func(row Row, seed uint64) error {
		add := func(learner, measure string, v float64) {
			row.Learner, row.Measure = learner, measure
			r.add(row, v)
		}
		for _, o := range oracles {
			found, err := r.localise(ctx, o, row.X, seed)
			if err != nil {
				return err
			}
			updates := 0.0
			for _, n := range found {
				updates += n
			}
			add(o, Planes, float64(len(found)))
			add(o, Updates, updates)
		}
		add(perceptron.name, Updates, float64(lowestFirst(r.square(row.X, seed))))
		return nil
	})
}

// lowestFirst counts the updates of the perceptron that sees all examples, each by the one of the
// lowest margin.
func lowestFirst(p *learners.Problem) (updates int) {
	var w [2]float64
	for ; ; updates++ {
		lowest, least, sign := 0, math.Inf(1), 0.0
		for i, class := range p.Y {
			s, row := float64(2*class-1), p.X.Row(i)
			if m := s * (float64(w[0]*float64(row[0])) + float64(w[1]*float64(row[1]))); m < least {
				lowest, least, sign = i, m, s
			}
		}
		if least > 0 {
			return updates
		}
		for j, v := range p.X.Row(lowest) {
			w[j] += float64(sign * float64(v))
		}
	}
}
