package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/prepared"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// readBinary maps a binary file, or reads a packed one, and checks header, sums, labels and sparse
// structure, but no value.
func readBinary(s *source, o Options) (*dataset.Dataset, error) {
	if o.given != nil {
		return nil, s.errorf("asked for labels from a second file, wanted none: a binary file has its " +
			"own; name the labels when you convert")
	}
	if err := checkEndian(s.path); err != nil {
		return nil, err
	}
	f := &binaryFile{}
	var err error
	if f.raw, f.unmap, err = s.contents(); err != nil {
		return nil, err
	}
	var d *dataset.Dataset
	err = dataset.Guard(func() (err error) {
		d, err = f.open(s, o)
		return err
	})
	if err != nil {
		f.Close() // of what was only read; the first error is the one to tell
		return nil, err
	}
	if o.parts != nil {
		return asPart(d, s, o)
	}
	return d, nil
}

// contents gives all bytes of s: mapped if they lie in a file as they are.
func (s *source) contents() ([]byte, func([]byte) error, error) {
	r, size, err := s.whole()
	if err != nil {
		return nil, nil, err
	}
	if size < int64(binaryLine) || size > math.MaxInt {
		return nil, nil, s.errorf("found %d bytes, wanted a binary file of at least %d that fits in the "+
			"address space", size, binaryLine)
	}
	if s.file == nil {
		raw, err := store.ReadAligned(r, int(size))
		return raw, nil, err
	}
	raw, unmap, err := store.MapFile(s.file, int(size))
	if err != nil {
		return nil, nil, s.errorf("cannot map the file into memory: %w; copy it to a local disk",
			fileerr.Cause(err))
	}
	if unmap != nil {
		store.Remember(raw, s.path, false)
	}
	return raw, unmap, nil
}

// open makes the data set that o asks for of the file f.raw.
func (f *binaryFile) open(s *source, o Options) (*dataset.Dataset, error) {
	h, err := parseHeader(f.raw)
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	if err := f.view(h, s.limits); err != nil {
		return nil, s.errorf("%w; the file is cut short or damaged: copy it or convert the original "+
			"data again", err)
	}
	f.written.Path = s.path
	if f.unmap != nil && h.Preparation == nil && o.Prepare != "" {
		err = prepared.CheckRoom(&f.written, o.Prepare)
	}
	if err != nil {
		return nil, err
	}
	if !o.Trust {
		err = f.checkSums(s.ctx)
	}
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	if err = f.written.Check(); err == nil {
		err = f.written.Validate()
	}
	if err != nil {
		return nil, s.errorf("%w; the file is cut short or damaged: copy it or convert the original "+
			"data again", err)
	}
	if !isSHA256(h.ContentSHA256) || (h.DataSHA256 != "" && !isSHA256(h.DataSHA256)) ||
		(h.Preparation == nil && h.DataSHA256 != h.ContentSHA256) {
		return nil, s.errorf("found the hashes %s and %s of data and content, wanted equal ones unless "+
			"the data are prepared; the file was not written by "+
			"uma-gpu", quote.Text(h.DataSHA256), quote.Text(h.ContentSHA256))
	}
	f.content, f.old = h.ContentSHA256, h.oldHashes
	d := f.written
	d.Home = f
	if f.old {
		d.SHA256 = ""
	}
	if f.old && d.Prepared != nil && h.DataSHA256 != "" {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: the file is of a version whose hashes were others, so a model will not name "+
				"its data by one; convert the original data again", s.path))
	}
	if err := choose(&d, s, o); err != nil {
		return nil, err
	}
	return &d, nil
}

func isSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// parseHeader returns the header; nothing is decoded before its hash is right.
func parseHeader(raw []byte) (*binaryHeader, error) {
	if !isBinary(raw) {
		return nil, fmt.Errorf("found the beginning %s, wanted %q; convert the data to one",
			quote.Text(string(raw[:len(binaryMagic)])), binaryMagic+binaryVersion)
	}
	line := string(raw[:binaryLine])
	version, _, _ := bytes.Cut(raw[len(binaryMagic):binaryLine], []byte(" "))
	if !slices.Contains([]string{binaryBare, binaryHashed, binaryVersion}, string(version)) {
		return nil, fmt.Errorf("found version %s of the binary format, wanted %s, %s or %s; convert the "+
			"original data with this version of "+
			"uma-gpu", quote.Text(string(version)), binaryBare, binaryHashed, binaryVersion)
	}
	at := len(binaryMagic) + len(binaryVersion) + 1
	size, err := strconv.ParseUint(line[at:at+binaryDigits], 10, 62)
	if err != nil {
		return nil, fmt.Errorf("found %s, wanted the length of the header in %d digits; the file is "+
			"damaged", quote.Text(line[at:at+binaryDigits]), binaryDigits)
	}
	if size > uint64(len(raw)-binaryLine) {
		return nil, fmt.Errorf("found a file of %d bytes, wanted at least %d for its header; the file "+
			"is cut short: copy it or convert the original data again", len(raw), size+uint64(binaryLine))
	}
	text := raw[binaryLine : binaryLine+int(size)]
	if want := firstLine(string(version), text); line != want {
		return nil, fmt.Errorf("found the first line %q, wanted %q as its header has it; the file is "+
			"damaged: copy it or convert the original data again", line, want)
	}
	h := &binaryHeader{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(h); err != nil {
		return nil, fmt.Errorf("cannot read the header: %w; the file was not written by uma-gpu", err)
	}
	if (h.Sections.Sums != nil) != (string(version) != binaryBare) {
		return nil, fmt.Errorf("found version %s with the wrong sections, wanted none of sums in "+
			"version %s, and one in others; the file was not written by uma-gpu", version, binaryBare)
	}
	h.oldHashes = string(version) != binaryVersion
	return h, nil
}

// view makes f.written of slices of f.raw, if header and sizes fit together.
func (f *binaryFile) view(h *binaryHeader, l limits) error {
	if h.Examples < 1 || h.Examples > l.rows || h.Columns < 1 || h.Columns > l.columns {
		return fmt.Errorf("found %d examples of %d columns, wanted 1 to %d of 1 to %d",
			h.Examples, h.Columns, l.rows, l.columns)
	}
	if err := h.checkSections(int64(len(f.raw))); err != nil {
		return err
	}
	part := func(s *binarySection) []byte {
		return f.raw[s.Offset : s.Offset+s.Bytes : s.Offset+s.Bytes]
	}
	e := dataset.Examples{N: h.Examples, D: h.Columns}
	if s := h.Sections; h.Storage == "dense" {
		e.X = store.View[float32](part(s.X))
	} else {
		e.Starts, e.Columns, e.Values = store.View[int64](part(s.Starts)),
			store.View[int32](part(s.Columns)),
			store.View[float32](part(s.Values))
	}
	f.written = dataset.Dataset{
		Examples: e, Classes: h.Classes, Features: h.Features,
		Found: dataset.Found{Label: h.Label, LabelColumn: h.LabelColumn, SHA256: h.DataSHA256,
			Subnormals: h.Subnormals, Notes: h.Notes, Unchecked: h.Sections.Sums == nil},
		Encoding: h.Encoding, Prepared: h.Preparation,
	}
	if h.Sections.Y != nil {
		f.written.Y = store.View[int32](part(h.Sections.Y))
	}
	if h.Sections.Sums != nil {
		f.sums = part(h.Sections.Sums)
	}
	return nil
}

// checkSections returns an error unless the sections fit the storage, the shape and a file of size
// bytes.
func (h *binaryHeader) checkSections(size int64) error {
	s := h.Sections
	dense := h.Storage == "dense" && s.X != nil && s.Starts == nil && s.Columns == nil &&
		s.Values == nil
	sparse := h.Storage == "sparse" && s.X == nil && s.Starts != nil && s.Columns != nil &&
		s.Values != nil
	if !dense && !sparse {
		return fmt.Errorf("found storage %s with the wrong sections, wanted dense with x or sparse with "+
			"starts, columns and values", quote.Text(h.Storage))
	}
	end := int64(binaryLine)
	for _, n := range s.list() {
		if n.Offset < end || n.Offset%binaryAlign != 0 || n.Bytes < 0 || n.Bytes > size ||
			n.Offset > size-n.Bytes {
			return fmt.Errorf("found section %s of %d bytes from byte %d on in a file of %d bytes, wanted "+
				"it within the file, behind byte %d and at a multiple of %d",
				n.name, n.Bytes, n.Offset, size, end, binaryAlign)
		}
		end = n.Offset + n.Bytes
	}
	if end != size {
		return fmt.Errorf("found %d bytes, wanted %d", size, end)
	}
	rows, columns := int64(h.Examples), int64(h.Columns)
	switch {
	case dense && (s.X.Bytes%(4*columns) != 0 || s.X.Bytes/(4*columns) != rows):
		return fmt.Errorf("found section x of %d bytes, wanted 4 for each of %d × %d values", s.X.Bytes,
			rows, columns)
	case sparse && (s.Starts.Bytes != 8*(rows+1) || s.Columns.Bytes != s.Values.Bytes ||
		s.Values.Bytes%4 != 0):
		return fmt.Errorf("found sections starts, columns and values of %d, %d and %d bytes, wanted %d "+
			"for the first and as many for the second as for the third",
			s.Starts.Bytes, s.Columns.Bytes, s.Values.Bytes, 8*(rows+1))
	case s.Y != nil && s.Y.Bytes != 4*rows:
		return fmt.Errorf("found section y of %d bytes, wanted %d", s.Y.Bytes, 4*rows)
	case s.Sums != nil && s.Sums.Bytes != sumsBytes(s.Sums.Offset):
		return fmt.Errorf("found section sums of %d bytes, wanted %d", s.Sums.Bytes,
			sumsBytes(s.Sums.Offset))
	}
	return nil
}

// choose makes of a data set as it stands in a file the one that o asks for.
func choose(d *dataset.Dataset, s *source, o Options) error {
	byName := o.FeatureNames != nil && d.Features != nil // and some may be left out
	if !byName && o.Features > 0 && d.FeatureCount() != o.Features {
		return s.errorf("found %d features, wanted %d, the width of the model", d.FeatureCount(),
			o.Features)
	}
	switch {
	case o.NoLabels && d.Y != nil:
		d.Y, d.Classes, d.SHA256 = nil, nil, ""
	case o.NoLabels:
	case d.Y == nil:
		return s.errorf("the file has no labels, wanted one that was converted with them (or to read " +
			"without)")
	case o.Classes != nil && !slices.Equal(o.Classes, d.Classes):
		if err := rename(d, s, o.Classes); err != nil {
			return err
		}
	}
	switch {
	case o.Storage == "dense" && d.Sparse():
		b := builder{src: s, counters: counters{n: d.N}, shape: shape{width: d.D}}
		if err := b.checkDense(); err != nil {
			return err
		}
		if err := checkDenseMemory(s.path, d.N, d.D); err != nil {
			return err
		}
		d.Examples = d.Dense()
	case o.Storage == "sparse" && !d.Sparse():
		d.Examples = d.Compressed()
	}
	return nil
}

// rename gives d the class list and its labels the numbers in it.
func rename(d *dataset.Dataset, s *source, classes []string) error {
	known, err := newLabels(classes, LabelRules{})
	if err != nil {
		return err
	}
	y := make([]int32, d.N)
	for i, k := range d.Y {
		if fault := known.set([]byte(d.Classes[k])); fault != "" {
			return s.errorf("example %d (counted from 1): %s", i+1, fault)
		}
		y[i] = known.pending
	}
	d.Classes, d.Y, d.SHA256 = known.names, y, ""
	return nil
}
