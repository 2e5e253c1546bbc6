package model

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// maxFile is what a zip file without 64-bit extensions can hold, less an ample
// share for headers: about 10⁹ weights.
const maxFile = 1<<32 - 1<<16

const confusionName = "confusion.npy"

// member is one member of the archive.
type member struct {
	name  string
	size  uint64
	write func(io.Writer) error
}

// Write writes m to w in the form of a model file. It refuses, before the first
// byte, what Read would not accept: wrong shapes, numbers that are not finite,
// bad metadata, and models of more than 4 GiB. Errors of w are wrapped. To write
// a file, use Save.
func (m *Model) Write(w io.Writer) error {
	members, err := m.members()
	if err != nil {
		return err
	}
	return writeZip(w, members)
}

// members checks m and returns what its file consists of.
func (m *Model) members() ([]member, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	about := m.Meta
	if m.Learned != nil {
		about.Annotators = m.Learned.Annotators
	}
	meta, err := about.encode()
	if err != nil {
		return nil, err
	}
	members := []member{
		array("W.npy", "<f4", 4, m.Q, m.D, m.W),
	}
	if m.Confusion != nil {
		members = append(members, array(confusionName, "<f8", 8, m.Q, m.Q, m.Confusion))
	}
	if m.Learned != nil {
		members = append(members, m.Learned.members(m.Q)...)
	}
	if m.Projection != nil {
		members = append(members, m.Projection.members()...)
	}
	if m.State != nil {
		members = append(members, m.State.members(m.Q, m.D)...)
	}
	members = append(members, text("meta.json", meta))
	return members, checkSize(members)
}

func text(name string, b []byte) member {
	return member{name, uint64(len(b)), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}}
}

func checkSize(members []member) error {
	var total uint64
	for _, b := range members {
		total += b.size
	}
	if total > maxFile {
		return fmt.Errorf("found %d bytes in all, wanted at most %d, which is what a zip file holds: "+
			"use fewer features",
			total, uint64(maxFile))
	}
	return nil
}

func array[T number](name, dtype string, width, rows, cols int, data []T) member {
	header := npyfile.Header(dtype, rows, cols)
	return member{name, uint64(len(header)) + uint64(width)*uint64(len(data)),
		func(w io.Writer) error {
			if _, err := w.Write(header); err != nil {
				return err
			}
			return npyfile.Write(w, data)
		}}
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
