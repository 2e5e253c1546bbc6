// Package facts finds in a message what a test pins of it: places, names and numbers, whatever the
// words between them. Only tests import it.
package facts

import (
	"fmt"
	"strings"
)

// Told reports whether a message, an error or a text, states all facts in their order. Facts are
// whole words of the message, separated by spaces, without the punctuation around them and the
// dashes of a flag; of a path the end is enough. A nil error states nothing.
func Told(message any, facts string) bool {
	if message == nil {
		return false
	}
	want := words(facts)
	for _, word := range words(fmt.Sprint(message)) {
		if len(want) > 0 && (word == want[0] || strings.HasSuffix(word, "/"+want[0])) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func words(text string) []string {
	words := strings.Fields(text)
	for k, w := range words {
		words[k] = strings.TrimPrefix(strings.Trim(w, ",;:.()[]?!"), "--")
	}
	return words
}
