package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// randomSeed is for who wants to see a random test once more.
var randomSeed = flag.Uint64("random-seed", 0,
	"seed of tests with random runs; 0 for one by the time")

// randomLearners are the learners that are drawn.
var randomLearners = flag.String("random-learners", "",
	"comma list of learners in random runs; all if empty")

// newRandom returns the source of a test's random choices, whose seed the test tells.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *randomSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; again by go test ./cmd/uma-gpu -run '^%s$' -random-seed %[1]d", seed, t.Name())
	return rand.New(rand.NewPCG(seed, 0))
}

// shortly is n, or less where tests are to be short.
func shortly(n int) int {
	if testing.Short() {
		return (n + 3) / 4
	}
	return n
}

// pick returns one of the choices.
func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// keptFolder is a folder that stays if the test fails, so that the command lines that it
// prints can be repeated.
func keptFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "uma-gpu-"+t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s is left for another try", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// corpus is a set of examples with noisy labels, in several files of equal contents.
type corpus struct {
	files     []string // the first is read as it is without a word
	confusion string
}

// corpora writes real examples with noisy labels in every format that can be written: small
// integers, of many and few features, few of them, or more than fit in little memory.
func corpora(t *testing.T, dir string) (all []corpus) {
	t.Helper()
	for name, from := range map[string][]string{
		"all-digits": {digits, "last", "1700"}, "digits": {digits, "last", "260"}, "letter": {letter,
			"first", "260"},
	} {
		few, data := filepath.Join(dir, name+"-few.csv"), filepath.Join(dir, name+".csv")
		s := corpus{files: []string{data}, confusion: filepath.Join(dir, name+"-C.csv")}
		succeed(t, "split", "--data", from[0], "--label-column", from[1], "--counts", from[2], "--out",
			few)
		succeed(t, "confusion", "inject", "--data", few, "--label-column", from[1], "--pairwise", "0.3",
			"--out", data, "--write-confusion", s.confusion)
		if from[1] == "first" { // to its usual place
			succeed(t, "convert", "--data", data, "--label-column", "first", "--out", data+".npz")
			if err := os.Remove(data); err != nil {
				t.Fatal(err)
			}
			succeed(t, "convert", "--data", data+".npz", "--out", data)
		}
		for _, format := range []string{".tsv", ".csv.gz", ".csv.zst", ".npz", ".svm", ".svm.gz"} {
			copied := filepath.Join(dir, name+"-copy"+format)
			succeed(t, "convert", "--data", data, "--out", copied)
			s.files = append(s.files, copied)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b corpus) int { return strings.Compare(a.confusion, b.confusion) })
	return all
}

// recipe is a training: all that decides the bytes of its model.
type recipe struct {
	corpus
	args   []string // of train, without files
	steps  int      // at most
	mapped bool     // by a kernel function
	dense  bool     // the preparation wants dense examples
}

// newRecipe makes up a training of the corpus.
func newRecipe(t *testing.T, r *rand.Rand, s corpus) recipe {
	t.Helper()
	c := recipe{corpus: s, steps: 1 + r.IntN(60)}
	normalize := pick(r, "standardize,bias,l2", "l2", "maxabs,l2", "none", "maxabs,bias",
		"standardize")
	preparation, err := dataset.ParseSteps(normalize)
	if err != nil {
		t.Fatal(err)
	}
	c.dense = preparation.Standardize
	d := pick(r, slices.DeleteFunc(slices.Clone(catalog.All()), func(d *learners.Definition) bool {
		if *randomLearners == "" {
			return d.Weightless // which search for minutes; their own tests compare their bits
		}
		return !slices.Contains(strings.Split(*randomLearners, ","), d.Name)
	})...)
	c.args = []string{"--max-steps", fmt.Sprint(c.steps),
		"--learner", d.Name, "--weights", string(pick(r, d.Weights...)),
		"--normalize", normalize, "--seed", fmt.Sprint(r.IntN(3))}
	if r.IntN(4) > 0 {
		c.args = append(c.args, "--confusion", s.confusion)
	}
	steps := []string{"step", "pair", "region", "all"}
	if d.Name != "uma" {
		steps = []string{"step", "max", "uniform", "proportional", "random"}
	}
	for _, f := range [][]string{
		{"select", "error", "confusion", "random", "random"}, {"alpha", "0", "0.0001", "0.1"}, steps,
		{"alpha-unit", "weights", "score"}, {"doubt", "0", "1"}, {"correction", "forward", "em", "none",
			"steps"},
		{"multiclass", "max", "ovr"},
	} {
		name, value := f[0], pick(r, f[1:]...)
		params := d.New()
		// the learner has it
		p, ok := learners.Lookup(params, strings.ReplaceAll(name, "-", "_"))
		if ok && p.Set(value) == nil && learners.Check(params) == nil {
			c.args = append(c.args, "--"+name, value)
		}
	}
	_, grown := d.New().(*trees.Params) // which take columns as they are
	if c.mapped = r.IntN(3) == 0 && !grown; !c.mapped {
		return c
	}
	c.args = append(c.args, "--kernel", pick(r, "rbf", "poly", "linear"))
	if d.FitMap != nil {
		c.args = append(c.args, "--atoms", pick(r, "0", "40"), "--atom-choice", pick(r, "uniform",
			"clusters", "herding"))
	} else {
		c.args = append(c.args, "--components", fmt.Sprint(2+r.IntN(12)), "--landmarks",
			fmt.Sprint(20+r.IntN(40)))
	}
	return c
}

// train is the plain command line of c, for a model file.
func (c *recipe) train(model string) []string {
	return slices.Concat([]string{"train", "--data", c.files[0], "--model", model, "--quiet"}, c.args)
}
