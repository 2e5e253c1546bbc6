// Package confusiontest has what the tests of confusion matrices share.
package confusiontest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// ABC are the names of three classes.
var ABC = []string{"a", "b", "c"}

// Names returns the names of q classes.
func Names(q int) []string {
	s := make([]string, q)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}

// Save returns the path of a new file with the data.
func Save(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Gzipped returns the data compressed.
func Gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// NPYFile returns the bytes of a .npy file.
func NPYFile(dict string, data []byte) []byte {
	b := []byte(npyfile.Magic + "\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)+1))
	return append(append(b, dict+"\n"...), data...)
}

// NPYDict returns the header of a .npy file.
func NPYDict(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
}

// Float64Bytes returns values as a .npy file has them.
func Float64Bytes(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// MeanError returns the mean distance of the entries of two matrices.
func MeanError(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += math.Abs(a[k] - b[k])
	}
	return sum / float64(len(a))
}

// Draw returns the noisy label of an example of the given class, by the Q×Q matrix p, for u in [0,
// 1).
func Draw(p []float64, q, class int, u float64) int32 {
	last, sum := 0, 0.0
	for k := range q {
		v := p[k*q+class]
		if v == 0 {
			continue
		}
		last = k
		if sum += v; u < sum {
			break
		}
	}
	return int32(last)
}
