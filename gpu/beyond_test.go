//go:build beyond && linux && cgo && !noopencl

package gpu

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// beyond is given by bench/beyond.sh, which runs TestBeyond with less memory than the file is
// long.
var beyond = flag.String("beyond", "", "prepared `FILE`.npz to stream in TestBeyond")

// TestBeyond streams a mapped file through a device that does not use host memory in place, in
// tiles of 16 MiB, and says how fast it reads: the scores are those of the file used in place.
func TestBeyond(t *testing.T) {
	d, err := file.Read(t.Context(), *beyond, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	q := len(d.Classes)
	w := engine.NewWeights(q, d.D)
	for k := range w.W {
		w.W[k] = float32(k%97)/97 - 0.5
	}
	eachDevice(t, func(i Info) {
		var predicted [2][]int32
		for k, copies := range []bool{true, false} {
			o := Options{}
			if copies {
				o.MemoryLimit = 256<<20 + 5*int64(d.N*q) // scores, classes, and tiles
			}
			e := openTest(t, i, o, build{copies: copies, guard: noGuard})
			plan, err := e.Plan(d.Examples, nil, q)
			if err != nil {
				t.Fatal(err)
			}
			if copies && plan.TilesAside == 0 {
				t.Fatalf("%s: no tile is streamed: %+v", i.ID(), plan)
			}
			r, err := e.Load(d.Examples, q)
			if err != nil {
				t.Fatal(err)
			}
			predicted[k] = make([]int32, d.N)
			before, begin := bytesRead(), time.Now()
			for range 2 {
				if err := r.Rescore(w, []int{0, 1, 2}); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Predict(predicted[k]); err != nil {
				t.Fatal(err)
			}
			took := time.Since(begin).Seconds()
			fmt.Printf("%s copies=%v tiles=%d aside=%d: %d bytes read in %.2f s: %.0f MB/s\n", i.ID(),
				copies, plan.Tiles,
				plan.TilesAside, bytesRead()-before, took, float64(bytesRead()-before)/took/1e6)
			if err := errors.Join(r.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(predicted[0], predicted[1]) {
			t.Errorf("%s: streamed and in place differ", i.ID())
		}
	})
}

// bytesRead is what this process has had read from disks, 0 where the system does not tell.
func bytesRead() (n int64) {
	text, _ := os.ReadFile("/proc/self/io")
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "read_bytes: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
