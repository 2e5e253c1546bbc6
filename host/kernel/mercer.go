// Package kernel has the kernel functions that kernel PCA computes inner products of a
// feature space with, in the arithmetic of the numerics contract (clauses 11 and 13 of
// package host/engine/contract).
package kernel

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// The kinds of Function.
const (
	Linear = "linear" // ⟨x,y⟩
	Poly   = "poly"   // (γ·⟨x,y⟩ + c)^degree
	RBF    = "rbf"    // exp(-γ·‖x-y‖²)
)

// MaxDegree bounds the degree of a polynomial: float32 overflows long before.
const MaxDegree = 255

// Function is a kernel function κ of two examples. A kind ignores the parameters that its
// formula does not name.
type Function struct {
	Kind   string  `json:"kind"`             // Linear, Poly or RBF
	Gamma  float32 `json:"gamma,omitempty"`  // γ > 0
	Coef0  float32 `json:"coef0,omitempty"`  // c
	Degree int     `json:"degree,omitempty"` // 1..MaxDegree
}

// Check returns an error that names the first parameter that is not as the type says.
func (f Function) Check() error {
	switch f.Kind {
	case Linear:
		return nil
	case Poly, RBF:
	default:
		return fmt.Errorf("kernel function: kind %q, want %q, %q or %q", f.Kind, Linear, Poly, RBF)
	}
	if !(f.Gamma > 0) || f.Gamma > math.MaxFloat32 {
		return fmt.Errorf("kernel function %s: gamma is %v, want a finite number above 0", f.Kind,
			f.Gamma)
	}
	if f.Kind == RBF {
		return nil
	}
	if c := float64(f.Coef0); math.IsNaN(c) || math.IsInf(c, 0) {
		return fmt.Errorf("kernel function %s: coef0 is %v, want a finite number", f.Kind, f.Coef0)
	}
	if f.Degree < 1 || f.Degree > MaxDegree {
		return fmt.Errorf("kernel function %s: degree is %d, want 1..%d", f.Kind, f.Degree, MaxDegree)
	}
	return nil
}

// Value returns κ(x,y) by clause 13 from dot = ⟨x,y⟩, xx = ⟨x,x⟩ and yy = ⟨y,y⟩, all by
// clause 1. Only RBF needs the last two. f is one that passes Check.
func (f Function) Value(dot, xx, yy float32) float32 {
	switch f.Kind {
	case Poly:
		b := numerics.FMA(f.Gamma, dot, f.Coef0)
		v := b
		for range f.Degree - 1 {
			v *= b
		}
		return v
	case RBF:
		t := numerics.FMA(-2, dot, xx+yy)
		if t < 0 {
			t = 0
		}
		return numerics.Exp(-(f.Gamma * t))
	}
	return dot
}
