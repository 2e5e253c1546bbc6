package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
)

type set struct {
	name        string
	train, test string // files below options.DataDir; test "" where the examples behind first test
	options     file.Options
	heading     bool // the first line of train is about the file, in scikit-learn's way
	first       int
	// examples of each class that the rough classifier is given, the paper's m
	perClass   int
	components int                 // of a Gaussian kernel; 0 for none
	paper      map[string]*float64 // of each column
	note       string
}

// The columns of Table 1 of the paper. "rough" is the classifier whose predictions are the labels.
const (
	rough, ofLabels, ofConf, ofFull, ofS3VM = "rough", "f_y", "f_conf", "f_full", "s3vm"
)

func paperRow(labels, conf, full, s3vm, uma float64) map[string]*float64 {
	return map[string]*float64{ofLabels: &labels, ofConf: &conf, ofFull: &full, ofS3VM: &s3vm,
		umaWay.name: &uma}
}

// sets are all sets but those of active learning, in the order in which experiments read them.
var sets = []set{
	{name: "digits", train: "optdigits/optdigits.tra.gz", test: "optdigits/optdigits.tes.gz",
		perClass: 10, components: 640, paper: paperRow(0.25, 0.21, 0.04, 0.15, 0.16)},
	banana,
	{name: "cancer", train: "small/sklearn_breast_cancer.csv.gz", heading: true},
	{name: "glass", train: "small/glass.data.gz",
		options: file.Options{Table: file.Table{Ignore: []string{"1"}}}},
	{name: "iris", train: "small/sklearn_iris.csv.gz", heading: true},
	{name: "letter", train: "letter/letter-recognition.data.gz", first: 15000, perClass: 50,
		options:    file.Options{Table: file.Table{LabelColumn: "first"}},
		components: 1600, paper: paperRow(0.35, 0.36, 0.23, 0.49, 0.33)},
	// The file alone does not tell how many features there are.
	{name: "reuters", train: "reuters21578/reuters9.train.svm.gz",
		test: "reuters21578/reuters9.test.svm.gz", perClass: 20,
		options: file.Options{Features: 19767}, paper: paperRow(0.30, 0.17, 0.01, 0.22, 0.21),
		note: "nine classes of Reuters-21578 in the place of the paper's nine of RCV1"},
	{name: "fashion", train: "fashion-mnist/train-images-idx3-ubyte.gz",
		test: "fashion-mnist/t10k-images-idx3-ubyte.gz"},
	{name: "vehicle", train: "small/vehicle.csv.gz"},
	{name: "wine", train: "small/sklearn_wine_data.csv.gz", heading: true},
}

var banana = set{name: "banana", train: "banana/banana.dat.gz"}

// eachSet calls measure for the sets that the options ask for, until one fails.
func (r *run) eachSet(measure func(set) error) error {
	for _, s := range sets {
		if !slices.Contains(r.Sets, s.name) {
			continue
		}
		if err := measure(s); err != nil {
			return fmt.Errorf("set %s: %w", s.name, err)
		}
	}
	return nil
}

// read returns the examples to train and to test on, with right labels, as a learner sees them:
// components of the kernel are fitted to all that train, which takes no label.
func (s set) read(ctx context.Context, r *run) (train, test *dataset.Dataset, err error) {
	if train, test, err = s.readFiles(ctx, r); err != nil || s.components == 0 {
		return train, test, err
	}
	return s.mapped(ctx, r, train, test)
}

func (s set) readFile(ctx context.Context, r *run, name string) (*dataset.Dataset, error) {
	path, o := filepath.Join(r.DataDir, name), s.options
	if strings.Contains(name, "images-idx3") {
		o.Labels = strings.Replace(path, "images-idx3", "labels-idx1", 1)
	}
	if !s.heading {
		return file.Read(ctx, path, o)
	}
	packed, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer packed.Close() // nothing to lose: it is only read
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewReader(unpacked)
	if _, err := lines.ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s:1: found no line to pass over: %w", path, err)
	}
	o.Format, o.Header = "csv", "no"
	return file.ReadFrom(ctx, lines, path, o)
}

func (s set) readFiles(ctx context.Context, r *run) (train, test *dataset.Dataset, err error) {
	if train, err = s.readFile(ctx, r, s.train); err != nil {
		return nil, nil, err
	}
	if s.test == "" {
		if s.first >= train.N {
			return nil, nil, fmt.Errorf("%s: found %d examples, wanted more than %d", train.Path, train.N,
				s.first)
		}
		return part(train, 0, s.first), part(train, s.first, train.N), nil
	}
	s.options.Features, s.options.Classes = train.D, train.Classes
	test, err = s.readFile(ctx, r, s.test)
	return train, test, err
}

// like returns other examples of the classes of d.
func like(d *dataset.Dataset, x dataset.Examples, y []int32) *dataset.Dataset {
	return &dataset.Dataset{Examples: x, Y: y, Classes: d.Classes, Found: dataset.Found{Path: d.Path}}
}

func part(d *dataset.Dataset, from, to int) *dataset.Dataset {
	return like(d, d.Part(from, to), d.Y[from:to])
}

// mapped puts components of length 1 in the place of the features.
func (s set) mapped(ctx context.Context, r *run, train, test *dataset.Dataset) (_,
	_ *dataset.Dataset, err error) {
	if err := host.Prepare(train, "", true); err != nil {
		return nil, nil, err
	}
	if err := features.PrepareBy(test, train.Prepared); err != nil {
		return nil, nil, err
	}
	kernel := fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: s.components}
	o, note, err := kernel.FindPCA(r.Engine, train.Examples, r.Seed)
	if err != nil {
		return nil, nil, err
	}
	r.Note("%s: %s", s.name, note)
	k, z, err := pca.FitMap(ctx, r.Engine, train.Examples, o, dataset.Steps{L2: true})
	if err != nil {
		return nil, nil, err
	}
	r.Note("%s: %s", s.name, k.Basis.Summary())
	zTest, err := k.Apply(ctx, r.Engine, test.Examples)
	if err != nil {
		return nil, nil, err
	}
	return components(train, z), components(test, zTest), nil
}

func components(d *dataset.Dataset, z dataset.Examples) *dataset.Dataset {
	return like(d, z, d.Y)
}

// preparation is what a learner still has to do to what read returns.
func (s set) preparation() string {
	if s.components > 0 {
		return "none"
	}
	return "l2"
}

// labelled are the examples of a run whose right labels are known: numbers of examples.
type labelled struct {
	rough []int // perClass of each class, or all that there are
	conf  []int // confShare of all, apart from these
}

// confShare is which part of the examples tells C.
const confShare = 0.05

func draw(d *dataset.Dataset, perClass int, seed uint64) labelled {
	const stream = 0x7461626c6531 // "table1"
	order := rand.New(rand.NewPCG(seed, stream)).Perm(d.N)
	var l labelled
	var rest []int
	of := make([]int, len(d.Classes))
	for _, i := range order {
		if k := d.Y[i]; of[k] < perClass {
			of[k]++
			l.rough = append(l.rough, i)
		} else {
			rest = append(rest, i)
		}
	}
	// The last ones: among the first, rare classes lack what was picked for the rough classifier.
	l.conf = rest[len(rest)-min(len(rest), int(confShare*float64(d.N))):]
	return l
}

// pick returns some examples of d with labels of their own.
func pick(d *dataset.Dataset, which []int, labels []int32) *dataset.Dataset {
	y := make([]int32, len(which))
	for k, i := range which {
		y[k] = labels[i]
	}
	return like(d, d.Pick(which), y)
}
