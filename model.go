package umagpu

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Model is a trained classifier on an engine. Several goroutines may use one Model.
type Model struct {
	model  *model.Model
	engine *engine.Engine
	doubts []learners.Doubt
}

// Load returns the model of a file that Save or the command wrote, on the processor. Files of
// other versions of the format are refused; a damaged file is an error that says what is wrong.
func Load(path string) (*Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	return &Model{model: m, engine: simd.New()}, nil
}

// On returns the same model on another engine, such as gpu.Open returns, which the caller closes.
func (m *Model) On(e *engine.Engine) *Model {
	return &Model{model: m.model, engine: e, doubts: m.doubts}
}

// Save writes the model to a file, whole or not at all: an error leaves the old file.
func (m *Model) Save(path string) error { return m.model.Save(path) }

// Classes returns the names of the classes: in the order of numbers if all are numbers, else
// bytewise.
func (m *Model) Classes() []string { return slices.Clone(m.model.Meta.Classes) }

// Predict returns the name of the class of each example. The examples have the features of the
// training in their order, unprepared; other widths are an error.
func (m *Model) Predict(ctx context.Context, x Examples) ([]string, error) {
	if x.err != nil {
		return nil, x.err
	}
	classes, err := m.model.Predict(ctx, m.engine, x.set)
	if err != nil {
		return nil, err
	}
	return m.model.Names(classes), nil
}

// Probabilities returns N rows of Q probabilities, 0 to 1, which sum to 1 but for rounding: one row
// for each example, in the order of Classes. The error is also model.ErrNoTemperature, of a model
// whose training fitted no temperature.
func (m *Model) Probabilities(ctx context.Context, x Examples) ([][]float64, error) {
	if x.err != nil {
		return nil, x.err
	}
	flat, err := m.model.Probabilities(ctx, m.engine, x.set)
	if err != nil {
		return nil, err
	}
	p := make([][]float64, x.set.N)
	for i := range p {
		for _, v := range flat[i*m.model.Q : (i+1)*m.model.Q] {
			p[i] = append(p[i], float64(v))
		}
	}
	return p, nil
}

// Interrupted returns whether the training was cancelled, or its time up: Options.Resume continues
// it.
func (m *Model) Interrupted() bool {
	stop := host.Stop(m.model.Meta.Stop)
	return stop == host.Interrupted || stop == host.TimeUp
}

// Doubts returns what speaks against the confusion matrix or the result; none for a model of Load.
func (m *Model) Doubts() []learners.Doubt { return slices.Clone(m.doubts) }

// Steps returns the number of steps of the training.
func (m *Model) Steps() int { return m.model.Meta.Steps }

// Host returns the model as packages host/... take it: to serve, export or compress it. It shares
// memory with m, and must not be changed.
func (m *Model) Host() *model.Model { return m.model }
