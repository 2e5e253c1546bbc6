package gpu

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
)

// The kernels are in every build, also in one that cannot run them: it can still say which
// they are.
//
//go:embed kernels/*.cl
var kernelFiles embed.FS

// kernelNames are the kernel files. The first is put before all others.
var kernelNames = []string{"contract.cl", "score.cl", "region.cl", "bound.cl", "sums.cl", "add.cl", "sparse.cl",
	"update.cl", "kernelvalue.cl", "project.cl", "projectsparse.cl"}

// kernelSources reads the embedded kernels.
func kernelSources() ([]string, error) {
	sources := make([]string, len(kernelNames))
	for i, name := range kernelNames {
		text, err := kernelFiles.ReadFile("kernels/" + name)
		if err != nil {
			return nil, err
		}
		sources[i] = string(text)
	}
	return sources, nil
}

// KernelsHash identifies the kernels of this build: 64 hexadecimal digits.
func KernelsHash() (string, error) {
	sources, err := kernelSources()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, text := range sources {
		fmt.Fprintf(h, "%d\n%s", len(text), text) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
