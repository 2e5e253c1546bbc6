package decimal

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// checkNumber compares parseNumber with strconv on a text of our grammar.
func checkNumber(t *testing.T, text string) {
	t.Helper()
	want, err := strconv.ParseFloat(text, 32)
	got, ok := Parse([]byte(text))
	if ok != (err == nil) {
		t.Fatalf("Parse(%q) accepted: %v, strconv says %v", text, ok, err)
	}
	if ok && math.Float32bits(float32(got)) != math.Float32bits(float32(want)) {
		t.Fatalf("Parse(%q) = %x, strconv gives %x", text, math.Float32bits(float32(got)),
			math.Float32bits(float32(want)))
	}
	if wide, _ := strconv.ParseFloat(text, 64); ok && float32(wide) == float32(want) && got != wide {
		t.Fatalf("Parse(%q) = %v, strconv gives %v", text, got, wide)
	}
}

func TestParseNumberEqualsStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + rng.IntN(10)))
		}
		return b.String()
	}
	for range 300_000 {
		text := []string{"", "", "-", "+"}[rng.IntN(4)] + digits(rng.IntN(12))
		if rng.IntN(3) > 0 {
			text += "." + digits(rng.IntN(12))
		}
		if rng.IntN(3) == 0 {
			text += []string{"e", "E"}[rng.IntN(2)] + []string{"", "-", "+"}[rng.IntN(3)] +
				digits(rng.IntN(3))
		}
		checkNumber(t, text)
	}
	// Every bit pattern's shortest text, and the texts of points half way
	// between two float32 and next to them, where a second rounding goes wrong.
	for range 200_000 {
		v := math.Float32frombits(rng.Uint32())
		if v != v || math.IsInf(float64(v), 0) {
			continue
		}
		checkNumber(t, strconv.FormatFloat(float64(v), 'g', -1, 32))
		checkNumber(t, strconv.FormatFloat(float64(v), 'f', -1, 32))
		w := math.Nextafter32(v, math.MaxFloat32)
		middle := (float64(v) + float64(w)) / 2
		for _, m := range []float64{middle, math.Nextafter(middle, 1e300), math.Nextafter(middle,
			-1e300)} {
			checkNumber(t, strconv.FormatFloat(m, 'g', 15+rng.IntN(4), 64))
		}
	}
	for _, text := range []string{"0", "-0", "+0", "0.", ".0", "-.5e-3", "1e22", "1e23",
		"9007199254740991", "9007199254740992",
		"9007199254740993", "16777217", "16777219", "33554433e-1", "3.4028235e38", "3.4028236e38", "1e39",
		"-1e39", "1e-45",
		"1e-46", "1.1754943e-38", "1.17549435e-38", "1.1754942e-38", "00000000000000000000001", "1e+022",
		"1e0022", "1e99999999999", "", ".", "-", "e5", "1e", "1e+", "1.2.3", "--1", "1-", "+-1"} {
		checkNumber(t, text)
	}
}

func TestParseNumberDoesNotAllocate(t *testing.T) {
	short, long := []byte("-12.75e-3"), []byte("0.12345678901234567890123")
	if n := testing.AllocsPerRun(100, func() { Parse(short); Parse(long) }); n != 0 {
		t.Errorf("parseNumber allocates %v times", n)
	}
}

func TestFlush(t *testing.T) {
	count := 0
	for _, c := range []struct {
		in, want uint32
		counted  bool
	}{
		{1, 0, true}, {0x80000001, 0, true}, {0x007fffff, 0, true}, {0x807fffff, 0, true},
		{0x00800000, 0x00800000, false}, {0x80800000, 0x80800000, false}, {0, 0, false}, {0x80000000,
			0x80000000, false},
	} {
		before := count
		if got := math.Float32bits(Flush(math.Float32frombits(c.in), &count)); got != c.want ||
			(count > before) != c.counted {
			t.Errorf("Flush(%08x) = %08x, counted %v; wanted %08x, %v", c.in, got, count > before, c.want,
				c.counted)
		}
	}
}

func FuzzParseNumber(f *testing.F) {
	for _, text := range []string{"1", "-0.5e-3", "1_0", "0x1", "inf", "9007199254740993", "1e-40",
		".", "1e22"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range text {
			if !bytes.ContainsRune([]byte("0123456789+-.eE"), c) {
				if v, ok := Parse([]byte(text)); ok {
					t.Fatalf("Parse(%q) = %v", text, v)
				}
				return
			}
		}
		checkNumber(t, text)
	})
}
