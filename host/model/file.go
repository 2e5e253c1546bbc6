package model

import (
	"fmt"
	"io"
	"os"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// Save writes m to the file path, whole or not at all, by the rules of package
// atomicfile: to a temporary file in the same folder, which is flushed to disk
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
	return modelFile(atomicfile.Write(path, func(w io.Writer) error { return writeZip(w, members) }))
}

// modelFile says what the file is whose path begins an error; nil stays nil.
func modelFile(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("model file %w", err)
}

// Load reads the model file path, by the rules of Read. The error names path.
func Load(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w: check the name", path, fileerr.Cause(err))
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, fmt.Errorf("model file %s: found %s, wanted a regular file", path,
			fileerr.Kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w: check that you may read it", path, fileerr.Cause(err))
	}
	defer f.Close() // only read: nothing can fail that matters
	m, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w", path, err)
	}
	return m, nil
}
