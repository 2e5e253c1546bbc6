package exchange

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// mlDomain has the operators of ONNX for categories; mlOpset is its version of 2019.
const (
	mlDomain = "ai.onnx.ml"
	mlOpset  = 2
)

// Columns reports whether the ONNX form of a model takes the columns of a table in place of
// features: it has learned what becomes of them, and none is a text.
func Columns(m *model.Model) bool {
	e := m.Meta.Features.Encoding
	return !e.HasText() && (!e.Plain() || e.Origins() != nil)
}

// columns adds an input for each column of a table, N×1, and returns its features: float32 of
// numbers, float64 with an origin, NaN where one is missing, and strings of categories, "" where
// one is missing.
func (g *graph) columns(e *dataset.Encoding) string {
	var parts []string
	for k, c := range e.Columns {
		name := cmp.Or(c.Name, fmt.Sprint("column", k+1))
		if slices.Contains([]string{"label", "probabilities", "scores"}, name) { // as outputs are
			name = "column." + name
		}
		constantName := func(what string) string { return fmt.Sprintf("%s.%d", what, k+1) }
		switch c.Kind {
		case dataset.KindNumber:
			number := name
			if c.Origin == 0 {
				g.bytes(11, valueInfo(name, typeFloat, 1))
			} else {
				g.bytes(11, valueInfo(name, typeDouble, 1))
				origin := constant(g, constantName("origin"), []float64{c.Origin}, 1, 1)
				number = g.cast(g.node("", "Sub", []string{name, origin}), typeFloat)
			}
			missing, filled := "", number
			if c.Mean != nil {
				missing = g.node("", "IsNaN", []string{number})
				mean := constant(g, constantName("mean"), []float32{*c.Mean}, 1, 1)
				filled = g.node("", "Where", []string{missing, mean, number})
			}
			parts = append(parts, filled)
			if len(c.Knots) > 0 {
				parts = append(parts, g.bend(filled, c.Knots, constantName))
			}
			if c.Indicator {
				parts = append(parts, g.cast(missing, typeFloat))
			}
		case dataset.KindCategory:
			g.bytes(11, valueInfo(name, typeString, 1))
			levels := c.Levels
			if c.Indicator {
				levels = append(levels[:len(levels):len(levels)], "")
			}
			hot := g.node("", "OneHotEncoder", []string{name}, attribute{"cats_strings", levels},
				attribute{"zeros", 1})
			width := constant(g, constantName("levels"), []int64{-1, int64(len(levels))}, 2)
			parts = append(parts, g.node("", "Reshape", []string{hot, width}))
		}
	}
	return g.node("", "Concat", parts, attribute{"axis", 1})
}

// bend adds the features of the knots of numbers v: max(0, (v-t)·side).
func (g *graph) bend(v string, knots []float32, name func(what string) string) string {
	n := len(knots)
	offsets, sides := make([]float32, n), make([]float32, n)
	for k, t := range knots {
		if offsets[k], sides[k] = -t, 1; t < 0 {
			sides[k] = -1
		}
	}
	v = g.node("", "Add", []string{v, constant(g, name("knots"), offsets, 1, n)})
	v = g.node("", "Mul", []string{v, constant(g, name("sides"), sides, 1, n)})
	return g.node("", "Max", []string{v, constant(g, name("zero"), []float32{0})})
}
