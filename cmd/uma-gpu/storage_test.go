package main

import (
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/bench"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// TestBenchStorage: what the examples take on the device by --storage, for integers where
// bounds pay. One sees it nowhere else: the weights are the same.
func TestBenchStorage(t *testing.T) {
	const n, d = 8192, 128 // without the bias
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(i % 3)
		for j := range d {
			x.X[i*d+j] = float32((i*7919 + j*104729 + int(y[i])*j) % 256)
		}
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := file.Write(t.Context(), path, &dataset.Dataset{Examples: x, Y: y,
		Classes: []string{"0", "1", "2"}}, file.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	infos, err := gpu.Devices()
	if !gpu.Built {
		return // the processor keeps float32
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes int64 // of a value
		flags []string
	}{
		{map[bool]int64{true: 4, false: 1}[infos[0].SharesMemory], nil},
		{1, []string{"--storage", "narrow"}},
		{4, []string{"--storage", "dense"}},
	} {
		args := append([]string{"bench", "--data", path, "--device", infos[0].ID(), "--steps", "1",
			"--repeat", "1", "--json"}, c.flags...)
		stdout, _ := succeed(t, args...)
		if got := decode[bench.Report](t, stdout).ExampleBytes; got != c.bytes*n*(d+1) {
			t.Errorf("%v: %d bytes of examples, wanted %d a value", c.flags, got, c.bytes)
		}
	}
}

func TestAutoPreparation(t *testing.T) {
	dense := dataset.Examples{N: 2, D: 2, X: []float32{4, 0, -8, 1}}
	for _, c := range []struct {
		x      dataset.Examples
		kernel bool
		want   string
	}{
		{dense, false, "standardize,bias,l2"},
		{dense, true, "maxabs"},
		{dense.Compressed(), false, "l2"},
		{dense.Compressed(), true, "l2"},
	} {
		d := &dataset.Dataset{Examples: c.x}
		if err := host.Prepare(d, "auto", c.kernel); err != nil {
			t.Fatal(err)
		}
		if got := d.Prepared.Steps.String(); got != c.want {
			t.Errorf("sparse %v, kernel %v: prepared by %s, want %s", c.x.Sparse(), c.kernel, got, c.want)
		}
	}
}
