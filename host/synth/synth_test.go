package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The hash was computed on amd64; the same bits are wanted everywhere.
func TestGolden(t *testing.T) {
	x, y := generate(t, 1000, 64, 12, 1)
	h := sha256.New()
	if err := binary.Write(h, binary.LittleEndian, x); err != nil {
		t.Fatal(err)
	}
	if err := binary.Write(h, binary.LittleEndian, y); err != nil {
		t.Fatal(err)
	}
	const want = "d176f9cc53dc6a0e9f29569f6a27651e6cd82fbc46a55f13dcc3a3f826492dfd"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("1000 × 64, 12 classes, seed 1: hash %s, want %s", got, want)
	}
}

// A linear rule fitted on one half (nearest class mean) errs on 1 to 5 % of the
// other half, whatever the seed.
func TestLinearClassifierIsGoodNotPerfect(t *testing.T) {
	const n, d, q = 20000, 64, 12
	for seed := range uint64(5) {
		x, y := generate(t, n, d, q, seed)
		mean := make([]float64, q*d)
		count := make([]float64, q)
		for i := range n / 2 {
			count[y[i]]++
			for j := range d {
				mean[int(y[i])*d+j] += float64(x[i*d+j])
			}
		}
		for r := range q {
			if share := count[r] / (n / 2); math.Abs(share-1.0/q) > 0.02 {
				t.Errorf("seed %d: class %d has a share of %.3f, want about %.3f", seed, r, share, 1.0/q)
			}
			for j := range d {
				mean[r*d+j] /= count[r]
			}
		}
		wrong := 0
		for i := n / 2; i < n; i++ {
			best, at := math.Inf(1), -1
			for r := range q {
				var dist float64
				for j := range d {
					diff := float64(x[i*d+j]) - mean[r*d+j]
					dist += diff * diff
				}
				if dist < best {
					best, at = dist, r
				}
			}
			if at != int(y[i]) {
				wrong++
			}
		}
		rate := float64(wrong) / (n / 2)
		t.Logf("seed %d: error %.4f", seed, rate)
		if rate < 0.01 || rate > 0.05 {
			t.Errorf("seed %d: error of the nearest-mean rule %.4f, want 0.01 to 0.05", seed, rate)
		}
	}
}

func TestNoiseHasMeanZeroAndVarianceOne(t *testing.T) {
	// One class centre's offset cancels within a class: look at differences of
	// pairs of one class, whose variance is 2.
	x, y := generate(t, 40000, 3, 2, 9)
	last := map[int32]int{}
	var sum, sq, m float64
	for i, class := range y {
		if k, ok := last[class]; ok {
			for j := range 3 {
				diff := float64(x[i*3+j]) - float64(x[k*3+j])
				sum, sq, m = sum+diff, sq+diff*diff, m+1
			}
			delete(last, class)
		} else {
			last[class] = i
		}
	}
	if mean, variance := sum/m, sq/m; math.Abs(mean) > 0.03 || math.Abs(variance-2) > 0.05 {
		t.Errorf("differences: mean %.3f, variance %.3f; want 0 and 2", mean, variance)
	}
}

func TestTextReadsBackExactly(t *testing.T) {
	x, _ := generate(t, 2000, 64, 12, 3)
	for i, v := range x {
		text := strconv.FormatFloat(float64(v), 'f', -1, 32)
		if _, decimals, _ := strings.Cut(text, "."); len(decimals) > 3 || text == "-0" {
			t.Fatalf("value %d is written as %s, want at most 3 decimals and no -0", i, text)
		}
		back, err := strconv.ParseFloat(text, 32)
		if err != nil || math.Float32bits(float32(back)) != math.Float32bits(v) {
			t.Fatalf("value %d: %s reads back as %v (%v), want %v", i, text, back, err, v)
		}
	}
}

func TestSeedsAndSizes(t *testing.T) {
	x, y := generate(t, 300, 5, 3, 7)
	x2, y2 := generate(t, 300, 5, 3, 7)
	if !slices.Equal(x, x2) || !slices.Equal(y, y2) {
		t.Error("same arguments, different data")
	}
	x2, y2 = generate(t, 100, 5, 3, 7)
	if !slices.Equal(x[:500], x2) || !slices.Equal(y[:100], y2) {
		t.Error("100 examples are not the first 100 of 300")
	}
	x2, y2 = generate(t, 300, 5, 3, 8)
	if slices.Equal(x, x2) || slices.Equal(y, y2) {
		t.Error("another seed gives the same data")
	}
	for _, c := range y {
		if c < 0 || c >= 3 {
			t.Fatalf("class %d, want 0 to 2", c)
		}
	}
	if x, y := generate(t, 0, 5, 3, 7); len(x) != 0 || len(y) != 0 {
		t.Errorf("no examples: %d values, %d classes", len(x), len(y))
	}
}

func TestBadSizes(t *testing.T) {
	for _, c := range []struct {
		n, d, q int
		want    string // "" for memory.ErrBudget
	}{
		{-1, 2, 2, "-1 examples"},
		{1, 0, 2, "d ≥ 1"},
		{1, 2, 1, "2 ≤ q"},
		{1, 1, math.MaxInt, "1 examples × 1 features"},
		{math.MaxInt, 2, 2, ""},
		{1, math.MaxInt / 16, 3, ""},
	} {
		x, y, err := Generate(t.Context(), c.n, c.d, c.q, 1)
		if !facts.Told(err, c.want) || c.want == "" && !errors.Is(err, memory.ErrBudget) || x != nil ||
			y != nil {
			t.Errorf("Generate(%d, %d, %d): error %v, want one with %q", c.n, c.d, c.q, err, c.want)
		}
	}
}

func generate(t *testing.T, n, d, q int, seed uint64) ([]float32, []int32) {
	t.Helper()
	x, y, err := Generate(t.Context(), n, d, q, seed)
	if err != nil {
		t.Fatal(err)
	}
	if len(x) != n*d || len(y) != n {
		t.Fatalf("Generate(%d, %d, %d): %d values, %d classes", n, d, q, len(x), len(y))
	}
	return x, y
}
