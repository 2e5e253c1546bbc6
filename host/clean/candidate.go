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

// Candidate is a model of the contest and its result on held-out examples.
type Candidate struct {
	Name string `json:"name"`
	// Loss is the mean of -log P(noisy label) over the unchecked examples of the contest; nil if it
	// does not predict noisy labels.
	Loss    *float64 `json:"loss"`
	Wrong   int      `json:"wrong"` // predictions of the Checked examples
	Checked int      `json:"checked"`
	Share   float64  `json:"share"` // in the final model
}

// noiseKind is the assumption of a candidate about the labels.
type noiseKind int

const (
	none    noiseKind = iota // right
	given                    // noisy by the matrix of the options
	joint                    // noisy by the confident joint of the best probabilities
	learned                  // noisy by a matrix learned together with the model
	alone                    // ignored: only checked examples count
)

// way is the method of a candidate.
type way struct {
	noise      noiseKind
	kernel     bool // an rbf kernel, else linear
	neighbours bool // no model: labels of the nearest examples
	weighty    bool // examples of known class are weighted up
}

func (w way) String() string {
	switch {
	case w.neighbours:
		return "nearest neighbours"
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

// candidate holds the predictions of a way on the contest's examples.
type candidate struct {
	way   way
	noise *estimate.Estimate // of the labels; nil if they are trusted
	p     []float32          // P(true class), len(rows)×Q; P(noisy label) if noise is nil
	drops []float64          // -log P(noisy label) of each row; nil for alone
	right []float64          // -log P(true class) of each known row, in order of rows
	wrong int                // known rows predicted wrong

	models      []*model.Model // of the folds; nil without a model
	temperature float32        // of their scores
	shares      []float32      // label frequencies, in place of uninformative scores
}

// loss returns the mean loss of noisy labels.
func (s *candidate) loss() float64 {
	if s.drops == nil {
		return math.NaN()
	}
	return lists.Mean(s.drops)
}

// try trains a way. One that cannot separate the classes is left out.
func (c *contest) try(ctx context.Context, w way) error {
	s := &candidate{way: w}
	var err error
	switch {
	case w.neighbours:
		err = byNeighbours(ctx, c.Engine, &c.cases, s)
	default:
		if s.noise, err = c.noise(ctx, w); err != nil {
			return err
		}
		err = c.outOfFold(ctx, s)
	}
	if errors.Is(err, errUntold) {
		c.note("%s: cannot separate the classes", w)
		return nil
	}
	if err != nil {
		return err
	}
	assess(&c.cases, s)
	c.said = append(c.said, s)
	checked := ""
	if len(s.right) > 0 {
		checked = fmt.Sprintf(", on %d checked rows %.4f", len(s.right), lists.Mean(s.right))
	}
	c.note("%s: loss of labels %.4f%s", w, s.loss(), checked)
	return nil
}

// errUntold marks models whose scores do not predict the labels.
var errUntold = errors.New("clean: the scores do not predict the labels")

// leastProbability limits the influence of a single row.
const leastProbability = 1e-2

// assess computes the losses of a candidate.
func assess(c *cases, s *candidate) {
	q := c.q
	s.drops, s.right, s.wrong = nil, nil, 0
	for k, i := range c.rows {
		row := s.p[k*q : (k+1)*q]
		if t := c.right[i]; t >= 0 {
			s.right = append(s.right, surprise(float64(row[t])))
			if lists.Largest(row) != int(t) {
				s.wrong++
			}
			continue
		}
		if s.way.noise == alone || c.data.Y[i] < 0 {
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
