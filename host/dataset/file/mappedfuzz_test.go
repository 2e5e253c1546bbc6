package file

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// blockSize is how much of each page a fuzzer sees: most of a page is padding, and
// inputs of many pages keep it from its work.
const blockSize = 64

// spread puts each block of body at the beginning of a page.
func spread(body []byte) []byte {
	var raw []byte
	for block := range slices.Chunk(body, blockSize) {
		raw = append(raw, make([]byte, (binaryAlign-len(raw)%binaryAlign)%binaryAlign)...)
		raw = append(raw, block...)
	}
	return raw
}

func FuzzReadBinary(f *testing.F) {
	d := randomDataset(rand.New(rand.NewPCG(65, 66)), 4, 3, []string{"a", "b"})
	prepared := &dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
		Classes: []string{"a",
			"b"}, Features: []string{"x", "y"}, Found: dataset.Found{Notes: []string{"n"}}}
	if err := features.Prepare(prepared, dataset.Steps{Standardize: true, Bias: true}); err != nil {
		f.Fatal(err)
	}
	for _, d := range []*dataset.Dataset{d, {Examples: d.Compressed(), Y: d.Y, Classes: d.Classes},
		prepared} {
		raw := binaryBytes(f, d)
		h, err := parseHeader(raw)
		if err != nil {
			f.Fatal(err)
		}
		text, err := h.encode()
		if err != nil {
			f.Fatal(err)
		}
		var body []byte
		for page := range slices.Chunk(raw[h.Sections.list()[0].Offset:], binaryAlign) {
			body = append(body, page[:min(blockSize, len(page))]...)
		}
		if !bytes.Equal(withHeader(string(text), spread(body)), raw) {
			f.Fatal("a seed is not the file that it comes from")
		}
		f.Add(text, body, true)
		f.Add(raw[:binaryLine+len(text)], []byte{}, false)
	}
	// With mend the first line is made to fit the header, which no fuzzer could.
	f.Fuzz(func(t *testing.T, header, body []byte, mend bool) {
		raw := append(bytes.Clone(header), body...)
		if mend {
			raw = withHeader(string(header), spread(body[:min(len(body), 64*blockSize)]))
		}
		for _, o := range []Options{{Format: "binary", Placement: Placement{Trust: true}},
			{NoLabels: true, Storage: "dense", Placement: Placement{Trust: true}},
			{Storage: "sparse", Classes: []string{"b", "a"}}} {
			checkBinary(t, raw, o)
		}
	})
}

// checkBinary opens raw and, if it is accepted, uses it in every way.
func checkBinary(t *testing.T, raw []byte, o Options) {
	t.Helper()
	s, err := newSource(t.Context(), "f.umab", bytes.NewReader(raw), fuzzLimits)
	if err != nil {
		return
	}
	defer s.close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := readSource(s, o)
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc,
		64*uint64(s.text)+256*uint64(len(raw))+fuzzMemory; took > most {
		t.Fatalf("took %d bytes of memory for %d bytes, wanted at most %d", took, len(raw), most)
	}
	if err != nil {
		if err.Error() == "" {
			t.Fatal("an error without words")
		}
		return
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	if len(d.Hash()) != 64 || d.N == 0 || (d.Y == nil) != o.NoLabels {
		t.Fatalf("read %+v", d)
	}
	_ = Verify(t.Context(), d) // an error most times
	if d.CheckAll(t.Context()) != nil || d.D > 1<<16 {
		return
	}
	dataset.Describe(d)
	if d.SHA256 != "" {
		back, err := ReadFrom(t.Context(), bytes.NewReader(binaryBytes(t, d)), "g",
			Options{NoLabels: o.NoLabels, Classes: d.Classes})
		if err != nil {
			t.Fatal(err)
		}
		back.SHA256 = d.SHA256
		sameContent(t, "copy", back, d)
	}
	if d.Prepared == nil {
		_ = features.Prepare(d, dataset.Steps{MaxAbs: true, Bias: true}) // or an error
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
