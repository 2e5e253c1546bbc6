package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

// Basis is a kernel PCA by itself, with the preparation before it: an .npz file of the
// members of a Projection and basis.json, which has the other fields.
type Basis struct {
	FormatVersion int                 `json:"format_version"` // BasisVersion
	ToolVersion   string              `json:"tool_version"`
	Features      Features            `json:"features"`
	Preparation   dataset.Preparation `json:"preparation"`
	Kernel        Kernel              `json:"kernel"` // Map's kernel; Write fills it in
	// decreasing, Σ_i z_it² over the training examples
	Eigenvalues []float64 `json:"eigenvalues"`
	Map         *pca.Map  `json:"-"`
}

// BasisVersion is the version of the format of basis files.
const BasisVersion = 1

const basisName = "basis.json"

func (b *Basis) check(p *engine.Projection) error {
	if b.FormatVersion != BasisVersion {
		return fmt.Errorf("%s: found format_version %d, wanted %d: the file was written by another "+
			"version of uma-gpu", basisName, b.FormatVersion, BasisVersion)
	}
	if err := b.Features.check(); err != nil {
		return fmt.Errorf("%s: %w", basisName, err)
	}
	if err := checkPreparation(&b.Preparation, b.Features.Count, "the count of features"); err != nil {
		return fmt.Errorf("%s: preparation: %w", basisName, err)
	}
	if err := b.Kernel.check(); err != nil {
		return fmt.Errorf("%s: kernel: %w", basisName, err)
	}
	return checkProjection(p, &b.Kernel, b.Preparation.Width())
}

// Write writes b to w in the form of a file.
func (b *Basis) Write(w io.Writer) error {
	members, err := b.members()
	if err != nil {
		return err
	}
	return writeZip(w, members)
}

// members checks b and returns what its file consists of.
func (b *Basis) members() ([]member, error) {
	if b.Map == nil {
		return nil, errNoProjection
	}
	var p *engine.Projection
	b.Kernel, p = describe(b.Map)
	if err := b.check(p); err != nil {
		return nil, err
	}
	meta, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return nil, err
	}
	members := append(projectionMembers(p), text(basisName, append(meta, '\n')))
	return members, checkSize(members)
}

// ReadBasis reads a basis from the bytes of a file, as carefully as Load reads a model.
func ReadBasis(file []byte) (b *Basis, err error) {
	if b, err = readBasis(bytes.NewReader(file), int64(len(file))); err != nil {
		return nil, fmt.Errorf("basis: %w", err)
	}
	return b, nil
}

func readBasis(r io.ReaderAt, size int64) (*Basis, error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	if !a.has(basisName) {
		return nil, errors.New("found no basis.json, wanted a file of kernel principal components")
	}
	text := a.text(basisName)
	if a.err != nil {
		return nil, a.err
	}
	b := &Basis{}
	if err := wire.Strict(text, b); err != nil {
		return nil, fmt.Errorf("%s: %w", basisName, err)
	}
	p := readProjection(a, &b.Kernel, b.Preparation.Width())
	if err := a.end("the members of a basis file"); err != nil {
		return nil, err
	}
	b.Map = newMap(&b.Kernel, p)
	return b, b.check(p)
}
