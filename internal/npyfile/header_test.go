package npyfile

import (
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		dtype string
		shape []int
		want  string
	}{
		{"<f4", []int{3, 2}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"},
		{"<i8", []int{7}, "{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }"},
		{"|S3", nil, "{'descr': '|S3', 'fortran_order': False, 'shape': (), }"},
		{"<f8", []int{1 << 62, 1 << 62, 0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904, 0), }"},
	} {
		h := string(Header(c.dtype, c.shape...))
		text, ok := strings.CutPrefix(h, Magic+"\x01\x00"+string([]byte{byte(len(h) - 10), 0}))
		if !ok || len(h)%64 != 0 || !strings.HasSuffix(h, "\n") || strings.TrimRight(text, " \n") != c.want {
			t.Errorf("%s %v: got %q, want %q", c.dtype, c.shape, h, c.want)
		}
	}
}
