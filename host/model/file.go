package model

import (
	"bytes"
	"fmt"
	"io"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

const confusionName = "confusion.npy"

// readModel reads a model file of size bytes from r and checks it: exactly its members, stored and
// with the right check sums, the format version, types, shapes and finite numbers. Whatever the
// bytes are, it does not panic and allocates at most a small multiple of size.
//
// Arrays written by numpy (numpy.savez, not savez_compressed) are read as well. inside says that
// the file is a member of a mixture.
func readModel(r io.ReaderAt, size int64, inside bool) (*Model, error) {
	if err := memory.Check(size, fmt.Sprintf("a model of %d bytes", size)); err != nil {
		return nil, err
	}
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	// First the version: a file of another version may look wrong in any other way.
	text := a.text("meta.json")
	if a.err != nil {
		return nil, a.err
	}
	m := new(Model)
	if m.Meta, err = decodeMeta(text); err != nil {
		return nil, fmt.Errorf("meta.json: %w", err)
	}
	m.Q, m.D = len(m.Meta.Classes), m.Meta.Preparation.Width()
	switch {
	case len(m.Meta.Shares) > 0 && inside:
		return nil, errNested
	case len(m.Meta.Shares) > 0:
		m.Members = readMixture(a, len(m.Meta.Shares))
	case m.Meta.Trees != nil:
		m.Trees = readTrees(a, m.Meta.Trees, m.Q)
	default:
		m.Q, m.D, m.W = numbers[float32](a, "W.npy")
	}
	if a.has(confusionName) {
		var rows, cols int
		if rows, cols, m.Confusion = numbers[float64](a, confusionName); rows != m.Q || cols != m.Q {
			a.fail(fmt.Errorf("%s: found shape (%d, %d), wanted (%d, %d) for %d classes",
				confusionName, rows, cols, m.Q, m.Q, m.Q))
		}
	}
	if a.has(lastName) {
		m.State = readState(a, m.Meta.Steps)
	} else if a.has(learnerName) {
		m.State = &State{Steps: m.Meta.Steps, Learner: a.text(learnerName)}
	}
	m.Learned = readLearned(a)
	wanted := "W.npy, confusion.npy and meta.json"
	if m.Meta.Kernel != nil {
		wanted = "the members of a model with kernel PCA"
		m.Projection = readProjection(a, m.Meta.Kernel, m.Meta.Preparation.Width())
	}
	if err := a.end(wanted); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// Load reads the model file path and checks all of it, as readModel says. Whatever the file holds,
// it takes a small multiple of its size in memory. Arrays written by numpy.savez are read as well.
// The error names path.
func Load(path string) (m *Model, err error) {
	err = load(path, func(r io.ReaderAt, size int64) (err error) {
		m, err = readModel(r, size, false)
		return err
	})
	return m, err
}

// Read reads a model from the bytes of a file, as carefully as Load does.
func Read(file []byte) (m *Model, err error) {
	if m, err = readModel(bytes.NewReader(file), int64(len(file)), false); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// Write writes m to w in the form of a model file. It refuses, before the first
// byte, what Load would not accept: wrong shapes, numbers that are not finite,
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
	meta, err := m.Meta.encode()
	if err != nil {
		return nil, err
	}
	var members []member
	switch {
	case m.Members != nil:
		members, err = m.mixtureMembers()
	case m.Trees != nil:
		members = treeMembers(m.Trees)
	default:
		members = append(members, array("W.npy", m.Q, m.D, m.W))
	}
	if err != nil {
		return nil, err
	}
	if m.Confusion != nil {
		members = append(members, array(confusionName, m.Q, m.Q, m.Confusion))
	}
	if m.Learned != nil {
		members = append(members, m.Learned.members(m.Q)...)
	}
	if m.Projection != nil {
		members = append(members, projectionMembers(m.Projection)...)
	}
	if m.State != nil {
		members = append(members, m.State.members(m.Q, m.D)...)
	}
	members = append(members, text("meta.json", meta))
	return members, checkSize(members)
}

// Save writes m to the file path, whole or not at all, by the rules of package
// osfile: to a temporary file in the same folder, which is flushed to disk
// and then takes the place of path. On any failure the temporary file is removed
// and a file that was there before is unchanged. A file that is replaced keeps
// its permissions; a symbolic link stays and the file it points to is replaced.
// Anything else than a regular file at path is refused. The error names path,
// what failed, and what to do.
func (m *Model) Save(path string) error {
	members, err := m.members()
	if err != nil {
		return fmt.Errorf("model file %s not written: %w", path, err)
	}
	err = osfile.Write(path, func(w io.Writer) error { return writeZip(w, members) })
	if err != nil {
		return fmt.Errorf("model file %w", err)
	}
	return nil
}
