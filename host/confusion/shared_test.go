package confusion

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// abc are the names of three classes.
var abc = []string{"a", "b", "c"}

// names returns the names of q classes.
func names(q int) []string {
	s := make([]string, q)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}

// save returns the path of a new file with the data.
func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// npyFile returns the bytes of a .npy file.
func npyFile(dict string, data []byte) []byte {
	b := []byte(npyfile.Magic + "\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)+1))
	return append(append(b, dict+"\n"...), data...)
}

// npyDict returns the header of a .npy file.
func npyDict(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
}

// float64Bytes returns values as a .npy file has them.
func float64Bytes(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// readMatrix returns the matrix of a table in a file.
func readMatrix(path string, o ReadOptions) (*Matrix, error) {
	t, err := ReadTable(path, o)
	if err != nil {
		return nil, err
	}
	return t.Matrix()
}
