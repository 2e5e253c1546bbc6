package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// set is a data set and how it is measured.
type set struct {
	name        string
	steps       string // preparation, "" is the default
	seeds       int    // at most so many, 0 is no limit: large sets vary little and take long
	train, test part   // without a test part, train is divided
	first       int    // so many examples of a divided set train; 0: the seed picks 70 %
}

// part is a file of examples; its path and that of its labels are absolute or relative to the
// folder of -data.
type part struct {
	path    string
	options dataset.Options
	rows    int                 // only so many examples, the first ones; 0 is all
	edit    func(string) string // makes the text of a gzip file one that dataset.ReadFrom takes
}

const (
	mnist, cifar, reuters = "mnist/", "cifar10n/", "reuters21578/reuters9."
	fashion               = "/usr/share/datasets/fashion-mnist/" // Debian's dataset-fashion-mnist
)

var sets = []set{
	{name: "optdigits", train: part{path: "optdigits/optdigits.tra.gz"}, test: part{path: "optdigits/optdigits.tes.gz"}},
	{name: "letter", seeds: 1, first: 15000,
		train: part{path: "letter/letter-recognition.data.gz",
			options: dataset.Options{Table: dataset.Table{LabelColumn: "first"}}}},
	{name: "mnist", seeds: 1,
		train: part{path: mnist + "train-images-idx3-ubyte.gz",
			options: dataset.Options{Labels: mnist + "train-labels-idx1-ubyte.gz"}, rows: 6000},
		test: part{path: mnist + "t10k-images-idx3-ubyte.gz",
			options: dataset.Options{Labels: mnist + "t10k-labels-idx1-ubyte.gz"}}},
	{name: "fashion", seeds: 1,
		train: part{path: fashion + "train-images-idx3-ubyte.gz",
			options: dataset.Options{Labels: fashion + "train-labels-idx1-ubyte.gz"}, rows: 6000},
		test: part{path: fashion + "t10k-images-idx3-ubyte.gz",
			options: dataset.Options{Labels: fashion + "t10k-labels-idx1-ubyte.gz"}}},
	{name: "cifar10n", seeds: 1,
		train: part{path: cifar + "train-feat-idx2-byte.gz", rows: 6000,
			options: dataset.Options{Labels: cifar + "train-labels.csv.gz", Table: dataset.Table{LabelColumn: "clean_label"}}},
		test: part{path: cifar + "test-feat-idx2-byte.gz",
			options: dataset.Options{Labels: cifar + "test-labels-idx1-ubyte.gz"}}},
	{name: "reuters9", steps: "l2", seeds: 1,
		// The file alone does not tell how many features there are.
		train: part{path: reuters + "train.svm.gz", options: dataset.Options{Storage: "sparse", Features: 19767}},
		test:  part{path: reuters + "test.svm.gz", options: dataset.Options{Storage: "sparse"}}},
	// The first line of scikit-learn's files is none of the table: it has the
	// table's size and the classes. That of iris is as wide as a header by chance.
	{name: "breast cancer", train: part{path: "small/sklearn_breast_cancer.csv.gz", edit: afterLine}},
	// The first column of glass numbers the examples.
	{name: "glass", train: part{path: "small/glass.data.gz", options: dataset.Options{Table: dataset.Table{Ignore: []string{"1"}}}}},
	{name: "iris", train: part{path: "small/sklearn_iris.csv.gz", options: dataset.Options{Table: dataset.Table{Header: "yes"}}}},
	{name: "vehicle", train: part{path: "small/vehicle.csv.gz"}},
	{name: "wine", train: part{path: "small/sklearn_wine_data.csv.gz", edit: afterLine}},
	{name: "zoo", train: part{path: "small/zoo.csv.gz"}},
}

// afterLine drops the first line.
func afterLine(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// read returns raw examples with true labels, dense unless p says. The classes
// and the number of features are those of like if that is not nil.
func (p part) read(dir string, like *dataset.Dataset) (*dataset.Dataset, error) {
	path, o := beside(dir, p.path), p.options
	o.Storage = cmp.Or(o.Storage, "dense") // pick and standardize take no other
	if o.Labels != "" {
		o.Labels = beside(dir, o.Labels)
	}
	if like != nil {
		o.Features, o.Classes = like.D, like.Classes
	}
	read := dataset.Read
	if p.edit != nil {
		read = p.readEdited
	}
	d, err := read(context.Background(), path, o)
	if err != nil || p.rows == 0 {
		return d, err
	}
	if d.N < p.rows {
		return nil, fmt.Errorf("%s: found %d examples, wanted at least %d; is it the whole file?", path, d.N, p.rows)
	}
	d.N, d.X, d.Y = p.rows, d.X[:p.rows*d.D], d.Y[:p.rows]
	return d, nil
}

// beside returns path, below dir unless it says by itself where it is.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readEdited reads a gzip file after its edit, so the lines in errors are those of
// the edited text.
func (p part) readEdited(ctx context.Context, path string, o dataset.Options) (*dataset.Dataset, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: wanted a gzip file: %w", path, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: the gzip file is damaged or cut short, fetch it again: %w", path, err)
	}
	return dataset.ReadFrom(ctx, strings.NewReader(p.edit(string(text))), path, o)
}

// split returns the examples to train and to test on, drawn by the seed unless
// the first ones train.
func (s set) split(d *dataset.Dataset, seed uint64) (train, test *dataset.Dataset, err error) {
	const stream = 0x73706c6974 // "split"
	rows, n := rand.New(rand.NewPCG(seed, stream)).Perm(d.N), d.N*7/10
	if s.first > 0 {
		for i := range rows {
			rows[i] = i
		}
		n = s.first
	}
	if n < 1 || n >= d.N {
		return nil, nil, fmt.Errorf("%s: found %d examples, wanted more than %d", d.Path, d.N, max(n, 1))
	}
	return pick(d, rows[:n]), pick(d, rows[n:]), nil
}

// pick returns a copy of the given rows of dense examples.
func pick(d *dataset.Dataset, rows []int) *dataset.Dataset {
	p := &dataset.Dataset{Classes: d.Classes}
	p.N, p.D = len(rows), d.D
	for _, i := range rows {
		p.X, p.Y = append(p.X, d.Row(i)...), append(p.Y, d.Y[i])
	}
	return p
}
