package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// diagram is a picture of points over two axes, which the page draws as SVG in a box of 480×300.
type diagram struct {
	About  string // for those who do not see it
	X, Y   axis
	Curves []curve
	Bars   []bar
}

// axis maps the numbers from Low to High to the places from From to To.
type axis struct {
	Title     string
	Low, High float64
	From, To  float64
}

// tick is a labelled place of an axis.
type tick struct {
	At   float64
	Text string
}

// curve joins points by a line. Class is its colour on the page.
type curve struct {
	Class  string
	Points []point
	Dots   bool // each point has one
}

type point struct{ X, Y float64 }

// bar is a vertical error bar.
type bar struct{ X, Low, High float64 }

func newDiagram(about, x, y string) *diagram {
	return &diagram{About: about, X: axis{Title: x, From: 60, To: 472},
		Y: axis{Title: y, From: 256, To: 8}}
}

// At returns the place of a number, to a tenth.
func (a axis) At(v float64) float64 {
	place := a.From + (v-a.Low)/(a.High-a.Low)*(a.To-a.From)
	return math.Round(10*place) / 10
}

// Ticks returns three to eight ticks, multiples of 1, 2 or 5 times a power of ten.
func (a axis) Ticks() (ticks []tick) {
	step := math.Pow(10, math.Floor(math.Log10(a.High-a.Low))-1)
	for _, factor := range []float64{2, 2.5, 2, 2} {
		if (a.High-a.Low)/step <= 7 {
			break
		}
		step *= factor
	}
	for k := math.Ceil(a.Low / step); k*step <= a.High; k++ {
		v := k*step + 0 // not -0
		ticks = append(ticks, tick{a.At(v), strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return ticks
}

// Path returns a curve as the points of an SVG polyline.
func (d *diagram) Path(c curve) string {
	places := make([]string, len(c.Points))
	for k, p := range c.Points {
		places[k] = fmt.Sprintf("%g,%g", d.X.At(p.X), d.Y.At(p.Y))
	}
	return strings.Join(places, " ")
}

// Bins of fewer examples than leastInBin, or with a standard error above mostUnsure, are not drawn.
const (
	leastInBin = 5
	mostUnsure = 0.2
)

// calibration draws the share of right predictions by their probability, with two standard errors;
// nil if no bin has enough examples.
func calibration(bins []metric.Bin) *diagram {
	d := newDiagram("Share of right predictions by their probability; the numbers are in the JSON "+
		"file.", "probability of the predicted class", "share that is right")
	d.X.High, d.Y.High = 1, 1
	right := curve{Class: "first", Dots: true}
	for _, b := range bins {
		if b.Examples < leastInBin || b.StandardError > mostUnsure {
			continue
		}
		right.Points = append(right.Points, point{b.Probability, b.Right})
		low, high := b.Right-2*b.StandardError, b.Right+2*b.StandardError
		d.Bars = append(d.Bars, bar{b.Probability, low, high})
		d.Y.Low, d.Y.High = min(d.Y.Low, low), max(d.Y.High, high)
	}
	if right.Points == nil {
		return nil
	}
	d.Curves = []curve{{Class: "diagonal", Points: []point{{0, 0}, {1, 1}}}, right}
	return d
}
