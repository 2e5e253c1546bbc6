package shard_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/learners"
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
	names := make([]string, n)
	for i, k := range y {
		names[i] = classes[k]
	}
	data, err := dataset.New(e, names, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	ctx context.Context, e engine.Engine, w way, data *dataset.Dataset, noise *confusion.Matrix,
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
	m.Meta.Device = model.Device{} // which has as many names as there are engines
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

// spread trains on several ranks, each with the engines that open gives it, one for each of its
// shares, and returns what each found in the examples that read gives it.
func spread(
	t testing.TB, w way, shares [][]int, noise *confusion.Matrix, open func(rank int) []engine.Engine,
	read func(ranks.Reducer) (*dataset.Dataset, error)) []string {
	t.Helper()
	found := make([]string, len(shares))
	for rank, err := range onRanks(len(shares), func(rank int, r ranks.Reducer) error {
		e, err := shard.Ranks(t.Context(), r, open(rank), shares[rank])
		if err != nil {
			return err
		}
		return dataset.Guard(func() error {
			data, err := read(r)
			if err == nil {
				found[rank], err = train(t.Context(), e, w, data, noise)
			}
			return err
		})
	}) {
		if err != nil {
			t.Fatalf("rank %d of %d: %v", rank, len(shares), err)
		}
	}
	return found
}

// TestPartsShare: examples held out, and what models say of examples that they have not seen, are
// those of one process on every rank, from a table of more than numbers, some of whose examples are
// bad.
func TestPartsShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.csv")
	var text strings.Builder
	text.WriteString("id,colour,size,words,class\n")
	for i := range 9000 {
		size := fmt.Sprint(i * i % 37)
		switch {
		case i%400 == 7:
			size = "large"
		case i%13 == 0:
			size = ""
		}
		fmt.Fprintf(&text, "e%d,%s,%s,\"%s and\n%s\",%d\n", i, []string{"red", "green", "NA"}[i%3], size,
			[]string{"one", "two", "three"}[i%3], []string{"four", "five"}[i%2], i*7%3*(1-i%11/10))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(storage string) (*dataset.Dataset, error) {
		return file.Read(t.Context(), path, file.Options{Table: file.Table{LabelColumn: "class",
			IDColumn: "id",
			Encode: &features.EncodeOptions{Missing: "mean",
				Text: features.TextOptions{Columns: []string{"words"}}}}, SkipBad: true, Storage: storage})
	}
	gradients := softmax.Defaults()
	gradients.Iterations = 5
	for _, c := range []struct {
		storage string
		learner learners.Params
	}{{"sparse", uma.Defaults()}, {"dense", gradients}} {
		of := func(e engine.Engine) (string, error) {
			d, err := read(c.storage)
			if err != nil {
				return "", err
			}
			noise, err := confusion.Pairwise(d.Classes, 0.1)
			if err != nil {
				return "", err
			}
			o := host.Options{Engine: e, Learner: c.learner, MaxSteps: 5, TemperatureFolds: 2}
			held, err := outoffold.Scores(t.Context(), d, noise, o, 3)
			if err != nil {
				return "", err
			}
			parts, err := dataset.SplitFractions(d, []float64{0.8, 0.2}, 1, dataset.InPlace)
			if err != nil {
				return "", err
			}
			if err := d.Close(); err != nil {
				return "", err
			}
			m, err := host.Train(t.Context(), parts[0], noise, o)
			if err != nil {
				return "", err
			}
			s, err := m.Scores(t.Context(), e, parts[1].Examples)
			h := sha256.New()
			for _, v := range []any{held.Scores, held.Temperature, s, m.W, m.Meta.Temperature} {
				binary.Write(h, binary.LittleEndian, v)
			}
			return fmt.Sprintf("%x %s %s", h.Sum(nil), parts[0].SHA256, parts[1].SHA256), err
		}
		want, err := of(simd.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{2, 3} {
			found, errs := make([]string, count), make([]error, count)
			var wg sync.WaitGroup
			for rank, r := range ranks.NewGroup(count) {
				wg.Go(func() {
					e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New()}, nil)
					if err == nil {
						err = dataset.Guard(func() (err error) {
							found[rank], err = of(e)
							return err
						})
					}
					if errs[rank] = err; err != nil {
						r.Abort(err)
					}
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatalf("%s, %d ranks: %v", c.storage, count, err)
			}
			for rank, got := range found {
				if got != want {
					t.Errorf("%s: rank %d of %d found\n%s, want\n%s", c.storage, rank, count, got, want)
				}
			}
		}
	}
}
