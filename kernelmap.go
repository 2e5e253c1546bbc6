package umagpu

import "github.com/uma-gpu/uma-gpu/host/engine"

// FitKernelMapRequest asks for the kernel principal components of examples.
type FitKernelMapRequest struct {
	Data Data `json:"data,omitzero"`
	Settings
	Compute Compute `json:"-"`
}

// FitKernelMapResult is a basis of components, as uma-gpu kpca fit writes it.
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
	Components int           `json:"components"`
	Values     []float32     `json:"-" array:"values"`
	Device     engine.Device `json:"device"`
}
