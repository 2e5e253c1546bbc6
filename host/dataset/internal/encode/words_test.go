package encode

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Texts of each character, alone and about a sigma, are what Unicode's own rules make of them.
func TestLower(t *testing.T) {
	lower := cases.Lower(language.Und)
	judge := func(text string) {
		t.Helper()
		if got, want := string(appendLower(nil, []byte(text))), lower.String(text); got != want {
			t.Fatalf("%+q: got %+q, want %+q", text, got, want)
		}
	}
	for c := rune(1); c <= utf8.MaxRune; c++ {
		if !utf8.ValidRune(c) || c >= 0x20000 && c < 0xe0000 || c >= 0xe0200 {
			continue
		}
		s := string(c)
		for _, text := range []string{s, s + "Σ", "Σ" + s, "aΣ" + s, "aΣ" + s + "b", "a" + s + "Σ"} {
			judge(text)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ΣΣΣσaAΩ.'’·:- \u0301\u00adİIı1ʰ")
	for range 100_000 {
		text := make([]rune, 1+rng.IntN(8))
		for k := range text {
			text[k] = letters[rng.IntN(len(letters))]
		}
		judge(string(text))
	}
}

// The most used terms come first when all are sorted.
func TestMostUsed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	byName := func(a, b int32) int { return cmp.Compare(a*7919%10007, b*7919%10007) }
	for range 300 {
		n := 1 + rng.IntN(400)
		list, total := make([]int32, n), make([]int64, n)
		for k := range list {
			list[k], total[k] = int32(k), int64(1+rng.IntN(1+rng.IntN(5)))
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b int32) int {
			return cmp.Or(-cmp.Compare(total[a], total[b]), byName(a, b))
		})
		most := 1 + rng.IntN(n)
		want = want[:most]
		got := mostUsed(list, most, total, byName)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("the %d most used of %v: found %v, wanted %v", most, total, got, want)
		}
	}
}
