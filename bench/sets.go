package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// set is a data set and how it is measured.
type set struct {
	name        string
	train, test part // without a test part, train is divided
	// number of examples that train of a divided set; 0: the seed picks 70 % of each class
	first  int
	noises []noise // of its labels
}

// part is a file of examples. Paths are relative to the folder of -data unless they are absolute.
type part struct {
	path    string
	options file.Options
	rows    int  // number of the first examples that count; 0 for all
	heading bool // the first line of the gzip file is none of the table
}

const (
	mnist, cifar, reuters, news = "mnist/", "cifar10n/", "reuters21578/reuters9.", "20news/20news."
	// Debian's dataset-fashion-mnist
	fashion          = "/usr/share/datasets/fashion-mnist/"
	labelme, agnews  = "labelme/", "noisy_ag_news/"
	sentiment, genre = "sentiment_polarity/", "music_genre/music_genre_"
)

// labelFirst says that the labels are the first column.
var labelFirst = file.Options{Table: file.Table{LabelColumn: "first"}}

// sets are the cheap ones first.
var sets = []set{
	{name: "iris", noises: injected, train: part{path: "small/sklearn_iris.csv.gz",
		options: file.Options{Table: file.Table{Header: "yes"}}}},
	// The first line of scikit-learn's files is none of the table: it has the
	// table's size and the classes. That of iris is as wide as a header by chance.
	{name: "wine", noises: injected,
		train: part{path: "small/sklearn_wine_data.csv.gz", heading: true}},
	{name: "breast cancer", noises: injected,
		train: part{path: "small/sklearn_breast_cancer.csv.gz", heading: true}},
	// The first column of glass numbers the examples.
	{name: "glass", noises: injected, train: part{path: "small/glass.data.gz",
		options: file.Options{Table: file.Table{Ignore: []string{"1"}}}}},
	{name: "zoo", noises: injected, train: part{path: "small/zoo.csv.gz"}},
	{name: "vehicle", noises: injected, train: part{path: "small/vehicle.csv.gz"}},
	{name: "music genre", train: music("gold"), test: music("test"), noises: []noise{
		oneAnnotator(genres), majority(genres)}},
	{name: "labelme", train: scenes("train"), test: scenes("test"), noises: []noise{
		oneAnnotator(pictures), majority(pictures)}},
	{name: "AG news", noises: []noise{column("one person", agNews("noisy"))},
		train: agNews("true"), test: part{path: agnews + "test.svm.gz"}},
	{name: "film reviews", noises: []noise{oneAnnotator(reviews), majority(reviews)},
		train: part{path: sentiment + "train.svm.gz", options: file.Options{Features: 15024}},
		test:  part{path: sentiment + "test.svm.gz"}},
	{name: "optdigits", noises: injected,
		train: part{path: "optdigits/optdigits.tra.gz"}, test: part{path: "optdigits/optdigits.tes.gz"}},
	// The file alone does not tell how many features there are.
	{name: "reuters9", noises: injected,
		train: part{path: reuters + "train.svm.gz", options: file.Options{Features: 19767}},
		test:  part{path: reuters + "test.svm.gz"}},
	{name: "letter", noises: injected, first: 15000,
		train: part{path: "letter/letter-recognition.data.gz", options: labelFirst}},
	{name: "cifar10n", train: cifar10("clean_label"),
		noises: []noise{column("worst of three", cifar10("worse_label")), column("one person",
			cifar10("random_label1")), column("vote of three", cifar10("aggre_label"))},
		test: part{path: cifar + "test-feat-idx2-byte.gz",
			options: file.Options{Labels: cifar + "test-labels-idx1-ubyte.gz"}}},
	{name: "MNIST", noises: injected, train: images(mnist, "train", 15000), test: images(mnist, "t10k",
		0)},
	{name: "20 newsgroups", noises: injected,
		train: part{path: news + "train.svm.gz", options: file.Options{Features: 44577}},
		test:  part{path: news + "test.svm.gz"}},
	{name: "Fashion-MNIST", noises: injected, train: images(fashion, "train", 0), test: images(fashion,
		"t10k", 0)},
}

// quickSets are sets of the folder testdata, for the command's own test.
var quickSets = []set{
	{name: "digits", first: 300, noises: []noise{right, pairwise(0.4)},
		train: part{path: "digits.csv.gz", rows: 600}},
	{name: "letter", first: 400, noises: []noise{right, pairwise(0.4)},
		train: part{path: "letter.csv.gz", rows: 800, options: labelFirst}},
}

// The annotators of three sets.
var (
	genres = crowdTable{path: genre + "mturk.csv.gz", item: "id", label: "class", items: genre +
		"gold.csv.gz"}
	pictures = crowdTable{path: labelme + "annotations.csv.gz", item: "task", label: "label"}
	reviews  = crowdTable{path: sentiment + "annotations.csv.gz", item: "task", label: "label"}
)

func images(dir, which string, rows int) part {
	return part{path: dir + which + "-images-idx3-ubyte.gz", rows: rows,
		options: file.Options{Labels: dir + which + "-labels-idx1-ubyte.gz"}}
}

func music(which string) part {
	return part{path: genre + which + ".csv.gz",
		options: file.Options{Table: file.Table{Ignore: []string{"id"}, LabelColumn: "class"}}}
}

func scenes(which string) part {
	return part{path: labelme + "LabelMe_VGG_avg_" + which + ".npy.gz",
		options: file.Options{Labels: labelme + "LabelMe_Z_" + which + ".txt.gz"}}
}

func agNews(labels string) part {
	return part{path: agnews + "train.svm.gz",
		options: file.Options{Features: 9941, Labels: agnews + "labels.csv.gz",
			Table: file.Table{LabelColumn: labels}}}
}

func cifar10(labels string) part {
	return part{path: cifar + "train-feat-idx2-byte.gz",
		options: file.Options{Labels: cifar + "train-labels.csv.gz",
			Table: file.Table{LabelColumn: labels}}}
}

// below returns path, below dir unless it says by itself where it is.
func below(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// read returns raw examples. The classes and the number of features are those of like if that
// is not nil.
func (p part) read(ctx context.Context, dir string, like *dataset.Dataset,
) (*dataset.Dataset, error) {
	path, o := below(dir, p.path), p.options
	o.Labels = below(dir, o.Labels)
	if like != nil {
		o.Features, o.Classes = like.D, like.Classes
	}
	var d *dataset.Dataset
	var err error
	if p.heading { // lines in errors are counted from the next one
		var text []byte
		if text, err = gunzip(path); err == nil {
			_, text, _ = bytes.Cut(text, []byte("\n"))
			d, err = file.ReadFrom(ctx, bytes.NewReader(text), path, o)
		}
	} else {
		d, err = file.Read(ctx, path, o)
	}
	if err != nil || p.rows == 0 {
		return d, err
	}
	if d.N < p.rows {
		return nil, fmt.Errorf("%s: found %d examples, wanted at least %d; is it the whole file?", path,
			d.N, p.rows)
	}
	return cut(d, 0, p.rows), nil
}

// gunzip returns what a gzip file holds.
func gunzip(path string) ([]byte, error) {
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
	return text, nil
}

// cut returns examples from..to-1 of d, whose memory they share.
func cut(d *dataset.Dataset, from, to int) *dataset.Dataset {
	c := &dataset.Dataset{Examples: d.Part(from, to), Y: d.Y[from:to], Classes: d.Classes,
		Features: d.Features, Found: dataset.Found{Path: d.Path}}
	c.SHA256 = c.Hash()
	return c
}

// divide returns the examples to train and to test on, drawn by the seed unless the first ones
// train.
func (s set) divide(d *dataset.Dataset, seed uint64) (train, test *dataset.Dataset, err error) {
	if s.first > 0 {
		if s.first >= d.N {
			return nil, nil, fmt.Errorf("%s: found %d examples, wanted more than %d", d.Path, d.N, s.first)
		}
		return cut(d, 0, s.first), cut(d, s.first, d.N), nil
	}
	parts, err := dataset.SplitFractions(d, []float64{0.7, 0.3}, seed)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	return parts[0], parts[1], nil
}
