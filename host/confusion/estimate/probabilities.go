package estimate

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// probabilityBlock is how many probabilities of a file are in memory at a time.
const probabilityBlock = 1 << 20

// ProbabilityFile returns the rows of a .npy file of n×q probabilities, float32 or float64 in C
// order, as numpy.save writes those of scikit-learn's cross_val_predict(method="predict_proba").
// The file is read in blocks, each time anew. Errors begin with the path; this one is about the
// header.
func ProbabilityFile(path string, n, q int) (Rows, error) {
	f, _, err := openProbabilities(path, n, q)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("%s: cannot read the probabilities: %w", path, fileerr.Cause(err))
	}
	return func(use func([]float32) error) error { return readProbabilities(path, n, q, use) }, nil
}

// openProbabilities opens the file and reads its header.
func openProbabilities(path string, n, q int) (*os.File, npyfile.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, npyfile.Array{}, fmt.Errorf("%s: cannot read the probabilities: %w", path,
			fileerr.Cause(err))
	}
	a, err := npyfile.ReadHeader(f)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: cannot read the probabilities, wanted a .npy file: %w", path, err)
	case len(a.Shape) != 2 || a.Shape[0] != n || a.Shape[1] != q:
		err = fmt.Errorf("%s: found an array of shape %v, wanted [%d %d], a row for each example and a "+
			"column for each class of the data, in their order", path, a.Shape, n, q)
	case a.Fortran || a.Type.Kind != 'f' || npyfile.Decoder(a.Type, toFloat32) == nil:
		err = fmt.Errorf("%s: found elements of type %.20q or in Fortran order, wanted float32 or "+
			"float64 in C order: convert with numpy.ascontiguousarray", path, a.Descr)
	}
	if err != nil {
		f.Close() // of what was only read: nothing to lose
		return nil, a, err
	}
	return f, a, nil
}

func toFloat32(v float64) float32 { return float32(v) }

func readProbabilities(path string, n, q int, use func([]float32) error) error {
	f, a, err := openProbabilities(path, n, q)
	if err != nil {
		return err
	}
	defer f.Close() // nothing to lose: it was only read
	if _, err := f.Seek(int64(a.Size), io.SeekStart); err != nil {
		return fmt.Errorf("%s: cannot read the probabilities: %w", path, fileerr.Cause(err))
	}
	decode := npyfile.Decoder(a.Type, toFloat32)
	r := bufio.NewReaderSize(f, 1<<20)
	rows := max(1, probabilityBlock/q)
	p, raw := make([]float32, min(rows, n)*q), make([]byte, min(rows, n)*q*a.Type.Size)
	for first := 0; first < n; first += rows {
		size := min(rows, n-first) * q
		if _, err := io.ReadFull(r, raw[:size*a.Type.Size]); err != nil {
			return fmt.Errorf("%s: found the end of the file after less than %d rows, wanted %d; is it "+
				"whole?", path, n, n)
		}
		decode(p[:size], raw[:size*a.Type.Size])
		if err := use(p[:size]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
