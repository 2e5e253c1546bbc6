package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// withHeader is a file with a right first line for this header and body at byte
// 4096 or the next multiple.
func withHeader(header string, body []byte) []byte {
	version := binaryBare
	if strings.Contains(header, `"sums":`) {
		version = binaryVersion
	}
	raw := append([]byte(firstLine(version, []byte(header))), header...)
	raw = append(raw, make([]byte, (binaryAlign-len(raw)%binaryAlign)%binaryAlign)...)
	return append(raw, body...)
}

func TestBinaryBadHeader(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	dense := fmt.Sprintf(`{"examples":2,"columns":3,"storage":"dense","classes":["a","b"],`+
		`"data_sha256":"%s","content_sha256":"%s","subnormals":0,`+
		`"sections":{"x":{"offset":4096,"bytes":24},"y":{"offset":8192,"bytes":8}}}`, hash, hash)
	sparse := strings.NewReplacer(`"dense"`, `"sparse"`, `"x":{"offset":4096,"bytes":24}`,
		`"starts":{"offset":4096,"bytes":24},"columns":{"offset":8192,"bytes":8},"values":{"offset":12288,"bytes":8}`,
		`8192,"bytes":8}}`, `16384,"bytes":8}}`).Replace(dense)
	body := make([]byte, 4096+8)
	sparseBody := make([]byte, 3*4096+8)
	sparseBody[8], sparseBody[16], sparseBody[4096+4] = 1, 2, 1 // one value in each row
	for _, good := range [][]byte{withHeader(dense, body), withHeader(sparse, sparseBody)} {
		if _, err := ReadFrom(t.Context(), bytes.NewReader(good), "f", Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`"examples":2`, `"examples":0`, "0 examples 3 columns 1 2147483647"},
		{`"examples":2`, `"examples":-1`, "-1 examples"},
		{`"examples":2`, `"examples":99999999999`, "99999999999 examples"},
		{`"examples":2`, `"examples":1e30`, "cannot header"},
		{`"examples":2`, `"examples":3`, "x 24 bytes 4 3 × 3 values"},
		{`"examples":2,"columns":3`, `"examples":2147483647,"columns":2147483647`, "x 24 bytes"},
		{`"columns":3`, `"columns":0`, "0 columns"},
		{`"columns":3`, `"columns":5`, "x 24 bytes"},
		{`"dense"`, `"sparse"`, "wrong sections"},
		{`"dense"`, `"packed"`, `"packed"`},
		{`"x":{`, `"values":{"offset":4096,"bytes":24},"x":{`, "wrong sections"},
		{`"x":{"offset":4096`, `"x":{"offset":-4096`, "x 24 bytes byte -4096"},
		{`"x":{"offset":4096`, `"x":{"offset":4100`, "multiple 4096"},
		{`"x":{"offset":4096`, `"x":{"offset":0`, "x 24 bytes byte 0"},
		{`"bytes":24`, `"bytes":-24`, "x -24 bytes"},
		{`"bytes":24`, `"bytes":9223372036854775807`, "x 9223372036854775807 bytes"},
		{`"bytes":24`, `"bytes":4104`, "y 8 bytes byte 8192 8200 bytes byte 8200"},
		{`"offset":8192`, `"offset":9223372036854771712`, "y"},
		{`"offset":8192,"bytes":8`, `"offset":8192,"bytes":4`, "8200 bytes 8196"},
		{`,"y":{"offset":8192,"bytes":8}`, ``, "8200 bytes 4120"},
		{`["a","b"]`, `["a","a"]`, `"a" twice`},
		{`["a","b"]`, `["a",""]`, `"" empty`},
		{`["a","b"]`, `[]`, "label 0 example 0"},
		{`"subnormals":0`, `"features":["x"]`, "1 feature 3 features"},
		{`"subnormals":0`, `"subnormals":0,"max":1`, `"max"`},
		{`"subnormals":0`, `"preparation":{"steps":"l3","features":3}`, `"l3"`},
		{`"subnormals":0`, `"preparation":{"steps":"l2","features":2}`, "3 columns 2"},
		{`"subnormals":0`, `"preparation":{"steps":"maxabs","features":3}`, "0 factors"},
		{`"subnormals":0`, `"preparation":{"steps":"maxabs","features":3,"a":[1e99]}`, "cannot header"},
		{`"data_sha256":"0`, `"data_sha256":"1`, "equal ones"},
		{`"content_sha256":"0`, `"content_sha256":"X`, "hashes"},
		{`{"examples"`, `"examples"`, "cannot header"},
	} {
		if strings.Count(dense, c.old) < 1 {
			t.Fatalf("no %s", c.old)
		}
		_, err := ReadFrom(t.Context(), bytes.NewReader(withHeader(strings.Replace(dense, c.old, c.new,
			1), body)),
			"f", Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") || !facts.Told(err, c.want) {
			t.Errorf("%s: %v\nwant %s", c.new, err, c.want)
		}
	}
	for _, c := range []struct {
		at   int
		with byte
		want string
	}{
		{0, 1, "one start more"},
		{8, 3, "ends 3"},
		{9, 255, "before begins beyond"},
		{15, 255, "before begins beyond"},
		{4096, 3, "column 3"},
		{4099, 255, "column -16777216"},
		{12288, 2, "label 2 example 0 0..1"},
		{12291, 255, "label -16777216"},
	} {
		b := bytes.Clone(sparseBody)
		b[c.at] = c.with
		_, err := ReadFrom(t.Context(), bytes.NewReader(withHeader(sparse, b)), "f", Options{})
		if !facts.Told(err, c.want) {
			t.Errorf("byte %d is %d: %v, want %s", c.at, c.with, err, c.want)
		}
	}
	version2 := strings.Replace(string(withHeader(dense, body)), " 1 ", " 2 ", 1)
	version4 := strings.Replace(string(withHeader(dense, body)), " 1 ", " 4 ", 1)
	for text, want := range map[string]string{
		"":                             "0 bytes",
		"uma-gpu binary 1":             "16 bytes",
		strings.Repeat("x", 200):       `"uma-gpu binary 3"`,
		strings.Repeat("\x00\xff", 99): `"uma-gpu binary 3"`,
		version2:                       "version 2 version 1",
		version4:                       `"4" 1 2 3`,
		strings.Replace(string(withHeader(dense, body)), " 1 ", " \xff ", 1): `"\xff"`,
		strings.Replace(string(withHeader(dense, body)), "1 0", "1 9", 1):    "cut",
		strings.Replace(string(withHeader(dense, body)), "1 0", "1 -",
			1): "header",
		strings.Replace(string(withHeader(dense, body)), "1 00", "1 0+",
			1): "header",
		strings.Replace(string(withHeader(dense, body)), "\n{", " {", 1):      "damaged",
		strings.Replace(string(withHeader(dense, body)), `"dense"`, `"D"`, 1): "line",
	} {
		_, err := ReadFrom(t.Context(), strings.NewReader(text), "f", Options{Format: "binary"})
		if !facts.Told(err, want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// A file cut short anywhere is refused, and so is one with a flipped bit. Of a file that is
// trusted the first line and the header have no flipped bit either, and one in the data is found
// by Verify if by no one before.
func TestBinaryDamaged(t *testing.T) {
	for _, storage := range []string{"dense", "sparse"} {
		d := randomDataset(rand.New(rand.NewPCG(61, 62)), 30, 11, []string{"a", "b"})
		if storage == "sparse" {
			d.Examples = d.Compressed()
		}
		raw := binaryBytes(t, d)
		path := filepath.Join(t.TempDir(), "d.umab")
		put := func(b []byte) (*dataset.Dataset, error) {
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			if d, err := Read(t.Context(), path, Options{}); err == nil || !strings.HasPrefix(err.Error(),
				path+": ") {
				t.Errorf("%s: taken, though not trusted: %+v, %v", storage, d, err)
			}
			return Read(t.Context(), path, Options{Placement: Placement{Trust: true}})
		}
		for _, n := range []int{1, 16, 50, 94, 95, 96, 300, 4095, 4096, 4097, len(raw) - 4097,
			len(raw) - 1} {
			if d, err := put(raw[:n]); err == nil || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%s: the first %d bytes: %+v, %v", storage, n, d, err)
			}
		}
		if _, err := put(append(bytes.Clone(raw), 0)); err == nil {
			t.Error("a byte too many is taken")
		}
		h, err := parseHeader(raw)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(63, 64))
		flip := func(from, to int64) (*dataset.Dataset, error) {
			b := bytes.Clone(raw)
			b[from+rng.Int64N(to-from)] ^= 1 << rng.IntN(8)
			return put(b)
		}
		first := h.Sections.list()[0].Offset
		for range 100 {
			b := bytes.TrimRight(raw[:first], "\x00")
			if d, err := flip(0, int64(len(b))); err == nil {
				t.Fatalf("%s: a flipped bit in the header is taken: %+v", storage, d)
			}
		}
		for _, n := range h.Sections.list() {
			for range 30 {
				d, err := flip(n.Offset, n.Offset+n.Bytes)
				if err != nil {
					continue
				}
				if err := Verify(t.Context(), d); err == nil {
					// Of sparse examples a stored +0 says nothing, wherever it stands; and sums are none of the
					// content.
					if storage == "dense" && n.name != "sums" || storage == "sparse" && n.name != "columns" &&
						n.name != "sums" {
						t.Errorf("%s: a flipped bit in %s is not found", storage, n.name)
					}
				} else if !strings.HasPrefix(err.Error(), path+": the file is damaged: ") {
					t.Errorf("%s: %v", n.name, err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// What is not finite is not looked for when a file is opened, but by Verify, and
// when examples are copied.
func TestBinaryNotFinite(t *testing.T) {
	raw := binaryBytes(t, &dataset.Dataset{Examples: examples(1, 1, 2, 3), Y: []int32{0, 1, 0},
		Classes: []string{"a", "b"}})
	h, err := parseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(raw[h.Sections.X.Offset+4:], math.Float32bits(float32(math.Inf(1))))
	d, err := ReadFrom(t.Context(), bytes.NewReader(raw), "f",
		Options{Placement: Placement{Trust: true}})
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"Verify": Verify(t.Context(), d),
		"Write": Write(t.Context(), filepath.Join(t.TempDir(), "d.csv"), d, WriteOptions{})} {
		if !facts.Told(err, "example 2 column 1 +Inf") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
