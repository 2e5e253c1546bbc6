// Package prepared compares preparations, and asks whether memory holds prepared examples.
package prepared

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// Difference says in what p is not other, "" if both do the same to every bit.
func Difference(p, other *dataset.Preparation) string {
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	switch {
	case p.Steps != other.Steps:
		return fmt.Sprintf("by %s, wanted %s", other.Steps, p.Steps)
	case p.D != other.D:
		return fmt.Sprintf("from %d features, wanted %d", other.D, p.D)
	case !slices.EqualFunc(p.A, other.A, same) || !slices.EqualFunc(p.B, other.B, same):
		return fmt.Sprintf("%s was fitted to other data", p.Steps)
	}
	return ""
}

// CheckRoom returns an error with advice unless memory holds a prepared copy of dense
// examples.
func CheckRoom(d *dataset.Dataset, steps string) error {
	if d.Sparse() || steps == "none" {
		return nil
	}
	if steps == "auto" {
		steps = d.DefaultSteps()
	}
	err := memory.Check(memory.Product(d.N, d.D, 4),
		fmt.Sprintf("a copy of %d examples × %d features that is prepared by %s", d.N, d.D, steps))
	if err == nil {
		return nil
	}
	return d.Errorf("%w; a file that is prepared already need not fit: convert it first (%s %s %s)",
		err, option.Named("data", d.Path), option.Named("normalize", steps),
		option.Named("out", strings.TrimSuffix(d.Path, filepath.Ext(d.Path))+".prepared.npz"))
}
