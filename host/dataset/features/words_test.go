package features

import (
	"math/rand/v2"
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
