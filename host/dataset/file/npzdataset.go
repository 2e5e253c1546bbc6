package file

import (
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

// An .npz that is written for later trainings has, besides the arrays of any other,
//
//	X.npy         float32, examples × columns in C order, not packed, at a multiple of 64 bytes, so
//	              that it is mapped; or SciPy's indptr, indices, data, shape and format
//	y.npy         int32, the class of each example, counted from 0 in the list of classes, -1 for
//	              none; left out without labels
//	dataset.json  a Description
//
// Values are finite and not subnormal.

// DescriptionName is the member that is a Description.
const DescriptionName = "dataset.json"

// Description says of the examples in an .npz what arrays cannot.
type Description struct {
	Classes     []string `json:"classes,omitempty"`
	Features    []string `json:"features,omitempty"` // names, before preparation
	Label       string   `json:"label,omitempty"`    // the name of the label's column
	LabelColumn int      `json:"label_column,omitempty"`
	// Encoding says what the features were made of; nil if they are columns of numbers.
	Encoding *dataset.Encoding `json:"encoding,omitempty"`
	// Preparation is what the examples went through; nil if they are raw.
	Preparation *dataset.Preparation `json:"preparation,omitempty"`
	// SHA256 is the Hash of the raw data with these labels.
	SHA256     string   `json:"sha256"`
	Subnormals int      `json:"subnormals,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// about reads the description; nil if there is none.
func (z *npz) about(c *collector) (*Description, error) {
	f := z.files[DescriptionName]
	if f == nil {
		return nil, nil
	}
	switch {
	case c.given != nil:
		return nil, z.src.errorf("asked for labels from a second file, wanted none: the file has its " +
			"own; name the labels when you convert")
	}
	what := fmt.Sprintf("a description of %d bytes", f.UncompressedSize64)
	if err := memory.Check(memory.Product(int(min(f.UncompressedSize64, 1<<40)), 8),
		what); err != nil {
		return nil, z.src.errorf("%w", err)
	}
	m, err := z.unpack(DescriptionName)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	text, err := io.ReadAll(m)
	if err != nil {
		return nil, err
	}
	d := &Description{}
	if err := wire.Strict(text, d); err != nil {
		return nil, z.src.errorf("member %s: %w; convert the data again", DescriptionName, err)
	}
	return d, nil
}

// wanted returns the number of columns that the matrix must have for o; 0 for any.
func (a *Description) wanted(s *source, o Options) (int, error) {
	byName := o.FeatureNames != nil && a.Features != nil // which may leave some out
	switch {
	case byName:
		return 0, nil
	case a.Preparation == nil || o.Features == 0:
		return o.Features, nil
	case a.Preparation.D != o.Features:
		return 0, s.errorf("found %d features, wanted %d, the width of the model", a.Preparation.D,
			o.Features)
	}
	return a.Preparation.Width(), nil
}

// fits refuses features that were made of numbers with other origins than a model's.
func (a *Description) fits(s *source, known *dataset.Encoding) error {
	if known == nil || a.Encoding == nil || slices.Equal(a.Encoding.Origins(), known.Origins()) {
		return nil
	}
	return s.errorf("the numbers are behind other origins than the model's; convert the data by its "+
		"encoding (%s)", quote.Option("encoding"))
}

// enter gives d what is known of its examples.
func (a *Description) enter(d *dataset.Dataset, o Options) {
	d.Features, d.Label, d.LabelColumn = a.Features, a.Label, a.LabelColumn
	d.Encoding, d.Prepared = a.Encoding, a.Preparation
	d.Subnormals += a.Subnormals
	d.Notes = append(a.Notes, d.Notes...)
	sameLabels := o.NoLabels == (a.Classes == nil) && o.Classes == nil
	if a.Preparation != nil && sameLabels && d.Source == nil {
		d.SHA256 = a.SHA256 // which the examples do not tell any more
	}
}

// readClasses reads the labels as the description numbers them.
func (z *npz) readClasses(a *Description) (*labelList, error) {
	if a.Classes == nil {
		return nil, z.src.errorf("the file has no labels, wanted one that was converted with them (or " +
			"to read without)")
	}
	if z.files["y"] == nil {
		return nil, z.src.errorf("found no array y, wanted the labels of %d classes", len(a.Classes))
	}
	y, err := z.integers("y", 0, z.src.limits.rows)
	if err != nil {
		return nil, err
	}
	l := &labelList{name: z.src.path + ": array \"y\""}
	for _, k := range y {
		var class []byte
		var fault error
		switch {
		case k < int64(dataset.Unlabelled) || k >= int64(len(a.Classes)):
			fault = fmt.Errorf("found class %d, wanted -1 to %d", k, len(a.Classes)-1)
		case k >= 0:
			class = []byte(a.Classes[k])
		}
		if err := l.add(class, fault); err != nil {
			return nil, err
		}
	}
	return l, nil
}
