package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// A flipped bit anywhere is refused, and the message has its block, whichever processor found it
// first.
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
		want := fmt.Sprintf("%s: the file is damaged: block %d of %d, ", path, k+1,
			(sums+sumBlock-1)/sumBlock)
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			!facts.Told(err, fmt.Sprintf("byte %d checksum", k*sumBlock)) {
			t.Errorf("byte %d: %v\nwant %s", at, err, want)
		}
	}
	b := bytes.Clone(raw)
	b[len(b)-5] ^= 8
	if _, err := ReadFrom(t.Context(), bytes.NewReader(b), "f", Options{}); !facts.Told(err,
		"f damaged checksum") {
		t.Errorf("a flipped bit in a sum: %v", err)
	}
	read, err := ReadFrom(t.Context(), bytes.NewReader(b), "f",
		Options{Placement: Placement{Trust: true}})
	if err != nil {
		t.Fatal(err)
	}
	if read.Unchecked {
		t.Error("a file with sums is said to have none")
	}
}

// ofBefore returns the file of d as an earlier version wrote it.
func ofBefore(t *testing.T, version string, d *dataset.Dataset) []byte {
	t.Helper()
	h, err := headerOf(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if version == binaryBare {
		h.Sections.Sums = nil
	}
	if h.ContentSHA256, err = d.Content().HashOld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.DataSHA256 = h.ContentSHA256; d.Prepared != nil {
		h.DataSHA256 = strings.Repeat("01", 32)
	}
	text, err := h.place()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	p := placedWriter{w: &file}
	write := func(b []byte) {
		if err := p.write(b); err != nil {
			t.Fatal(err)
		}
	}
	write(append([]byte(firstLine(version, text)), text...))
	data := map[string][]byte{"x": store.Bytes(d.X), "y": store.Bytes(d.Y)}
	for _, n := range h.Sections.list() {
		write(make([]byte, n.Offset-p.at))
		if n.name == "sums" {
			data[n.name] = p.sums.section()
		}
		write(data[n.name])
	}
	return file.Bytes()
}

// Files of earlier versions are read as they were, and have no hash but one that is made anew.
func TestBinaryOfBefore(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(75, 76)), 30, 11, []string{"a", "b"})
	for _, version := range []string{binaryBare, binaryHashed} {
		file := ofBefore(t, version, d)
		got, err := ReadFrom(t.Context(), bytes.NewReader(file), "f", Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := *d
		want.Unchecked = version == binaryBare
		sameContent(t, "version "+version, got, &want)
		if err := Verify(t.Context(), got); err != nil {
			t.Errorf("version %s: %v", version, err)
		}
		file[binaryAlign] ^= 1 // of the first value
		if got, err = ReadFrom(t.Context(), bytes.NewReader(file), "f",
			Options{Placement: Placement{Trust: true}}); err != nil {
			t.Fatal(err)
		}
		if err := Verify(t.Context(), got); !facts.Told(err, "content hash") {
			t.Errorf("version %s, damaged: %v", version, err)
		}
		prepared := *d
		if err := features.Prepare(&prepared, dataset.Steps{L2: true}); err != nil {
			t.Fatal(err)
		}
		file = ofBefore(t, version, &prepared)
		if got, err = ReadFrom(t.Context(), bytes.NewReader(file), "f", Options{}); err != nil {
			t.Fatal(err)
		}
		if got.SHA256 != "" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0],
			"hashes were others") {
			t.Errorf("version %s, prepared: found the hash %q and the notes %q", version, got.SHA256,
				got.Notes)
		}
	}
}
