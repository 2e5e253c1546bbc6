package serve

import (
	"encoding/json"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// BenchmarkPredict answers requests of 1000 rows, in JSON and in arrays; BenchmarkLibrary is the
// model alone.
func BenchmarkPredict(b *testing.B) {
	x, _ := blobs(1000, rand.New(rand.NewPCG(6, 6)))
	bodies := map[string]string{"application/json": `{"rows":` +
		string(must(json.Marshal(rows(x.X, x.D)))) + `}`, npyType: string(array(x.X, x.D))}
	for _, name := range []string{"linear", "kernel"} {
		for kind, body := range bodies {
			b.Run(name+"/"+kind, func(b *testing.B) {
				s := New(models()[name], simd.New(), Options{})
				defer s.batches.end()
				h := s.Handler()
				for b.Loop() {
					r := httptest.NewRequest("POST", "/v1/predict", strings.NewReader(body))
					r.Header.Set("Content-Type", kind)
					r.Header.Set("Accept", kind)
					w := httptest.NewRecorder()
					if h.ServeHTTP(w, r); w.Code != 200 {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}

func BenchmarkLibrary(b *testing.B) {
	x, _ := blobs(1000, rand.New(rand.NewPCG(6, 6)))
	for _, name := range []string{"linear", "kernel"} {
		b.Run(name, func(b *testing.B) {
			m, e := models()[name], simd.New()
			for b.Loop() {
				if _, err := m.Probabilities(b.Context(), e, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
