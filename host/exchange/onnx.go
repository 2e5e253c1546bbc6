// Package exchange writes models for other programs, as ONNX.
//
// An ONNX model predicts what the model does, but for rounding: its readers add in another order
// than the numerics contract, so scores differ in their last bits, and classes where two scores are
// as near.
package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// What the files are written for: runtimes from ONNX 1.8 (2020) on.
const (
	opset     = 13
	irVersion = 7
)

// WriteONNX writes m as an ONNX model, whose graph goes from raw features to classes by standard
// operators. The names follow skl2onnx: the input X, float32 N×d, N being any, or an input
// for each column of a table (see graph.columns); the outputs
// "label", N int64 if all classes are named by integers, else N strings, and "probabilities",
// float32 N×Q, or "scores" if m has no temperature. The metadata have "classes" and "features",
// lists of names, and "provenance", a model.Provenance, all as JSON.
//
// Errors: of a model beyond the 2 GiB that protobuf holds; memory.ErrBudget; and from w.
func WriteONNX(w io.Writer, m *model.Model) error {
	size := onnxSize(m)
	if size > math.MaxInt32-1<<20 {
		return fmt.Errorf("the model cannot be written so: found %d bytes of numbers, wanted less than "+
			"2 GiB, which is all that an ONNX file holds: take fewer landmarks or features", size)
	}
	if err := memory.Check(memory.Product(int(size), 4), "the ONNX form of the model"); err != nil {
		return err
	}
	b, err := onnxModel(m)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// onnxSize returns about how many bytes the numbers of m take: landmarks are dense there, and
// standardisation is done in float64.
func onnxSize(m *model.Model) int64 {
	size := memory.Sum(memory.Product(len(m.W), 4), memory.Product(m.Meta.Features.Count, 16))
	for _, member := range m.Members {
		size = memory.Sum(size, onnxSize(member))
	}
	if t := m.Trees; t != nil {
		size = memory.Sum(size, treesSize(t, m.D))
	}
	if p := m.Projection; p != nil {
		size = memory.Sum(size, memory.Product(p.Landmarks.N, p.Landmarks.D, 4),
			memory.Product(len(p.Axes.W), 4))
	}
	return size
}

// onnxModel returns a ModelProto.
func onnxModel(m *model.Model) (message, error) {
	var b, version message
	b.integer(1, irVersion)
	b.text(2, "uma-gpu")
	b.text(3, m.Meta.ToolVersion)
	b.bytes(7, onnxGraph(m))
	version.text(1, "")
	version.integer(2, opset)
	b.bytes(8, version)
	if Columns(m) || hasTrees(m) {
		var more message
		more.text(1, mlDomain)
		more.integer(2, mlOpset)
		b.bytes(8, more)
	}
	for _, entry := range []struct {
		key   string
		value any
	}{{"classes", m.Meta.Classes}, {"features", m.Meta.Features.Names}, {"provenance",
		m.Meta.Provenance}} {
		text, err := json.Marshal(entry.value)
		if err != nil {
			return nil, fmt.Errorf("ONNX: %s: %w", entry.key, err)
		}
		var property message
		property.text(1, entry.key)
		property.bytes(2, text)
		b.bytes(14, property)
	}
	return b, nil
}

// onnxGraph returns the GraphProto from raw features to classes.
func onnxGraph(m *model.Model) message {
	g := &graph{}
	g.text(2, "uma-gpu")
	x := "X"
	if Columns(m) {
		x = g.columns(m.Meta.Features.Encoding)
	} else {
		g.bytes(11, valueInfo(x, typeFloat, m.Meta.Features.Count))
	}
	scores := "scores"
	if m.Meta.Temperature != 0 {
		scores = ""
	}
	scores = g.scores(m, x, scores)
	at := g.node("", "ArgMax", []string{scores}, attribute{"axis", 1}, attribute{"keepdims", 0})
	var classes string
	labelType := typeString
	if numbers, ok := integers(m.Meta.Classes); ok {
		labelType, classes = typeInt64, constant(g, "classes", numbers, m.Q)
	} else {
		classes = constant(g, "classes", m.Meta.Classes, m.Q)
	}
	g.node("label", "Gather", []string{classes, at}, attribute{"axis", 0})
	g.bytes(12, valueInfo("label", labelType, 0))
	if m.Meta.Temperature == 0 {
		g.bytes(12, valueInfo("scores", typeFloat, m.Q))
		return g.message
	}
	g.probabilities(m, scores, "probabilities")
	g.bytes(12, valueInfo("probabilities", typeFloat, m.Q))
	return g.message
}

func hasTrees(m *model.Model) bool {
	return m.Trees != nil || slices.ContainsFunc(m.Members, hasTrees)
}

// scores adds the scores of m for raw features x as output, "" for a name of its own.
func (g *graph) scores(m *model.Model, x, output string) string {
	if m.Members != nil {
		return g.mixture(m, x, output)
	}
	x = g.prepare("", &m.Meta.Preparation, x)
	if k := m.Meta.Kernel; k != nil {
		x = g.project(k, m.Projection, x)
		x = g.prepare("components.", &k.Preparation, x)
	}
	if m.Trees != nil {
		scores := g.trees(m.Trees, x, m.D, m.Confusion)
		if output != "" { // of a checkpoint
			return g.node(output, "Identity", []string{scores})
		}
		return scores
	}
	weights := constant(g, "weights", m.W, m.Q, m.D)
	return g.node(output, "Gemm", []string{x, weights}, attribute{"transB", 1})
}

// mixture adds the scores of a mixture (clause 31).
func (g *graph) mixture(m *model.Model, x, output string) string {
	sum := ""
	for k, member := range m.Members {
		g.prefix = fmt.Sprintf("member_%d.", k+1)
		p := g.probabilities(member, g.scores(member, x, ""), "")
		share := constant(g, "share", []float32{float32(m.Meta.Shares[k])})
		if p = g.node("", "Mul", []string{p, share}); k > 0 {
			p = g.node("", "Add", []string{sum, p})
		}
		sum = p
	}
	g.prefix = ""
	least := constant(g, "least", []float32{model.LeastMixed})
	return g.node(output, "Log", []string{g.node("", "Max", []string{sum, least})})
}

// probabilities adds the softmax of scores of m as output, "" for a name of its own.
func (g *graph) probabilities(m *model.Model, scores, output string) string {
	scaled := g.node("", "Div", []string{scores, constant(g, "temperature",
		[]float32{m.Meta.Temperature})})
	return g.node(output, "Softmax", []string{scaled}, attribute{"axis", 1})
}

// integers returns the names of classes as integers, if all are some and written as Go and Python
// write them: 7, but not 07.
func integers(names []string) ([]int64, bool) {
	list := make([]int64, len(names))
	for i, name := range names {
		v, err := strconv.ParseInt(name, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != name {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}
