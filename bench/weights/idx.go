package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// unpack returns what is in a gzip file.
func unpack(path string) ([]byte, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: wanted a gzip file: %w", path, err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: the gzip file is damaged or cut short: %w", path, err)
	}
	return data, nil
}

// decodeIDX reads the format of MNIST: bytes 0, 0, the type of the values (8
// unsigned, 9 signed bytes), the number of dimensions, each dimension as a
// big-endian uint32, the values. The first dimension counts the examples, of
// which only the first rows are returned unless rows is 0; the others, if there
// are any, make the features.
func decodeIDX(data []byte, rows int) (x dataset.Examples, err error) {
	if len(data) < 8 || data[0]|data[1] != 0 || data[2]&^1 != 8 || data[3] == 0 || len(data) < 4+4*int(data[3]) {
		return x, errors.New("not an IDX file of bytes, whose header is 00 00, 08 or 09, the number of dimensions, and those")
	}
	dims, values := data[4:4+4*int(data[3])], data[4+4*int(data[3]):]
	n, d := uint64(binary.BigEndian.Uint32(dims)), uint64(1)
	for i := 4; i < len(dims) && d <= uint64(len(values)); i += 4 {
		d *= uint64(binary.BigEndian.Uint32(dims[i:]))
	}
	if n == 0 || d == 0 || d > uint64(len(values)) || n*d != uint64(len(values)) || uint64(rows) > n {
		return x, fmt.Errorf("IDX file: found %d examples of at least %d values in %d bytes, wanted as many bytes as values and at least %d examples",
			n, d, len(values), max(rows, 1))
	}
	if rows > 0 {
		n = uint64(rows)
	}
	x = dataset.Examples{N: int(n), D: int(d), X: make([]float32, n*d)}
	for i := range x.X {
		if x.X[i] = float32(values[i]); data[2] == 9 {
			x.X[i] = float32(int8(values[i]))
		}
	}
	return x, nil
}

// readIDX joins an IDX file and its labels 0 to 9, in another IDX file or a CSV.
func (p part) readIDX(path, labels string, o dataset.Options) (*dataset.Dataset, error) {
	decode := func(path string) (dataset.Examples, error) {
		data, err := unpack(path)
		if err != nil {
			return dataset.Examples{}, err
		}
		x, err := decodeIDX(data, p.rows)
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return x, err
	}
	x, err := decode(path)
	if err != nil {
		return nil, err
	}
	d := &dataset.Dataset{Examples: x, Path: path}
	for c := range 10 {
		d.Classes = append(d.Classes, strconv.Itoa(c))
	}
	if strings.HasSuffix(labels, ".csv.gz") {
		table, err := dataset.Read(labels, dataset.Options{LabelColumn: p.column, Classes: d.Classes})
		if err != nil {
			return nil, err
		}
		d.Y = table.Y
	} else {
		y, err := decode(labels)
		if err != nil {
			return nil, err
		}
		for _, v := range y.X {
			d.Y = append(d.Y, int32(v))
		}
	}
	if len(d.Y) < x.N || o.Features > 0 && o.Features != x.D {
		return nil, fmt.Errorf("%s: found %d×%d values and %d labels, wanted a label for each example (features: %d, 0 is any)", path, x.N, x.D, len(d.Y), o.Features)
	}
	d.Y = d.Y[:x.N]
	return d, nil // a label that is no class is found by confusion.Inject
}
