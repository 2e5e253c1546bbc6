package neighbours_test

import (
	"context"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
)

func BenchmarkGraph(b *testing.B) {
	x := examples(1, 10000, 784)
	for b.Loop() {
		_, err := neighbours.Of(context.Background(), simd.New(), x, 10, neighbours.Euclidean)
		if err != nil {
			b.Fatal(err)
		}
	}
}
