package labels

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Probabilities are read from arrays and from tables, by place or by name.
func TestProbabilityFile(t *testing.T) {
	want := []float32{.9, .1, .25, .75, .5, .5}
	var wide []float64
	for _, v := range want {
		wide = append(wide, float64(v))
	}
	d := &dataset.Dataset{Examples: dataset.Examples{N: 3}, Classes: abc[:2],
		IDs: []string{"u", "v", "w"}, Found: dataset.Found{ID: "who"}}
	float32Bytes := make([]byte, 0, 24)
	for _, v := range want {
		float32Bytes = binary.LittleEndian.AppendUint32(float32Bytes, math.Float32bits(v))
	}
	array := npyFile(npyDict("<f8", "False", "(3, 2)"), float64Bytes(wide...))
	for text, file := range map[string][]byte{
		"float64": array,
		"Fortran": npyFile(npyDict("<f8", "True", "(3, 2)"),
			float64Bytes(wide[0], wide[2], wide[4], wide[1], wide[3], wide[5])),
		"float32":         npyFile(npyDict("<f4", "False", "(3, 2)"), float32Bytes),
		"no header":       []byte("0.9,0.1\n.25,.75\n0.5,0.5\n"),
		"pandas":          []byte(",a,b\n0,0.9,0.1\n1,.25,.75\n2,0.5,0.5\n"),
		"pandas, columns": []byte(",0,1\n0,0.9,0.1\n1,.25,.75\n2,0.5,0.5\n"),
		"ids":             []byte("b,a,class,who\n.75,.25,b,v\n.1,.9,a,u\n.5,.5,a,w\n"),
		"rows":            gzipped(t, []byte("row,a,b\r\n2,.25,.75\r\n1,.9,.1\r\n3,.5,.5\r\n")),
	} {
		got, err := Probabilities(t.Context(), save(t, "p", file), d)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

// Files of probabilities that are none, or of other data, are refused with their place.
func TestProbabilityFileErrors(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 3}, Classes: abc[:2]}
	values := float64Bytes(.9, .1, .25, .75, .5, .5)
	array := func(values []byte) []byte { return npyFile(npyDict("<f8", "False", "(3, 2)"), values) }
	damaged := gzipped(t, array(values))
	damaged[len(damaged)-8]++ // of the check sum
	for _, c := range []struct {
		want string
		file []byte
	}{
		{"p more bytes", array(append(slices.Clone(values), 0))},
		{"p checksum", damaged},
		{"shape 2 2 3 2", npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1, 0, 0, 1))},
		{"shape 3 3 3 2", npyFile(npyDict("<f8", "False", "(3, 3)"), append(values, values[:24]...))},
		{"elements", npyFile(npyDict("<c8", "False", "(3, 2)"), values)},
		{"0 examples 3 short", npyFile(npyDict("<f8", "True", "(3, 2)"), values[:40])},
		{"0 examples 3 short", array(float64Bytes(1, 0))},
		{"p example 2 column 1 NaN", array(float64Bytes(.9, .1, math.NaN(), .75, .5, .5))},
		{"row 3 sum 0.7", array(float64Bytes(.9, .1, .25, .75, .5, .2))},
		{"row 1 -0.1", array(float64Bytes(1, -.1, .25, .75, .5, .5))},
		{"p:1 no text", nil},
		{`p:1 "x,y" class "a" "b"`, []byte("x,y\n.9,.1\n")},
		{`p:2 "b" "half"`, []byte("a,b\n.5,half\n")},
		{"p:3:4 2 fields 3", []byte("a,b,c\n1,0,\n1,0\n")},
		{"2 lines 3", []byte("a,b\n1,0\n1,0\n")},
		{"p:5 more 3", []byte("a,b\n1,0\n1,0\n1,0\n1,0\n")},
		{`p:3 row "9"`, []byte("row,a,b\n1,1,0\n9,1,0\n2,1,0\n")},
		{"p:3 twice line 2", []byte("row,a,b\n1,1,0\n1,1,0\n2,1,0\n")},
		{"p:2 +Inf 0 1", []byte("a,b\n1,inf\n")},
	} {
		if _, err := Probabilities(t.Context(), save(t, "p", c.file), d); !facts.Told(err, c.want) {
			t.Errorf("%v, wanted %q", err, c.want)
		}
	}
	if _, err := Probabilities(t.Context(), "none", d); !facts.Told(err, "none") {
		t.Errorf("no file: %v", err)
	}
}
