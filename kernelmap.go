package umagpu

import (
	"bytes"
	"cmp"
	"context"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// FitKernelMapRequest asks for the kernel principal components of examples.
type FitKernelMapRequest struct {
	Data Data `json:"data,omitzero"`
	Settings
	Compute Compute `json:"-"`
}

// FitKernelMapResult is a basis of components, in the bytes of a model file.
type FitKernelMapResult struct {
	Request    FitKernelMapRequest `json:"request" array:"-"`
	Basis      []byte              `json:"-" array:"basis"`
	Components int                 `json:"components"`
	Notes      []Note              `json:"notes,omitempty"`
	Device     engine.Device       `json:"device"`
}

// ApplyKernelMapRequest asks for the components of examples.
type ApplyKernelMapRequest struct {
	Basis   []byte  `json:"-" array:"basis"`
	Data    Data    `json:"data,omitzero"`
	Compute Compute `json:"-"`
}

// ApplyKernelMapResult has the components of each example, n × Components, row-major.
type ApplyKernelMapResult struct {
	Request    ApplyKernelMapRequest `json:"request" array:"-"`
	Components int                   `json:"components"`
	Values     []float32             `json:"-" array:"values"`
	Notes      []Note                `json:"notes,omitempty"`
	Device     engine.Device         `json:"device"`
}

// Check returns the fault of options that no data could satisfy.
func (r *FitKernelMapRequest) Check() error {
	_, err := r.kernel()
	return err
}

// kernel returns the map to fit.
func (r *FitKernelMapRequest) kernel() (*fitting.Options, error) {
	if err := checkParameters(r); err != nil {
		return nil, err
	}
	if name := r.Settings.besides("seed", "normalize", "kernel", "gamma", "coef0", "degree",
		"components", "landmarks"); name != "" {
		return nil, conflict(name, "a value", "none: no model is learned")
	}
	if _, err := preparation(r.Normalize); err != nil {
		return nil, err
	}
	s := r.Settings
	s.Kernel = cmp.Or(s.Kernel, kernel.RBF)
	if s.Kernel != kernel.Linear && (s.Gamma == "" || s.Gamma == "auto") {
		s.Gamma = "median"
	}
	k, err := s.kernel()
	if err == nil && (k.Search || k.Mean) {
		err = invalid("gamma", s.Gamma, "a number or median: a search needs labels and a learner")
	}
	return k, err
}

// FitKernelMap finds the kernel principal components of examples, without labels.
func FitKernelMap(ctx context.Context, r *FitKernelMapRequest) (*FitKernelMapResult, error) {
	k, err := r.kernel()
	if err != nil {
		return nil, err
	}
	said := notes{to: r.Compute.Note}
	set, err := r.Data.examples(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	said.read(set)
	steps, _ := preparation(r.Normalize)
	if err := host.Prepare(set, steps, true); err != nil {
		return nil, fault(ctx, err)
	}
	if err := k.Check(set.Examples); err != nil {
		return nil, fault(ctx, err)
	}
	result, file := &FitKernelMapResult{Request: *r}, new(bytes.Buffer)
	work := func() host.Work {
		return host.Work{Data: set, Classes: 2, Components: k.MostComponents(set.N, set.D), Condition: 1}
	}
	err = r.Compute.use(work, func(e *engine.Engine) error {
		result.Device = e.Device()
		found, note, err := k.FindPCA(e, set.Examples, r.Settings.seed())
		if err != nil {
			return err
		}
		basis, err := pca.Fit(ctx, e, set.Examples, found)
		if err != nil {
			return err
		}
		for _, line := range append(basis.Notes(), note, basis.Summary()) {
			if line != "" {
				said.say("kernel: %s", line)
			}
		}
		result.Components = basis.Axes.Q
		b := &model.Basis{FormatVersion: model.BasisVersion, ToolVersion: Version,
			Features: model.Features{Count: set.FeatureCount(), Names: set.Features,
				Encoding: set.Encoding},
			Preparation: *set.Prepared, Eigenvalues: basis.Eigenvalues,
			Map: &pca.Map{Basis: basis, Preparation: &dataset.Preparation{D: basis.Axes.Q}}}
		return b.Write(file)
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Basis, result.Notes = file.Bytes(), said.all
	result.Request.Data = r.Data.described()
	return result, nil
}

// ApplyKernelMap returns the kernel principal components of examples. Columns are found by name.
func ApplyKernelMap(ctx context.Context, r *ApplyKernelMapRequest) (*ApplyKernelMapResult, error) {
	b, err := model.ReadBasis(r.Basis)
	if err != nil {
		return nil, &Fault{Kind: Unfit, Option: "basis", Cause: err}
	}
	said := notes{to: r.Compute.Note}
	set, err := r.Data.examplesFor(ctx, &model.Model{Meta: model.Meta{Features: b.Features}})
	if err == nil {
		said.read(set)
		err = features.PrepareBy(set, &b.Preparation)
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	result := &ApplyKernelMapResult{Request: ApplyKernelMapRequest{Data: r.Data.described()}}
	work := func() host.Work {
		return host.Work{Data: set, Classes: 2, Components: b.Kernel.Components, Condition: 1}
	}
	err = r.Compute.use(work, func(e *engine.Engine) error {
		result.Device = e.Device()
		z, err := b.Map.Apply(ctx, e, set.Examples)
		result.Components, result.Values = z.D, z.X
		return err
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Notes = said.all
	return result, nil
}
