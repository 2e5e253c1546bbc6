package app

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func init() {
	cli.SuggestCommand = func(commands []*cli.Command, word string) string {
		return didYouMean(word, commandNames(commands))
	}
}

// didYouMean asks whether a word was meant to be one of those that there are, "" if none is like
// it.
func didYouMean(word string, words []string) string {
	if near := nearest(word, words); near != "" {
		return "Did you mean " + near + "?"
	}
	return ""
}

// nearest returns the word that is most like the given one, of which a third of the letters may be
// wrong, or that begins with it; "" if there is none.
func nearest(given string, words []string) string {
	best, least := "", 1+max(1, len(given)/3)
	for _, word := range words {
		if d := edits(strings.ToLower(given), strings.ToLower(word)); d < least {
			best, least = word, d
		}
	}
	if best == "" && len(given) >= 3 {
		if k := slices.IndexFunc(words, func(w string) bool {
			return strings.HasPrefix(w, given)
		}); k >= 0 {
			best = words[k]
		}
	}
	return best
}

// edits counts the letters to insert, to remove, to replace or to exchange with their neighbour,
// to make b of a (optimal string alignment).
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	table := make([][]int, len(s)+1)
	for i := range table {
		table[i] = make([]int, len(t)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case s[i-1] == t[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				table[i][j] = min(table[i][j], 1+table[i-2][j-2])
			}
		}
	}
	return table[len(s)][len(t)]
}

// commandNames are the names of the commands that help shows.
func commandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	return names
}
