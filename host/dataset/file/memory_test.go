//go:build linux && !race

package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// memoryFile is a file whose reading is measured in a process of its own, and memorySteps by what
// it is prepared there.
const (
	memoryFile  = "UMA_GPU_TEST_MEMORY_FILE"
	memorySteps = "UMA_GPU_TEST_MEMORY_STEPS"
)

// TestMain makes the process that measures, if it is one.
func TestMain(m *testing.M) {
	if path := os.Getenv(memoryFile); path != "" {
		measureMemory(path)
		return
	}
	os.Exit(m.Run())
}

// highWater returns the most memory that this process ever had, in bytes.
func highWater() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				if err == nil {
					return kib << 10
				}
			}
		}
	}
	panic(fmt.Sprint("no VmHWM: ", err))
}

func measureMemory(path string) {
	before := highWater()
	o := Options{}
	if strings.Contains(path, "npy") {
		o.NoLabels = true
	}
	d, err := Read(context.Background(), path, o)
	if steps := os.Getenv(memorySteps); err == nil && steps != "" {
		var s dataset.Steps
		if s, err = dataset.ParseSteps(steps); err == nil {
			err = features.Prepare(d, s)
		}
	}
	if err != nil {
		panic(err)
	}
	final := 4*int64(len(d.X)) + 8*int64(len(d.Starts)) + 4*int64(len(d.Columns)) +
		4*int64(len(d.Values)) + 4*int64(len(d.Y))
	fmt.Println(highWater()-before, final)
}

// bigDataset has n examples of d features; stored of them are not zero.
func bigDataset(n, d, stored int) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(31, 32))
	e := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range n {
		for k := range stored {
			e.X[i*d+k*(d/stored)] = float32(1+rng.IntN(1e6-1)) / 1e4
		}
	}
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(i % 2)
	}
	return &dataset.Dataset{Examples: e, Y: y, Classes: []string{"0", "1"}}
}

// writeBig writes n examples of d features, stored of them not zero, and
// returns the path.
func writeBig(t testing.TB, name string, n, d, stored int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	const rows = 1000
	part := bigDataset(rows, d, stored)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if strings.Contains(name, "npy") {
		fortran := "False"
		if strings.Contains(name, "fortran") {
			fortran = "True"
		}
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }\n", fortran, n,
			d)
		fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s", len(header), 0, header)
		var raw []byte
		for _, v := range part.X {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(float64(v)))
		}
		for range n / rows {
			w.Write(raw)
		}
	} else {
		form, err := formatNamed(formatOfName(name), true)
		if err != nil {
			t.Fatal(err)
		}
		for range n / rows {
			if err := writeTo(t.Context(), w, name, form, part, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// memoryOf returns what the process took at most that read a file, and prepared it by steps if
// these are not "", and the memory of the examples that it has then.
func memoryOf(t *testing.T, path, steps string) (most, final int64) {
	t.Helper()
	run := exec.Command(os.Args[0])
	// each has some MiB
	run.Env = append(os.Environ(), memoryFile+"="+path, memorySteps+"="+steps, "GOMAXPROCS=2")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscan(string(out), &most, &final); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return most, final
}

// Reading takes at most 2.2 times the memory of what is read, whatever the
// format and whatever the storage comes to be, beyond a few buffers. (Fortran's
// order is the exception if the result is sparse: all columns must be there before
// the first row is.)
func TestReadMemory(t *testing.T) {
	for _, c := range []struct {
		name         string
		n, d, stored int
	}{
		{"dense.csv", 100e3, 100, 100},
		{"dense.svm", 100e3, 100, 100},
		{"half.svm", 100e3, 200, 100},
		{"fifth.svm", 100e3, 300, 60},
		{"sparse.svm", 200e3, 3000, 60},
		{"sparse.csv", 20e3, 1000, 100},
		{"dense.npy", 100e3, 100, 100},
		{"fortran.npy", 100e3, 100, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeBig(t, c.name, c.n, c.d, c.stored)
			most, final := memoryOf(t, path, "")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("file %d MB, result %d MB, at most %d MB: %.2f times", info.Size()>>20, final>>20,
				most>>20, float64(most)/float64(final))
			const buffers = 8 << 20
			if float64(most) > 2.2*float64(final)+buffers {
				t.Errorf("reading took %d MB for %d MB of examples, wanted at most 2.2 times as much", most>>20,
					final>>20)
			}
		})
	}
}
