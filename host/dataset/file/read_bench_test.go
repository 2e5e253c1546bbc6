package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// benchFiles returns files of each format, unpacked and packed, as they are read
// most: names with their bytes, the bytes unpacked, and options.
func benchFiles(b *testing.B) []benchFile {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20000
	matrix := func(d int, value func(j int) float32) *dataset.Dataset {
		set := &dataset.Dataset{Examples: dataset.Examples{N: n, D: d, X: make([]float32, n*d)},
			Y: make([]int32, n), Classes: []string{"0", "1"}}
		for k := range set.X {
			set.X[k] = value(k % d)
		}
		for i := range set.Y {
			set.Y[i] = int32(i % 2)
		}
		return set
	}
	real := matrix(64, func(int) float32 { return float32(rng.IntN(1e6)) / 1e4 })
	whole := matrix(64, func(int) float32 { return float32(rng.IntN(17)) })
	tfidf := matrix(2000, func(int) float32 {
		if rng.IntN(40) > 0 {
			return 0
		}
		return float32(1+rng.IntN(9999)) / 1e5
	})
	text := func(name string, d *dataset.Dataset) []byte {
		f, err := formatNamed(formatOfName(name), true)
		if err != nil {
			b.Fatal(err)
		}
		var text bytes.Buffer
		if err := writeTo(b.Context(), &text, name, f, d, WriteOptions{}); err != nil {
			b.Fatal(err)
		}
		return text.Bytes()
	}
	array := func(descr string, order string, put func([]byte, float32) []byte) []byte {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, 64), }\n", descr, order,
			n)
		raw := fmt.Appendf(nil, "\x93NUMPY\x01\x00%c%c%s", len(header), 0, header)
		for _, v := range real.X {
			raw = put(raw, v)
		}
		return raw
	}
	f8 := func(raw []byte, v float32) []byte {
		return binary.LittleEndian.AppendUint64(raw, math.Float64bits(float64(v)))
	}
	idx := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 2}, n)
	idx = binary.BigEndian.AppendUint32(idx, 64)
	for _, v := range whole.X {
		idx = append(idx, byte(v))
	}
	csv := text("f.csv", real)
	bare := Options{NoLabels: true}
	return []benchFile{
		{"csv real", csv, 0, Options{}},
		{"csv whole", text("f.csv", whole), 0, Options{}},
		{"csv sparse", text("f.csv", tfidf), 0, Options{}},
		{"csv gzip", text("f.csv.gz", real), len(csv), Options{}},
		{"csv zstd", text("f.csv.zst", real), len(csv), Options{}},
		{"libsvm real", text("f.svm", real), 0, Options{}},
		{"libsvm whole", text("f.svm", whole), 0, Options{}},
		{"libsvm sparse", text("f.svm", tfidf), 0, Options{}},
		{"npy float32", array("<f4", "False", func(raw []byte, v float32) []byte {
			return binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}), 0, bare},
		{"npy float64", array("<f8", "False", f8), 0, bare},
		{"npy fortran", array("<f8", "True", f8), 0, bare},
		{"idx bytes", idx, 0, bare},
		{"npz", text("f.npz", real), 0, Options{}},
		{"npz sparse", text("f.npz", sparse(tfidf)), 0, Options{}},
		{"npz packed", packMembers(b, text("f.npz", real)), 0, Options{}},
		{"parquet", benchParquet(b, real.X, 64), 0, bare},
	}
}

// sparse returns d with its examples stored sparsely.
func sparse(d *dataset.Dataset) *dataset.Dataset {
	c := *d
	c.Examples = d.Examples.Compressed()
	return &c
}

type benchFile struct {
	name string
	raw  []byte
	size int // unpacked; 0 if it is not packed
	o    Options
}

// BenchmarkRead reads 20,000 examples of 64 features (of six digits each, or
// whole numbers to 16) or of 2,000, one in 40 not zero, from memory. MB/s are of the unpacked file.
func BenchmarkRead(b *testing.B) {
	for _, file := range benchFiles(b) {
		b.Run(file.name, func(b *testing.B) {
			b.SetBytes(int64(max(file.size, len(file.raw))))
			for b.Loop() {
				_, err := ReadFrom(b.Context(), bytes.NewReader(file.raw), "f", file.o)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
