package model

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// contents are the members of an .npz file, by name. Each is taken out once. The first error of a
// member stays, and what is taken out after it is empty.
type contents struct {
	files map[string]*zip.File
	size  int64
	err   error
}

// openArchive reads the directory of an archive of size bytes.
func openArchive(r io.ReaderAt, size int64) (*contents, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("found %d bytes, wanted an .npz file: it is cut short, or another file: "+
			"%w", size, err)
	}
	a := &contents{files: make(map[string]*zip.File, len(z.File)), size: size}
	for _, f := range z.File {
		if a.has(f.Name) {
			return nil, fmt.Errorf("found member %q twice, wanted it once", f.Name)
		}
		a.files[f.Name] = f
	}
	return a, nil
}

// has reports whether a member is there and was not taken out.
func (a *contents) has(name string) bool { return a.files[name] != nil }

// fail keeps the first error.
func (a *contents) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// take hands the bytes of a member and their number to read. It then makes sure that nothing
// follows them and that their check sum is right.
func (a *contents) take(name string, read func(r io.Reader, n uint64) error) {
	f := a.files[name]
	delete(a.files, name)
	if a.err != nil {
		return
	}
	if err := a.read(f, read); err != nil {
		a.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (a *contents) read(f *zip.File, read func(r io.Reader, n uint64) error) error {
	if f == nil {
		return errors.New("found no such member: this is not a model of uma-gpu")
	}
	if f.Method != zip.Store || f.Flags&1 != 0 {
		return errors.New("found a compressed or encrypted member, wanted a stored one: use " +
			"numpy.savez, not savez_compressed")
	}
	if n := f.UncompressedSize64; n != f.CompressedSize64 || n > uint64(a.size) {
		return fmt.Errorf("found a size of %d bytes, stored in %d, in a file of %d", n,
			f.CompressedSize64, a.size)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close() // only a reader: nothing can fail that matters
	if err := read(r, f.UncompressedSize64); err != nil {
		return err
	}
	// The check sum is compared where the end is read.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("found damaged data: %w", err)
	}
	return nil
}

// text returns the bytes of a member.
func (a *contents) text(name string) (text []byte) {
	a.take(name, func(r io.Reader, n uint64) error {
		text = make([]byte, n)
		_, err := io.ReadFull(r, text)
		return err
	})
	return text
}

// numbers returns an array of two dimensions.
func numbers[T number](a *contents, name string) (rows, cols int, data []T) {
	a.take(name, func(r io.Reader, n uint64) (err error) {
		if rows, cols, err = readNpyHeader(r, n, dtype[T](), width[T]()); err != nil {
			return err
		}
		data = make([]T, rows*cols)
		return npyfile.Read(r, data)
	})
	return rows, cols, data
}

// some is numbers without the shape, and nil where the member is missing.
func some[T number](a *contents, name string) (data []T) {
	if a.has(name) {
		_, _, data = numbers[T](a, name)
	}
	return data
}

// end returns the first error, or an error for a member that was not taken out.
func (a *contents) end(wanted string) error {
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		a.fail(fmt.Errorf("found member %q, wanted %s only", name, wanted))
	}
	return a.err
}

// number is an element of the arrays here.
type number interface{ npyfile.Number }

// width returns the bytes of a number.
func width[T number]() int { return binary.Size(*new(T)) }

// dtype returns NumPy's name of a type of numbers.
func dtype[T number]() string {
	kind := "i"
	switch any(*new(T)).(type) {
	case float32, float64:
		kind = "f"
	}
	return fmt.Sprintf("<%s%d", kind, width[T]())
}

// readNpyHeader reads the header of a member of size bytes, an array of dtype with two dimensions
// in C order, and returns its shape. A caller that allocates rows·cols elements needs no more
// memory than the file has bytes.
func readNpyHeader(r io.Reader, size uint64, dtype string, width int) (rows, cols int, err error) {
	a, err := npyfile.ReadHeader(r)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("found no .npy header of %s, wanted an array that numpy.save writes: %w",
			dtype, err)
	case a.Descr != dtype || a.Fortran || len(a.Shape) != 2 || a.Shape[0] < 1 || a.Shape[1] < 1:
		return 0, 0, fmt.Errorf("found type %.100q, shape %s and Fortran order %v, wanted %q, two "+
			"positive dimensions and C order: convert with numpy.ascontiguousarray", a.Descr,
			npyfile.Tuple(a.Shape), a.Fortran, dtype)
	}
	rows, cols = a.Shape[0], a.Shape[1]
	data := size - uint64(a.Size)
	if data%uint64(width) != 0 || data/uint64(width) > math.MaxInt ||
		!isProduct(int(data/uint64(width)), rows, cols) {
		return 0, 0, fmt.Errorf("found %d bytes of data, wanted %d×%d of %d bytes each, as the .npy "+
			"header says", data, rows, cols, width)
	}
	return rows, cols, nil
}

// maxFile is what a zip file without 64-bit extensions can hold, less an ample
// share for headers: about 10⁹ weights.
const maxFile = 1<<32 - 1<<16

// member is a member of an archive that is written.
type member struct {
	name  string
	size  uint64
	write func(io.Writer) error
}

// text returns a member of bytes.
func text(name string, b []byte) member {
	return member{name, uint64(len(b)), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}}
}

// array returns a member of rows × cols numbers.
func array[T number](name string, rows, cols int, data []T) member {
	header := npyfile.Header(dtype[T](), rows, cols)
	return member{name, uint64(len(header)) + uint64(width[T]())*uint64(len(data)),
		func(w io.Writer) error {
			if _, err := w.Write(header); err != nil {
				return err
			}
			return npyfile.Write(w, data)
		}}
}

// checkSize returns an error if a zip file cannot hold the members.
func checkSize(members []member) error {
	var total uint64
	for _, b := range members {
		total += b.size
	}
	if total > maxFile {
		return fmt.Errorf("found %d bytes in all, wanted at most %d, which is what a zip file holds: "+
			"use fewer features", total, uint64(maxFile))
	}
	return nil
}

// writeZip writes a zip file of stored members. Check sum and size stand in front
// of each member, as plain readers want them; the sum takes a first round over
// the data.
func writeZip(w io.Writer, members []member) error {
	z := zip.NewWriter(w)
	for _, b := range members {
		sum := crc32.NewIEEE()
		if err := b.write(sum); err != nil {
			return err
		}
		part, err := z.CreateRaw(&zip.FileHeader{
			Name:           b.name,
			Method:         zip.Store,
			CreatorVersion: 20,
			ReaderVersion:  20,
			//lint:ignore SA1019 CreateRaw writes this field as it is, and no newer one
			ModifiedDate:       1<<5 | 1, // 1 January 1980, the first day there is
			CRC32:              sum.Sum32(),
			CompressedSize64:   b.size,
			UncompressedSize64: b.size,
		})
		if err != nil {
			return err
		}
		if err := b.write(part); err != nil {
			return err
		}
	}
	return z.Close()
}

// load opens a regular file and has it read. The error names the path.
func load(path string, read func(r io.ReaderAt, size int64) error) error {
	fail := func(err error, advice string) error {
		return fmt.Errorf("model file %s: %w%s", path, err, advice)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fail(osfile.Cause(err), ": check the name")
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return fmt.Errorf("model file %s: found %s, wanted a regular file", path,
			osfile.Kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(osfile.Cause(err), ": check that you may read it")
	}
	defer f.Close() // only read: nothing can fail that matters
	if err := read(f, info.Size()); err != nil {
		return fail(err, "")
	}
	return nil
}

// checkNumbers returns an error unless all numbers, which name names, are finite.
func checkNumbers[T float32 | float64](name string, numbers []T) error {
	for i, v := range numbers {
		if !finite(float64(v)) {
			return fmt.Errorf("%s: found %v at place %d, wanted finite numbers", name, v, i)
		}
	}
	return nil
}

// isProduct reports whether n = a·b for positive a and b, without overflow.
func isProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
