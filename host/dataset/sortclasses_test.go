package dataset

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// Integers of any size and sign compare as package math/big does.
func TestIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	names := []string{"", "+", "-", "--1", "+-1", "1_0", " 1", "1 ", "0x1", "1e3", "１", "0", "-0",
		"+0", "00"}
	for range 300 {
		name := []string{"", "-", "+"}[rng.IntN(3)] + []string{"", "0", "00"}[rng.IntN(3)]
		for range 1 + rng.IntN(25) {
			name += string(rune('0' + rng.IntN(10)))
		}
		names = append(names, name)
	}
	for _, a := range names {
		n, whole := newInteger(a)
		wantN, ok := new(big.Int).SetString(a, 10)
		if whole != ok {
			t.Errorf("%q: got whole %v, want %v", a, whole, ok)
		}
		for _, b := range names {
			m, other := newInteger(b)
			wantM, _ := new(big.Int).SetString(b, 10)
			if whole && other && n.compare(m) != wantN.Cmp(wantM) {
				t.Errorf("%q and %q: got %d, want %d", a, b, n.compare(m), wantN.Cmp(wantM))
			}
		}
	}
}
