package serve

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// BenchmarkPredict answers requests of 1000 rows; BenchmarkLibrary is the model alone.
func BenchmarkPredict(b *testing.B) {
	s := New(models()["kernel"], simd.New(), Options{})
	defer s.batches.end()
	x, _ := blobs(1000, rand.New(rand.NewPCG(6, 6)))
	body := `{"rows":` + string(must(json.Marshal(rows(x.X, x.D)))) + `}`
	for b.Loop() {
		if w := post(s.Handler(), "application/json", strings.NewReader(body)); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}

func BenchmarkLibrary(b *testing.B) {
	m, e := models()["kernel"], simd.New()
	x, _ := blobs(1000, rand.New(rand.NewPCG(6, 6)))
	for b.Loop() {
		if _, err := m.Probabilities(b.Context(), e, x); err != nil {
			b.Fatal(err)
		}
	}
}
