package shard_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/synth"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/online"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// -all tests every number of ranks and both forms with every learner, and the whole suite of
// engines.
var all = flag.Bool("all", false, "test every combination, for minutes")

// way is a way to train.
type way struct {
	name    string
	options host.Options
}

func ways() []way {
	rbf := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.125}, Components: 12,
		Landmarks: 60}
	gradients := softmax.Defaults()
	gradients.Iterations, gradients.L2 = 8, softmax.L2(0.01)
	means := kernelmean.Defaults()
	means.Atoms = 60
	return []way{
		{"uma", host.Options{Learner: uma.Defaults(), MaxSteps: 12}},
		{"classmean", host.Options{Learner: classmean.Defaults()}},
		{"softmax", host.Options{Learner: gradients}},
		{"kernel PCA and softmax", host.Options{Learner: gradients, Kernel: rbf}},
		{"kernelmean", host.Options{Learner: means, Kernel: &fitting.Options{Function: rbf.Function}}},
		{"perceptron", host.Options{Learner: online.New("perceptron"), MaxSteps: 2}},
	}
}

// problem returns examples with wrong labels, and their confusion matrix.
func problem(t testing.TB, sparse bool) (*dataset.Dataset, *confusion.Matrix) {
	t.Helper()
	const n, d, q = 2200, 10, 4
	x, y, err := synth.Generate(t.Context(), n, d, q, 3)
	if err != nil {
		t.Fatal(err)
	}
	e := dataset.Examples{N: n, D: d, X: x}
	for i := range x {
		if i%3 == 0 {
			x[i] = 0
		}
	}
	if sparse {
		e = e.Compressed()
	}
	classes := []string{"a", "b", "c", "d"}
	data := &dataset.Dataset{Examples: e, Y: y, Classes: classes}
	data.SHA256 = data.Hash()
	noise, err := confusion.Pairwise(classes, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if data.Y, err = noise.Inject(data.Y, 1); err != nil {
		t.Fatal(err)
	}
	return data, noise
}

// train returns the SHA-256 of all that a model computes with.
func train(
	ctx context.Context, e *engine.Engine, w way, data *dataset.Dataset, noise *confusion.Matrix,
) (string, error) {
	o := w.options
	o.Engine = e
	m, err := host.Train(ctx, data, noise, o)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, m.W)
	if k := m.Map(); k != nil {
		binary.Write(h, binary.LittleEndian, k.Basis.Axes.W)
		binary.Write(h, binary.LittleEndian, k.Basis.Offset)
	}
	arrays := hex.EncodeToString(h.Sum(nil))
	m.Meta.Device = engine.Device{} // which has a name for each engine
	if err := json.NewEncoder(h).Encode(m.Meta); err != nil {
		return "", err
	}
	return arrays + " " + hex.EncodeToString(h.Sum(nil)), nil
}

// arrays returns the hash of the weights and the basis alone, of what train returns.
func arrays(hashes string) string {
	of, _, _ := strings.Cut(hashes, " ")
	return of
}

// spread trains on several ranks, each with the drivers that open gives it, one for each of its
// shares, and returns what each found.
func spread(t testing.TB, w way, shares [][]int, data *dataset.Dataset, noise *confusion.Matrix,
	open func(rank int) []engine.Driver) []string {
	t.Helper()
	found := make([]string, len(shares))
	for rank, err := range onRanks(len(shares), func(rank int, r shard.Reducer) error {
		d, err := shard.Ranks(t.Context(), r, open(rank), shares[rank])
		if err != nil {
			return err
		}
		found[rank], err = train(t.Context(), engine.New(d), w, data, noise)
		return err
	}) {
		if err != nil {
			t.Fatalf("rank %d of %d: %v", rank, len(shares), err)
		}
	}
	return found
}
