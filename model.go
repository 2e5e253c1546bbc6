package umagpu

import (
	"bytes"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/model"
)

// Model is a trained classifier. Several goroutines may use one Model.
type Model struct{ model *model.Model }

// Load returns the model of a file that Save or the command wrote. Files of other versions of the
// format are refused; a damaged file is an error that says what is wrong.
func Load(path string) (*Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, &Fault{Kind: Unfit, Option: "model", Cause: err}
	}
	return &Model{m}, nil
}

// FromHost returns a model of package host/model, which it shares.
func FromHost(m *model.Model) *Model { return &Model{m} }

// Host returns the model as packages host/... take it: to serve, export or compress it. It shares
// memory with m, and must not be changed.
func (m *Model) Host() *model.Model { return m.model }

// Save writes the model to a file, whole or not at all: an error leaves the old file.
func (m *Model) Save(path string) error { return m.model.Save(path) }

// MarshalBinary returns the bytes that Save writes.
func (m *Model) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	err := m.model.Write(&b)
	return b.Bytes(), err
}

// UnmarshalBinary makes m the model of a file's bytes, which it shares.
func (m *Model) UnmarshalBinary(file []byte) (err error) {
	m.model, err = model.Read(file)
	return err
}

// Classes returns the names of the classes, in the order of the training.
func (m *Model) Classes() []string { return slices.Clone(m.model.Meta.Classes) }

// check returns the fault of a model that is missing.
func (m *Model) check() error {
	if m == nil || m.model == nil {
		return invalid("model", "none", "a model")
	}
	return nil
}
