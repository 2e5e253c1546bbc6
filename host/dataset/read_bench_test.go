package dataset

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// BenchmarkRead reads 20,000 × 64 examples of six digits each from memory; MB/s
// are of text.
func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	d := &Dataset{Examples: Examples{N: 20000, D: 64, X: make([]float32, 20000*64)}, Y: make([]int32, 20000), Classes: []string{"0", "1"}}
	for k := range d.X {
		d.X[k] = float32(rng.IntN(1e6)) / 1e4
	}
	for i := range d.Y {
		d.Y[i] = int32(i % 2)
	}
	for _, f := range formats() {
		if f.write == nil {
			continue
		}
		b.Run(f.name, func(b *testing.B) {
			var text bytes.Buffer
			if err := encode(&text, "f", f, d, WriteOptions{}); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				s, err := newSource("f", bytes.NewReader(text.Bytes()), defaultLimits)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.read(s, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPrepare fits and applies the default steps to 20,000 × 64 examples;
// MB/s are of raw float32.
func BenchmarkPrepare(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	e := Examples{N: 20000, D: 64, X: make([]float32, 20000*64)}
	for k := range e.X {
		e.X[k] = float32(rng.NormFloat64())
	}
	s, err := ParseSteps(DefaultSteps)
	if err != nil {
		b.Fatal(err)
	}
	p, err := Fit(s, e)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("fit", func(b *testing.B) {
		b.SetBytes(int64(4 * len(e.X)))
		for b.Loop() {
			if _, err := Fit(s, e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("apply", func(b *testing.B) {
		b.SetBytes(int64(4 * len(e.X)))
		for b.Loop() {
			if _, err := p.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
	})
}
