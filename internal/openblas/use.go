//go:build openblas && cgo

package openblas

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/netlib/blas/netlib"
)

// Not LAPACK: the last release of netlib lacks methods that gonum now wants.
func init() { blas64.Use(netlib.Implementation{}) }
