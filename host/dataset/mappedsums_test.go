package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flipped bit anywhere is refused, and the message has its block, whichever processor found it first.
func TestBinarySums(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(71, 72)), 1000, 100, []string{"a", "b"})
	raw := binaryBytes(t, d)
	blocks := (len(raw) - len(raw)%binaryAlign) / sumBlock
	if blocks < 6 {
		t.Fatalf("%d blocks are too few for this test", blocks)
	}
	path := filepath.Join(t.TempDir(), "d.umab")
	rng := rand.New(rand.NewPCG(73, 74))
	h, err := parseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	sums := h.Sections.Sums.Offset
	for k := range (sums + sumBlock - 1) / sumBlock {
		b := bytes.Clone(raw)
		from := max(k*sumBlock, h.Sections.X.Offset) // what is before has errors of its own
		at := from + rng.Int64N(min((k+1)*sumBlock, sums)-from)
		b[at] ^= 1 << rng.IntN(8)
		b[sums-1] ^= 1 // padding, which nobody looks at
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(t.Context(), path, Options{})
		want := fmt.Sprintf("%s: the file is damaged: block %d of %d, ", path, k+1, (sums+sumBlock-1)/sumBlock)
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), fmt.Sprintf(" bytes from byte %d on, has the checksum ", k*sumBlock)) {
			t.Errorf("byte %d: %v\nwant %s", at, err, want)
		}
	}
	b := bytes.Clone(raw)
	b[len(b)-5] ^= 8
	if _, err := ReadFrom(t.Context(), bytes.NewReader(b), "f", Options{}); err == nil ||
		!strings.Contains(err.Error(), "f: the file is damaged: its list of checksums has the checksum ") {
		t.Errorf("a flipped bit in a sum: %v", err)
	}
	read, err := ReadFrom(t.Context(), bytes.NewReader(b), "f", Options{Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	if read.Unchecked() {
		t.Error("a file with sums is said to have none")
	}
}

// A file of version 1, from before there were sums, is read as it was.
func TestBinaryWithoutSums(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(75, 76)), 30, 11, []string{"a", "b"})
	d.SHA256 = d.Hash()
	raw := binaryBytes(t, d)
	h, err := parseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	old := *h
	old.Sections.Sums = nil
	text, err := old.place()
	if err != nil {
		t.Fatal(err)
	}
	first := h.Sections.list()[0].Offset
	file := append(append([]byte(firstLine(binaryBare, text)), text...), make([]byte, first)...)[:first]
	file = append(file, raw[first:h.Sections.Y.Offset+h.Sections.Y.Bytes]...)
	got, err := ReadFrom(t.Context(), bytes.NewReader(file), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameContent(t, "version 1", got, d)
	if !got.Unchecked() {
		t.Error("a file without sums is said to have some")
	}
	if err := got.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
