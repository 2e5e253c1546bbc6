package exchange

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// graph is a GraphProto under way. Its values are called by name.
type graph struct {
	message
	nodes  int
	prefix string // of the names of constants
}

// node adds a NodeProto and returns the name of its output: a name of its own if output is "".
func (g *graph) node(output, operator string, inputs []string, attributes ...attribute) string {
	g.nodes++
	name := operator + "_" + strconv.Itoa(g.nodes)
	output = cmp.Or(output, name)
	var m message
	for _, input := range inputs {
		m.text(1, input)
	}
	m.text(2, output)
	m.text(3, name)
	m.text(4, operator)
	if operator == "OneHotEncoder" || operator == "TreeEnsembleRegressor" {
		m.text(7, mlDomain)
	}
	for _, a := range attributes {
		m.bytes(5, a.encode())
	}
	g.bytes(1, m)
	return output
}

// constant adds a tensor, a single number if there are no dims, and returns its name, which no
// column of a table has.
func constant[T float32 | float64 | int64 | string](g *graph, name string, values []T,
	dims ...int) string {
	name = "constant." + g.prefix + name
	g.bytes(5, tensor(name, values, dims...))
	return name
}

// prepare adds what p does to the rows of x (clause 2); prefix goes before the names of constants.
// It has the bits of the contract but where float64 rounds: fma(v, a, b) is v·a + b there, whose
// product is exact.
func (g *graph) prepare(prefix string, p *dataset.Preparation, x string) string {
	switch {
	case p.A == nil:
	case slices.IndexFunc(p.B, func(b float32) bool { return b != 0 }) < 0:
		x = g.node("", "Mul", []string{x, constant(g, prefix+"factors", p.A, p.D)})
	default:
		x = g.cast(x, typeDouble)
		x = g.node("", "Mul", []string{x, constant(g, prefix+"factors", lists.As[float64](p.A), p.D)})
		x = g.node("", "Add", []string{x, constant(g, prefix+"offsets", lists.As[float64](p.B), p.D)})
		x = g.cast(x, typeFloat)
	}
	if p.Steps.Bias {
		pads := constant(g, prefix+"bias_column", []int64{0, 0, 0, 1}, 4)
		x = g.node("", "Pad", []string{x, pads, constant(g, prefix+"bias", []float32{1})})
	}
	if p.Steps.L2 {
		x = g.unit(prefix, x)
	}
	return x
}

// unit adds what scales the rows of x to length 1: by float32(1/length), the length in float64, as
// clause 2 has it. A row of zeros stays; no other is shorter than 2⁻¹²⁶, for there are no
// subnormal numbers.
func (g *graph) unit(prefix, x string) string {
	along := []attribute{{"axes", []int{1}}, {"keepdims", 1}}
	length := g.node("", "ReduceL2", []string{g.cast(x, typeDouble)}, along...)
	length = g.node("", "Max", []string{length, constant(g, prefix+"least_length",
		[]float64{0x1p-126})})
	scale := g.node("", "Div", []string{constant(g, prefix+"unit", []float64{1}), length})
	return g.node("", "Mul", []string{x, g.cast(scale, typeFloat)})
}

func (g *graph) cast(x string, to int) string {
	return g.node("", "Cast", []string{x}, attribute{"to", to})
}

// project adds the components of prepared rows x: the kernel function of each and each landmark,
// times the axes.
func (g *graph) project(k *model.Kernel, p *engine.Projection, x string) string {
	m, d := p.Landmarks.N, p.Landmarks.D
	landmarks, squares := make([]float32, 0, m*d), make([]float32, m)
	buffer := make([]float32, d)
	for l := range m {
		row := p.Landmarks.DenseRow(buffer, l)
		landmarks = append(landmarks, row...)
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		squares[l] = float32(sum)
	}
	values := g.node("", "Gemm", []string{x, constant(g, "landmarks", landmarks, m, d)},
		attribute{"transB", 1})
	number := func(name string, v float32) string { return constant(g, name, []float32{v}) }
	switch f := k.Function; f.Kind {
	case kernel.Poly:
		values = g.node("", "Mul", []string{values, number("gamma", f.Gamma)})
		values = g.node("", "Add", []string{values, number("coef0", f.Coef0)})
		values = g.node("", "Pow", []string{values, number("degree", float32(f.Degree))})
	case kernel.RBF:
		own := g.node("", "ReduceSumSquare", []string{x}, attribute{"axes", []int{1}},
			attribute{"keepdims", 1})
		own = g.node("", "Add", []string{own, constant(g, "landmark_squares", squares, m)})
		values = g.node("", "Mul", []string{values, number("minus_two", -2)})
		values = g.node("", "Add", []string{own, values}) // ‖x - landmark‖²
		values = g.node("", "Max", []string{values, number("zero", 0)})
		values = g.node("", "Mul", []string{values, number("minus_gamma", -f.Gamma)})
		values = g.node("", "Exp", []string{values})
	}
	axes := constant(g, "axes", p.Axes.W, k.Components, m)
	offset := constant(g, "offset", p.Offset, k.Components)
	return g.node("", "Gemm", []string{values, axes, offset}, attribute{"transB", 1})
}
