package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// fitOf is a training from memory and by the command line.
type fitOf struct {
	request umagpu.TrainRequest
	flags   []string
}

// fits returns the same examples in several forms, with labels a, b and c of several kinds, and
// writes their files into dir.
func fits(t *testing.T, dir string) map[string]fitOf {
	const n = 240
	rng := rand.New(rand.NewPCG(5, 8))
	classes := []string{"a", "b", "c"}
	var dense, sparse, numbers, mixed, votes, soft strings.Builder
	numbers.WriteString("x,y\n")
	mixed.WriteString("size,colour,label\n")
	votes.WriteString("row,worker,label\n")
	soft.WriteString("a,b,c\n")
	functions := "f0,f1,f2\n"
	m := &umagpu.Matrix{Rows: n, Columns: 2}
	csr := &umagpu.Matrix{Rows: n, Columns: 20, Starts: []int64{0}}
	var codes []int32
	var size []float64
	var colour []string
	annotators := &umagpu.Votes{Names: []string{"w0", "w1", "w2"}}
	labelling := &umagpu.Votes{Names: []string{"f0", "f1", "f2"}, Functions: true}
	shares := &umagpu.Labels{Classes: classes}
	for i := range n {
		k := int32(i % 3)
		x := math.Round(1e3*(rng.NormFloat64()+2*float64(k))) / 1e3
		y := math.Round(1e3*(rng.NormFloat64()-float64(k))) / 1e3
		m.Float64 = append(m.Float64, x, y)
		fmt.Fprintf(&numbers, "%v,%v\n", x, y)
		fmt.Fprintf(&dense, "%v,%v,%s\n", x, y, classes[k])
		fmt.Fprintf(&sparse, "%d", k)
		for j, v := range []float64{x, y} {
			if v != 0 && (i+j)%2 == 0 {
				fmt.Fprintf(&sparse, " %d:%v", 19*j+1, v)
				csr.Indices, csr.Float64 = append(csr.Indices, int32(19*j)), append(csr.Float64, v)
			}
		}
		sparse.WriteByte('\n')
		csr.Starts = append(csr.Starts, int64(len(csr.Indices)))
		codes = append(codes, k)
		shade, text := []string{"red", "green", "blue"}[(i/3)%3], fmt.Sprint(x)
		if size = append(size, x); i == 7 {
			size[i], text = math.NaN(), ""
		}
		colour = append(colour, shade)
		fmt.Fprintf(&mixed, "%s,%s,%s\n", text, shade, classes[k])
		var row []string
		for w := range int32(3) {
			vote := k
			if rng.Float64() < 0.2 {
				vote = rng.Int32N(3)
			}
			fmt.Fprintf(&votes, "%d,w%d,%s\n", i+1, w, classes[vote])
			row = append(row, classes[vote])
			for _, v := range []*umagpu.Votes{annotators, labelling} {
				v.Rows, v.By, v.Codes = append(v.Rows, int32(i)), append(v.By, w), append(v.Codes, vote)
			}
		}
		functions += strings.Join(row, ",") + "\n"
		p := []float32{0.125, 0.125, 0.125}
		p[k] = 0.75
		shares.Soft = append(shares.Soft, p...)
		fmt.Fprintf(&soft, "%v,%v,%v\n", p[0], p[1], p[2])
	}
	file := func(name, text string) string { return clitest.Write(t, dir, name, text) }
	named := *m
	named.Names = []string{"x", "y"}
	bare := []string{"--data", file("n.csv", numbers.String()), "--no-labels"}
	y := &umagpu.Labels{Classes: classes, Codes: codes}
	table := &umagpu.Table{Columns: []umagpu.Column{umagpu.NewNumbers("size", size),
		umagpu.NewCategory("colour", colour)}}
	matrix := umagpu.Data{Matrix: &named}
	return map[string]fitOf{
		"matrix": {umagpu.TrainRequest{Data: umagpu.Data{Matrix: m}, Labels: y},
			[]string{"--data", file("d.csv", dense.String())}},
		"sparse": {umagpu.TrainRequest{Data: umagpu.Data{Matrix: csr},
			Labels: &umagpu.Labels{Classes: []string{"0", "1", "2"}, Codes: codes}},
			[]string{"--data", file("d.svm", sparse.String())}},
		"mixed table": {umagpu.TrainRequest{Data: umagpu.Data{Table: table}, Labels: y},
			[]string{"--data", file("m.csv", mixed.String())}},
		"annotators": {umagpu.TrainRequest{Data: matrix,
			Labels: &umagpu.Labels{Classes: classes, Votes: annotators}},
			slices.Concat(bare, []string{"--annotators", file("v.csv", votes.String())})},
		"functions": {umagpu.TrainRequest{Data: matrix,
			Labels: &umagpu.Labels{Classes: classes, Votes: labelling}},
			slices.Concat(bare, []string{"--functions", file("f.csv", functions)})},
		"soft labels": {umagpu.TrainRequest{Data: matrix, Labels: shares},
			slices.Concat(bare, []string{"--label-probabilities", file("p.csv", soft.String())})},
	}
}

// TestSameFit: a fit from Go and from the command line has the same bytes, or is refused by both.
func TestSameFit(t *testing.T) {
	dir := t.TempDir()
	for name, c := range fits(t, dir) {
		for _, learner := range []string{"softmax", "uma", "perceptron", "pa1", "classmean"} {
			r := c.request
			r.Learner = learner
			found, err := umagpu.Train(t.Context(), &r)
			path := filepath.Join(dir, "m.npz")
			code, _, stderr := clitest.Run(slices.Concat([]string{"train", "--quiet", "--learner", learner,
				"--model", path}, c.flags)...)
			if err != nil || code != 0 {
				if (err != nil) != (code != 0) {
					t.Errorf("%s of %s: from Go %v, from the command line %s", learner, name, err, stderr)
				}
				continue
			}
			got, err := found.Model.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if want := clitest.Read(t, path); sha256.Sum256(got) != sha256.Sum256(want) {
				t.Errorf("%s of %s: got another model from Go than from the command line", learner, name)
			}
		}
	}
}
