package exchange

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// A second reader of ONNX, for tests alone: it knows the message by the numbers of onnx.proto and
// the operators by the words of ONNX's own pages, and computes in float64, rounded to the type of
// each value.

// parsed are the fields of a message: numbers as uint64, all else as bytes.
type parsed map[protowire.Number][]any

func parse(t *testing.T, b []byte) parsed {
	t.Helper()
	p := parsed{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var value any
		switch kind {
		case protowire.VarintType:
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			value = v
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			value = math.Float32frombits(v)
		default:
			var v []byte
			v, n = protowire.ConsumeBytes(b)
			value = v
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		p[field], b = append(p[field], value), b[n:]
	}
	return p
}

func (p parsed) text(field protowire.Number) string { return string(p[field][0].([]byte)) }
func (p parsed) number(field protowire.Number) int  { return int(int64(p[field][0].(uint64))) }

// array is a value of the graph: numbers as float64, or texts.
type array struct {
	kind    int // of TensorProto
	shape   []int
	numbers []float64
	texts   []string
}

func (a array) rounded() array {
	if a.kind == typeFloat {
		for i, v := range a.numbers {
			a.numbers[i] = float64(float32(v))
		}
	}
	return a
}

func readTensor(t *testing.T, b []byte) (name string, a array) {
	p := parse(t, b)
	count := 1
	for _, d := range p[1] {
		a.shape = append(a.shape, int(d.(uint64)))
		count *= int(d.(uint64))
	}
	a.kind = p.number(2)
	if a.kind == typeString {
		for _, s := range p[6] {
			a.texts = append(a.texts, string(s.([]byte)))
		}
		return p.text(8), a
	}
	raw := p[9][0].([]byte)
	width := len(raw) / count
	for i := range count {
		e := raw[i*width:]
		switch a.kind {
		case typeFloat:
			a.numbers = append(a.numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(e))))
		case typeDouble:
			a.numbers = append(a.numbers, math.Float64frombits(binary.LittleEndian.Uint64(e)))
		case typeInt64:
			a.numbers = append(a.numbers, float64(int64(binary.LittleEndian.Uint64(e))))
		}
	}
	return p.text(8), a
}

// execute runs the graph of an ONNX file on n rows x and returns its outputs by name.
func execute(t *testing.T, file []byte, n int, x []float32) map[string]array {
	t.Helper()
	whole := parse(t, file)
	graph := parse(t, whole[7][0].([]byte))
	values := map[string]array{}
	for _, b := range graph[5] {
		name, a := readTensor(t, b.([]byte))
		if _, twice := values[name]; twice {
			t.Fatalf("constant %s is there twice", name)
		}
		values[name] = a
	}
	in := array{kind: typeFloat, shape: []int{n, len(x) / n}}
	for _, v := range x {
		in.numbers = append(in.numbers, float64(v))
	}
	values[parse(t, graph[11][0].([]byte)).text(1)] = in
	return run(t, graph, values)
}

// executeColumns is execute of a graph whose inputs are columns.
func executeColumns(t *testing.T, file []byte, columns map[string]array) map[string]array {
	t.Helper()
	graph := parse(t, parse(t, file)[7][0].([]byte))
	for _, b := range graph[5] {
		name, a := readTensor(t, b.([]byte))
		columns[name] = a
	}
	return run(t, graph, columns)
}

// run computes all values of a graph.
func run(t *testing.T, graph parsed, values map[string]array) map[string]array {
	t.Helper()
	for _, b := range graph[1] {
		p := parse(t, b.([]byte))
		var inputs []array
		for _, name := range p[1] {
			a, known := values[string(name.([]byte))]
			if !known {
				t.Fatalf("%s takes %s, which is not there yet", p.text(3), name)
			}
			inputs = append(inputs, a)
		}
		attributes := map[string]parsed{}
		for _, a := range p[5] {
			q := parse(t, a.([]byte))
			attributes[q.text(1)] = q
		}
		if _, twice := values[p.text(2)]; twice {
			t.Fatalf("%s is made twice", p.text(2))
		}
		values[p.text(2)] = operate(t, p.text(4), inputs, attributes).rounded()
	}
	outputs := map[string]array{}
	for _, b := range graph[12] {
		name := parse(t, b.([]byte)).text(1)
		outputs[name] = values[name]
	}
	return outputs
}

func operate(t *testing.T, operator string, in []array, attributes map[string]parsed) array {
	t.Helper()
	a := in[0]
	each := func(f func(v float64) float64) array {
		out := array{kind: a.kind, shape: a.shape}
		for _, v := range a.numbers {
			out.numbers = append(out.numbers, f(v))
		}
		return out
	}
	rows := func(kind, width int, f func(row []float64) []float64) array {
		out := array{kind: kind, shape: []int{a.shape[0], width}}
		for i := range a.shape[0] {
			out.numbers = append(out.numbers, f(a.numbers[i*a.shape[1]:(i+1)*a.shape[1]])...)
		}
		return out
	}
	squares := func(row []float64) (sum float64) {
		for _, v := range row {
			sum += v * v
		}
		return sum
	}
	switch operator {
	case "IsNaN":
		return each(func(v float64) float64 {
			if math.IsNaN(v) {
				return 1
			}
			return 0
		})
	case "Where":
		out := array{kind: in[2].kind, shape: in[2].shape}
		for i, v := range in[2].numbers {
			if a.numbers[i] != 0 {
				v = in[1].numbers[0]
			}
			out.numbers = append(out.numbers, v)
		}
		return out
	case "OneHotEncoder":
		levels := attributes["cats_strings"][9]
		out := array{kind: typeFloat, shape: []int{a.shape[0], 1, len(levels)}}
		for _, text := range a.texts {
			for _, level := range levels {
				hot := 0.0
				if text == string(level.([]byte)) {
					hot = 1
				}
				out.numbers = append(out.numbers, hot)
			}
		}
		return out
	case "Reshape":
		a.shape = []int{len(a.numbers) / int(in[1].numbers[1]), int(in[1].numbers[1])}
		return a
	case "Concat":
		out := array{kind: a.kind, shape: []int{a.shape[0], 0}}
		for _, part := range in {
			out.shape[1] += part.shape[1]
		}
		for i := range a.shape[0] {
			for _, part := range in {
				out.numbers = append(out.numbers, part.numbers[i*part.shape[1]:(i+1)*part.shape[1]]...)
			}
		}
		return out
	case "Add", "Sub", "Mul", "Div", "Max", "Pow":
		return broadcast(t, operator, in[0], in[1])
	case "Exp":
		return each(math.Exp)
	case "Log":
		return each(math.Log)
	case "Greater":
		return each(func(v float64) float64 {
			if v > in[1].numbers[0] {
				return 1
			}
			return 0
		})
	case "ReduceL1":
		return rows(a.kind, 1, func(row []float64) []float64 {
			sum := 0.0
			for _, v := range row {
				sum += math.Abs(v)
			}
			return []float64{sum}
		})
	case "TreeEnsembleRegressor":
		r := readEnsemble(t, attributes)
		return rows(a.kind, r.targets, r.sums)
	case "Cast":
		out := each(func(v float64) float64 { return v })
		out.kind = attributes["to"].number(3)
		return out
	case "ReduceL2":
		return rows(a.kind, 1,
			func(row []float64) []float64 { return []float64{math.Sqrt(squares(row))} })
	case "ReduceSumSquare":
		return rows(a.kind, 1, func(row []float64) []float64 { return []float64{squares(row)} })
	case "Pad":
		if got := fmt.Sprint(in[1].numbers); got != "[0 0 0 1]" {
			t.Fatalf("pads are %s", got)
		}
		return rows(a.kind, a.shape[1]+1, func(row []float64) []float64 {
			return append(append([]float64{}, row...), in[2].numbers[0])
		})
	case "Gemm":
		return gemm(t, in)
	case "Softmax":
		return rows(a.kind, a.shape[1], func(row []float64) []float64 {
			var out []float64
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(v)
			}
			for _, v := range row {
				out = append(out, math.Exp(v)/sum)
			}
			return out
		})
	case "ArgMax":
		out := rows(typeInt64, 1, func(row []float64) []float64 {
			best := 0
			for r, v := range row {
				if v > row[best] {
					best = r
				}
			}
			return []float64{float64(best)}
		})
		out.shape = out.shape[:1]
		return out
	case "Gather":
		if axis := attributes["axis"].number(3); axis == 1 {
			return rows(a.kind, len(in[1].numbers), func(row []float64) (some []float64) {
				for _, at := range in[1].numbers {
					some = append(some, row[int(at)])
				}
				return some
			})
		}
		out := array{kind: a.kind, shape: in[1].shape}
		for _, at := range in[1].numbers {
			if a.kind == typeString {
				out.texts = append(out.texts, a.texts[int(at)])
			} else {
				out.numbers = append(out.numbers, a.numbers[int(at)])
			}
		}
		return out
	}
	t.Fatalf("operator %s is not one of the promised operators", operator)
	return a
}

// ensembleTwin is a TreeEnsembleRegressor, by the numbers of a tree and a node.
type ensembleTwin struct {
	targets int
	base    []float64
	trees   []int
	nodes   map[[2]int]nodeTwin
	leaves  map[[2]int]map[int]float64 // what a leaf adds to each target
}

type nodeTwin struct {
	leaf             bool
	feature, yes, no int
	missing          bool
	cut              float64
}

func readEnsemble(t *testing.T, attributes map[string]parsed) *ensembleTwin {
	t.Helper()
	ints := func(name string) (list []int) {
		for _, v := range attributes[name][8] {
			list = append(list, int(int64(v.(uint64))))
		}
		return list
	}
	floats := func(name string) (list []float64) {
		for _, v := range attributes[name][7] {
			list = append(list, float64(v.(float32)))
		}
		return list
	}
	if kind := attributes["aggregate_function"].text(4); kind != "SUM" {
		t.Fatalf("trees are put together by %s", kind)
	}
	r := &ensembleTwin{targets: attributes["n_targets"].number(3), base: floats("base_values"),
		nodes: map[[2]int]nodeTwin{}, leaves: map[[2]int]map[int]float64{}}
	tree, node, modes := ints("nodes_treeids"), ints("nodes_nodeids"), attributes["nodes_modes"][9]
	features := ints("nodes_featureids")
	yes, no := ints("nodes_truenodeids"), ints("nodes_falsenodeids")
	missing := ints("nodes_missing_value_tracks_true")
	cuts := floats("nodes_values")
	for k := range tree {
		mode := string(modes[k].([]byte))
		if mode != "LEAF" && mode != "BRANCH_LT" {
			t.Fatalf("node %d has the mode %s", k, mode)
		}
		r.nodes[[2]int{tree[k], node[k]}] = nodeTwin{mode == "LEAF", features[k], yes[k], no[k],
			missing[k] != 0, cuts[k]}
		if node[k] == 0 {
			r.trees = append(r.trees, tree[k])
		}
	}
	at, leaf, weights := ints("target_treeids"), ints("target_nodeids"), floats("target_weights")
	for k, target := range ints("target_ids") {
		key := [2]int{at[k], leaf[k]}
		if r.leaves[key] == nil {
			r.leaves[key] = map[int]float64{}
		}
		r.leaves[key][target] += weights[k]
	}
	return r
}

// sums returns what all trees add for a row.
func (r *ensembleTwin) sums(row []float64) []float64 {
	sums := slices.Clone(r.base)
	for _, tree := range r.trees {
		at := 0
		for !r.nodes[[2]int{tree, at}].leaf {
			n := r.nodes[[2]int{tree, at}]
			if v := row[n.feature]; v < n.cut || math.IsNaN(v) && n.missing {
				at = n.yes
			} else {
				at = n.no
			}
		}
		for target, v := range r.leaves[[2]int{tree, at}] {
			sums[target] += v
		}
	}
	return sums
}

// gemm is x·wᵀ + c.
func gemm(t *testing.T, in []array) array {
	x, w := in[0], in[1]
	n, q, d := x.shape[0], w.shape[0], w.shape[1]
	if x.shape[1] != d || x.kind != w.kind {
		t.Fatalf("Gemm of %v and %v", x.shape, w.shape)
	}
	out := array{kind: x.kind, shape: []int{n, q}, numbers: make([]float64, n*q)}
	for i := range n {
		for r := range q {
			sum := 0.0
			for j := range d {
				sum += x.numbers[i*d+j] * w.numbers[r*d+j]
			}
			if len(in) > 2 {
				sum += in[2].numbers[r]
			}
			out.numbers[i*q+r] = sum
		}
	}
	return out
}

// broadcast knows of a second operand that is a number, a row or a column, and of a first that is
// a number or a column.
func broadcast(t *testing.T, operator string, a, b array) array {
	t.Helper()
	if a.kind != b.kind {
		t.Fatalf("%s of types %d and %d", operator, a.kind, b.kind)
	}
	size := func(x array) (rows, columns int) {
		switch len(x.shape) {
		case 0:
			return 1, 1
		case 1:
			return 1, x.shape[0]
		}
		return x.shape[0], x.shape[1]
	}
	ra, ca := size(a)
	rb, cb := size(b)
	if ra != rb && ra != 1 && rb != 1 || ca != cb && ca != 1 && cb != 1 {
		t.Fatalf("%s of shapes %v and %v", operator, a.shape, b.shape)
	}
	n, d := max(ra, rb), max(ca, cb)
	out := array{kind: a.kind, shape: []int{n, d}}
	for i := range n {
		for j := range d {
			v, w := a.numbers[i%ra*ca+j%ca], b.numbers[i%rb*cb+j%cb]
			switch operator {
			case "Add":
				v += w
			case "Sub":
				v -= w
			case "Mul":
				v *= w
			case "Div":
				v /= w
			case "Max":
				v = max(v, w)
			case "Pow":
				v = math.Pow(v, w)
			}
			out.numbers = append(out.numbers, v)
		}
	}
	return out
}
