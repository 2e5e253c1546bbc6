// Package openblas makes gonum multiply matrices by OpenBLAS, if the program is built for
// that:
//
//	CGO_LDFLAGS=-lopenblas go build -tags openblas ./cmd/uma-gpu
//
// (Debian: libopenblas-dev). Otherwise it is empty. Only host work in float64 can tell: a
// fit of kernel PCA with many landmarks takes less time. Its last bits are then OpenBLAS's
// own, and depend on the processor; so a refit is the same only on the same machine.
package openblas
