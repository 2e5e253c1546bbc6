package main

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// set is a data set of Section 4.2 of the UMA paper.
type set struct {
	name        string
	train, test string // files below options.DataDir; test "" where the examples behind first test
	options     file.Options
	first       int
	// examples of each class that the rough classifier is given, the paper's m
	perClass   int
	components int                 // of a Gaussian kernel; 0 for none
	paper      map[string]*float64 // of each column
	note       string
}

// An IDX file of images has its labels in one beside it.
const imagesFile, labelsFile = "images-idx3", "labels-idx1"

// The columns of Table 1 of the paper. "rough" is the classifier whose predictions are the labels.
const (
	rough, ofLabels, ofConf, ofFull, ofS3VM = "rough", "f_y", "f_conf", "f_full", "s3vm"
)

func paperRow(labels, conf, full, s3vm, uma float64) map[string]*float64 {
	return map[string]*float64{ofLabels: &labels, ofConf: &conf, ofFull: &full, ofS3VM: &s3vm,
		umaWay.name: &uma}
}

var sets = []set{
	{name: "digits", train: "optdigits/optdigits.tra.gz", test: "optdigits/optdigits.tes.gz",
		perClass: 10, components: 640, paper: paperRow(0.25, 0.21, 0.04, 0.15, 0.16)},
	{name: "letter", train: "letter/letter-recognition.data.gz", first: 15000, perClass: 50,
		options:    file.Options{Table: file.Table{LabelColumn: "first"}},
		components: 1600, paper: paperRow(0.35, 0.36, 0.23, 0.49, 0.33)},
	// The file alone does not tell how many features there are.
	{name: "reuters", train: "reuters21578/reuters9.train.svm.gz",
		test:     "reuters21578/reuters9.test.svm.gz",
		perClass: 20, options: file.Options{Features: 19767}, paper: paperRow(0.30, 0.17, 0.01, 0.22,
			0.21), note: "nine classes of Reuters-21578 in the place of the paper's nine of RCV1"},
}

// eachSet calls write for the sets that the options ask for, until one fails.
func (r *run) eachSet(write func(set) error) error {
	for _, s := range sets {
		if !slices.Contains(r.Sets, s.name) {
			continue
		}
		if err := write(s); err != nil {
			return fmt.Errorf("set %s: %w", s.name, err)
		}
	}
	return nil
}

func setNames() []string {
	names := make([]string, len(sets))
	for k, s := range sets {
		names[k] = s.name
	}
	return names
}

// read returns the examples to train and to test on, with right labels, as a learner sees them:
// components of the kernel are fitted to all that train, which takes no label.
func (s set) read(ctx context.Context, r *run) (train, test *dataset.Dataset, err error) {
	if train, test, err = s.readFiles(ctx, r); err != nil || s.components == 0 {
		return train, test, err
	}
	return s.mapped(ctx, r, train, test)
}

// readFiles returns what the files have.
func (s set) readFiles(ctx context.Context, r *run) (train, test *dataset.Dataset, err error) {
	o := s.options
	read := func(name string) (*dataset.Dataset, error) {
		path := filepath.Join(r.DataDir, name)
		if strings.Contains(name, imagesFile) {
			o.Labels = strings.Replace(path, imagesFile, labelsFile, 1)
		}
		return file.Read(ctx, path, o)
	}
	if train, err = read(s.train); err != nil {
		return nil, nil, err
	}
	if s.test == "" {
		if s.first >= train.N {
			return nil, nil, fmt.Errorf("%s: found %d examples, wanted more than %d", train.Path, train.N,
				s.first)
		}
		train, test = part(train, 0, s.first), part(train, s.first, train.N)
	} else {
		o.Features, o.Classes = train.D, train.Classes
		if test, err = read(s.test); err != nil {
			return nil, nil, err
		}
	}
	return train, test, nil
}

func part(d *dataset.Dataset, from, to int) *dataset.Dataset {
	p := &dataset.Dataset{Examples: d.Part(from, to), Y: d.Y[from:to], Classes: d.Classes}
	p.Path = d.Path
	return p
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

func components(d *dataset.Dataset, z dataset.Rows) *dataset.Dataset {
	return &dataset.Dataset{Examples: z.Stored().Examples, Y: d.Y, Classes: d.Classes,
		Found: dataset.Found{Path: d.Path}}
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
	conf  []int // confShare of all, or another share, apart from these
}

// confShare is which part of the examples tells C, but in figures 3 and 4.
const confShare = 0.05

// draw draws them; those of a smaller share are among those of a larger one.
func draw(d *dataset.Dataset, perClass int, share float64, seed uint64) labelled {
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
	l.conf = rest[len(rest)-min(len(rest), int(share*float64(d.N))):]
	return l
}

// pick returns some examples of d with labels of their own.
func pick(d *dataset.Dataset, which []int, labels []int32) *dataset.Dataset {
	p := &dataset.Dataset{Examples: d.Pick(which), Classes: d.Classes,
		Found: dataset.Found{Path: d.Path}}
	for _, i := range which {
		p.Y = append(p.Y, labels[i])
	}
	return p
}
