package model

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// archiveFiles are the members of an archive by name.
type archiveFiles map[string]*zip.File

// open reads the directory of an archive of size bytes.
func open(r io.ReaderAt, size int64) (archiveFiles, error) {
	if err := checkEnd(r, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("found a damaged archive, wanted an .npz file: %w", err)
	}
	files := make(archiveFiles, len(z.File))
	for _, f := range z.File {
		if files[f.Name] != nil {
			return nil, fmt.Errorf("found member %q twice, wanted it once", f.Name)
		}
		files[f.Name] = f
	}
	return files, nil
}

// readText returns the bytes of a member and takes it out of files.
func readText(files archiveFiles, name string, size int64) (text []byte, err error) {
	err = withMember(files, name, size, func(r io.Reader, n uint64) error {
		text = make([]byte, n)
		_, err := io.ReadFull(r, text)
		return err
	})
	delete(files, name)
	return text, err
}

// Read reads a model file of size bytes from r and checks all of it: exactly the
// members that belong to it, stored and with the right check sums, nothing after the
// archive, a known format version, types, shapes and finite numbers. Whatever
// the bytes are it does not panic, and it allocates at most a small multiple of
// size. Errors say what was found and what was wanted.
//
// Arrays written by numpy (numpy.savez, not savez_compressed) are read as well.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	if err := memory.Check(size, fmt.Sprintf("a model of %d bytes", size)); err != nil {
		return nil, err
	}
	files, err := open(r, size)
	if err != nil {
		return nil, err
	}
	m := new(Model)
	// First the version: a file of a newer format may look wrong in any other way.
	text, err := readText(files, "meta.json", size)
	if err != nil {
		return nil, err
	}
	if m.Meta, err = decodeMeta(text); err != nil {
		return nil, fmt.Errorf("meta.json: %w", err)
	}
	if m.Q, m.D, m.W, err = readMember[float32](files, "W.npy", size, "<f4", 4); err != nil {
		return nil, err
	}
	if files[confusionName] != nil || m.Meta.FormatVersion < 3 {
		var rows, cols int
		rows, cols, m.Confusion, err = readMember[float64](files, confusionName, size, "<f8", 8)
		if err == nil && (rows != m.Q || cols != m.Q) {
			err = fmt.Errorf("%s: found shape (%d, %d), wanted (%d, %d): W.npy has %d rows",
				confusionName, rows, cols, m.Q, m.Q, m.Q)
		}
		if err != nil {
			return nil, err
		}
	}
	if m.Meta.FormatVersion >= 3 {
		if m.State, err = readState(files, size, m.Meta.Steps); err != nil {
			return nil, err
		}
	}
	if m.Meta.FormatVersion >= 4 {
		if m.Learned, err = readLearned(files, size, &m.Meta); err != nil {
			return nil, err
		}
	}
	wanted := "W.npy, confusion.npy and meta.json"
	if m.Meta.Kernel != nil {
		wanted = "those of a model with kernel PCA"
		if m.Projection, err = readProjection(files, size, m.Meta.Preparation.Width()); err != nil {
			return nil, err
		}
	}
	if err := files.none(wanted); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// checkEnd looks at the last bytes, where a zip file says how large its directory
// is. archive/zip would accept a comment, bytes after the end, and a directory
// of any length, which it reads into memory before one can object.
func checkEnd(r io.ReaderAt, size int64) error {
	const end = 22            // bytes of the end record
	const maxDirectory = 4096 // eight entries of ours have 500 bytes
	var b [end]byte
	if size < end {
		return fmt.Errorf("found %d bytes, wanted an .npz file: it is cut short, or no model", size)
	}
	var first [4]byte
	if _, err := r.ReadAt(first[:], 0); err != nil {
		return err
	}
	if string(first[:]) != "PK\x03\x04" {
		return fmt.Errorf("found %q at the start, wanted an .npz file, which starts with "+
			"\"PK\\x03\\x04\"", first[:])
	}
	if _, err := r.ReadAt(b[:], size-end); err != nil && err != io.EOF {
		return err
	}
	if string(b[:4]) != "PK\x05\x06" || binary.LittleEndian.Uint16(b[20:]) != 0 {
		return errors.New("found no end of a zip archive in the last 22 bytes: the file is cut short, " +
			"or something was appended to it")
	}
	length := int64(binary.LittleEndian.Uint32(b[12:]))
	offset := int64(binary.LittleEndian.Uint32(b[16:]))
	if length > maxDirectory || offset+length != size-end {
		return fmt.Errorf("found a zip directory of %d bytes at offset %d, wanted at most %d bytes that "+
			"end at offset %d", length, offset, maxDirectory, size-end)
	}
	return nil
}

// withMember hands the bytes of a member and their number to read, and then makes
// sure that nothing follows them and that their check sum is right.
func withMember(files archiveFiles, name string, size int64, read func(r io.Reader,
	n uint64) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	f := files[name]
	if f == nil {
		return errors.New("found no such member: this is not a model of uma-gpu")
	}
	if f.Method != zip.Store || f.Flags&1 != 0 {
		return errors.New("found a compressed or encrypted member, wanted a stored one: use " +
			"numpy.savez, not savez_compressed")
	}
	if n := f.UncompressedSize64; n != f.CompressedSize64 || n > uint64(size) {
		return fmt.Errorf("found a size of %d bytes, stored in %d, in a file of %d", n,
			f.CompressedSize64, size)
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

func readArray[T number](r io.Reader, size uint64, dtype string, width int) (rows, cols int,
	data []T, err error) {
	rows, cols, err = readNpyHeader(r, size, dtype, width)
	if err != nil {
		return 0, 0, nil, err
	}
	data = make([]T, rows*cols)
	return rows, cols, data, npyfile.Read(r, data)
}
