package quote

import (
	"fmt"
	"testing"
)

// Options are found where a word begins, with their values, and not in quoted texts.
func TestOptions(t *testing.T) {
	spell := func(name, value string) string { return fmt.Sprintf("<%s|%s>", name, value) }
	for text, want := range map[string]string{
		"--header":                       "<header|>",
		"say --header=no.":               "say <header|no>.",
		"(--max-steps=8) or --l2":        "(<max-steps|8>) or <l2|>",
		`found "--header=no", --x=a.b:`:  `found "--header=no", <x|a.b>:`,
		`"a \" --b" --c`:                 `"a \" --b" <c|>`,
		`open " --d`:                     `open " <d|>`,
		"a--b, ---c, --1, --C, --":       "a--b, ---c, --1, --C, --",
		"--name='Ann''s' --other='x y'":  "<name|Ann>'s' <other|x y>",
		Option("trust", "Ann's", "ß＝"):   "<trust|Ann's>='ß＝'",
		Option("trust", "Ann's"):         "<trust|Ann's>",
		Option("categories", "größe,b"):  "<categories|größe,b>",
		Option("separator", "1:2/x@y%_"): "<separator|1:2/x@y%_>",
		"--x=: --y=. --z-":               "<x|>=: <y|>=. <z|>-",
	} {
		if got := Options(text, spell); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
