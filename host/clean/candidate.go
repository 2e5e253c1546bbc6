package clean

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Candidate is a way to learn, and how well it predicted examples that it had not seen.
type Candidate struct {
	Name string
	// Loss is the mean of -log P(noisy label) of the contest's examples without those checked.
	// NaN of one that says nothing of noisy labels.
	Loss float64
	// Wrong of the Checked examples with a known class it gave another class, and RightLoss is the
	// mean of -log P(true class) of these.
	Wrong, Checked int
	RightLoss      float64
	Share          float64 // of the model that comes of all; 0 of one that it does without
}

// noiseKind is what a candidate takes the labels for.
type noiseKind int

const (
	none    noiseKind = iota // right
	given                    // wrong by the matrix of the options
	joint                    // wrong by the confident joint of the best probabilities
	learned                  // wrong by a matrix that is learned together with the model
	alone                    // unknown: only checked examples count
)

// way is what a candidate does.
type way struct {
	noise      noiseKind
	kernel     bool // a curved model, by rbf; else a linear one
	neighbours bool // no model: the labels of the nearest examples
	weighty    bool // examples with a known class count for many
	elsewhere  bool // no model: the probabilities of the options
}

func (w way) String() string {
	switch {
	case w.neighbours:
		return "nearest neighbours"
	case w.elsewhere:
		return "the probabilities given"
	case w.noise == alone:
		return "checked rows alone"
	}
	name := "linear"
	if w.kernel {
		name = "rbf"
	}
	what := map[noiseKind]string{none: ", labels as they are", given: ", wrong labels as given",
		joint: ", wrong labels by confident joint", learned: ", wrong labels learned"}
	if name += what[w.noise]; w.weighty {
		name += ", checked rows first"
	}
	return name
}

// candidate is what a way has said of the contest's examples.
type candidate struct {
	way   way
	noise *estimate.Estimate // of the noisy labels; nil if they are taken for right
	p     []float32          // of the true classes, len(rows)×Q; of noisy labels if noise is nil
	drops []float64          // -log P(noisy label) of each row; nil of alone
	right []float64          // -log P(true class) of each known row, in order of rows
	wrong int                // of how many of these its likeliest class is another

	models      []*model.Model // of the folds; nil of one without a model
	temperature float32        // of their scores
	shares      []float32      // of the labels, instead of scores that tell nothing more
}

// loss returns the mean loss of noisy labels.
func (s *candidate) loss() float64 {
	if s.drops == nil {
		return math.NaN()
	}
	return lists.Mean(s.drops)
}

// try has a way compete. One that cannot tell the classes apart is left out.
func (c *contest) try(ctx context.Context, w way) error {
	s := &candidate{way: w}
	var err error
	switch {
	case w.neighbours:
		err = c.byNeighbours(ctx, s)
	default:
		if s.noise, err = c.noise(ctx, w); err != nil {
			return err
		}
		err = c.outOfFold(ctx, s)
	}
	if errors.Is(err, errUntold) {
		c.note("%s: cannot tell the classes apart", w)
		return nil
	}
	if err != nil {
		return err
	}
	c.judge(s)
	c.said = append(c.said, s)
	of := ""
	if len(s.right) > 0 {
		of = fmt.Sprintf(", of %d checked rows %.4f", len(s.right), lists.Mean(s.right))
	}
	c.note("%s: loss of labels %.4f%s", w, s.loss(), of)
	return nil
}

// errUntold marks models whose scores say nothing of the labels.
var errUntold = errors.New("clean: scores say nothing of the labels")

// leastProbability is what a probability counts for at least: no single row decides.
const leastProbability = 1e-2

// judge compares what a candidate says with the labels.
func (c *contest) judge(s *candidate) {
	q := c.q
	s.drops, s.right, s.wrong = nil, nil, 0
	for k, i := range c.rows {
		row := s.p[k*q : (k+1)*q]
		if t := c.right(i); t >= 0 {
			s.right = append(s.right, surprise(float64(row[t])))
			if lists.Largest(row) != int(t) {
				s.wrong++
			}
			continue
		}
		if s.way.noise == alone {
			continue
		}
		s.drops = append(s.drops, surprise(labelled(row, int(c.data.Y[i]), s.noise)))
	}
}

func surprise(p float64) float64 {
	return -float64(numerics.Log(float32(max(p, leastProbability))))
}

// ahead returns by how much b is less than a on average, and the standard error of that.
func ahead(a, b []float64) (better, deviation float64) {
	return lists.MeanError(len(a), func(k int) float64 { return a[k] - b[k] })
}
