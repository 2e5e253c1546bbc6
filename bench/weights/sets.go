package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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

// part is a file of examples; paths are relative to the folder of -data.
type part struct {
	path     string
	labels   string              // if the labels are elsewhere: path is an IDX file
	rows     int                 // of an IDX file only so many are read; 0 is all
	column   string              // of a CSV's label, "" is the last
	features int                 // if the file alone does not tell
	edit     func(string) string // makes the text a CSV that dataset.Read takes
}

const mnist, cifar, reuters = "mnist/", "cifar10n/", "reuters21578/reuters9."

var sets = []set{
	{name: "optdigits", train: part{path: "optdigits/optdigits.tra.gz"}, test: part{path: "optdigits/optdigits.tes.gz"}},
	{name: "letter", seeds: 3, first: 15000, train: part{path: "letter/letter-recognition.data.gz", column: "first"}},
	{name: "mnist", seeds: 1,
		train: part{path: mnist + "train-images-idx3-ubyte.gz", labels: mnist + "train-labels-idx1-ubyte.gz", rows: 15000},
		test:  part{path: mnist + "t10k-images-idx3-ubyte.gz", labels: mnist + "t10k-labels-idx1-ubyte.gz"}},
	{name: "cifar10n", seeds: 2,
		train: part{path: cifar + "train-feat-idx2-byte.gz", labels: cifar + "train-labels.csv.gz", column: "clean_label", rows: 10000},
		test:  part{path: cifar + "test-feat-idx2-byte.gz", labels: cifar + "test-labels-idx1-ubyte.gz"}},
	{name: "reuters9", steps: "l2", seeds: 1, train: part{path: reuters + "train.svm.gz", features: 19767}, test: part{path: reuters + "test.svm.gz"}},
	{name: "banana", train: part{path: "banana/banana.dat.gz", edit: after("@data\n")}},
	{name: "breast cancer", train: part{path: "small/sklearn_breast_cancer.csv.gz", edit: after("\n")}},
	{name: "glass", train: part{path: "small/glass.data.gz", edit: func(text string) string { // numbers its examples
		return regexp.MustCompile(`(?m)^\d+,`).ReplaceAllString(text, "")
	}}},
	{name: "iris", train: part{path: "small/sklearn_iris.csv.gz", edit: after("\n")}},
	{name: "vehicle", train: part{path: "small/vehicle.csv.gz"}},
	{name: "wine", train: part{path: "small/sklearn_wine_data.csv.gz", edit: after("\n")}},
	{name: "zoo", train: part{path: "small/zoo.csv.gz", edit: strings.NewReplacer("TRUE", "1", "FALSE", "0").Replace}},
}

// after drops the text up to the first mark.
func after(mark string) func(string) string {
	return func(text string) string {
		_, rest, _ := strings.Cut(text, mark)
		return rest
	}
}

// read returns raw examples with true labels. The classes, and the features
// unless p says, are those of like if that is not nil.
func (p part) read(dir string, like *dataset.Dataset) (d *dataset.Dataset, err error) {
	path, o := filepath.Join(dir, p.path), dataset.Options{LabelColumn: p.column, Features: p.features}
	if like != nil {
		o.Features, o.Classes = like.D, like.Classes
	}
	if p.labels != "" {
		return p.readIDX(path, filepath.Join(dir, p.labels), o)
	}
	if p.edit != nil {
		text, err := unpack(path)
		if err != nil {
			return nil, err
		}
		temp, err := os.MkdirTemp("", "weights-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
		path = filepath.Join(temp, "edited "+strings.TrimSuffix(filepath.Base(path), ".gz"))
		if err := os.WriteFile(path, []byte(p.edit(string(text))), 0o600); err != nil {
			return nil, err
		}
	}
	return dataset.Read(path, o)
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

// pick returns a copy of the given rows.
func pick(d *dataset.Dataset, rows []int) *dataset.Dataset {
	p := &dataset.Dataset{Classes: d.Classes}
	p.N, p.D = len(rows), d.D
	for _, i := range rows {
		p.X, p.Y = append(p.X, d.Row(i)...), append(p.Y, d.Y[i])
	}
	return p
}
