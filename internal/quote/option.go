package quote

import (
	"strings"
	"unicode"
)

// Option returns "--header", or "--header=no" if a value is advised: how messages spell options,
// which Options spells anew.
func Option(name string, value ...string) string {
	name = "--" + name
	for _, v := range value {
		if v == "" || strings.TrimLeftFunc(v, plain) != "" {
			v = "'" + strings.ReplaceAll(v, "'", escaped) + "'"
		}
		name += "=" + v
	}
	return name
}

// escaped is what stands for a quotation mark within a quoted value.
const escaped = `'\''`

// plain reports whether a character of a value needs no quotation marks.
func plain(r rune) bool {
	return strings.ContainsRune("-+=:./@%_", r) || unicode.IsLetter(r) || unicode.IsNumber(r)
}

// Options returns a message with its options spelt by spell, which gets the name of the flag and
// the value, "" for none. Quoted texts are left as they are.
func Options(message string, spell func(name, value string) string) string {
	var b strings.Builder
	before := byte(' ')
	for message != "" {
		if n := quotedLength(message); n > 0 {
			b.WriteString(message[:n])
			before, message = '"', message[n:]
			continue
		}
		if name, value, n := option(message); n > 0 && (before == ' ' || before == '(') {
			b.WriteString(spell(name, value))
			before, message = 'a', message[n:]
			continue
		}
		b.WriteByte(message[0])
		before, message = message[0], message[1:]
	}
	return b.String()
}

// quotedLength returns the length of the quoted text that a text begins with, 0 for none.
func quotedLength(text string) int {
	for k := 1; text[0] == '"' && k < len(text); k++ {
		switch text[k] {
		case '\\':
			k++
		case '"':
			return k + 1
		}
	}
	return 0
}

// option returns the option that a text begins with, its value and their length, 0 for none.
func option(text string) (name, value string, n int) {
	rest, ok := strings.CutPrefix(text, "--")
	small := func(k int) bool { return k < len(rest) && rest[k] >= 'a' && rest[k] <= 'z' }
	digit := func(k int) bool { return k < len(rest) && rest[k] >= '0' && rest[k] <= '9' }
	end := 0
	for ok && (small(end) || end > 0 && (digit(end) || rest[end] == '-' && (small(end+1) ||
		digit(end+1)))) {
		if end++; end == len(rest) {
			break
		}
	}
	if end == 0 {
		return "", "", 0
	}
	name, n = rest[:end], 2+end
	rest, ok = strings.CutPrefix(rest[end:], "=")
	if !ok {
		return name, "", n
	}
	if value, ok := quotedValue(rest); ok {
		return name, strings.ReplaceAll(value, escaped, "'"), n + len("=''") + len(value)
	}
	value = rest[:len(rest)-len(strings.TrimLeftFunc(rest, plain))]
	if value = strings.TrimRight(value, ":."); value == "" { // which end a sentence
		return name, "", n
	}
	return name, value, n + len("=") + len(value)
}

// quotedValue returns what stands between the quotation marks that a text begins with.
func quotedValue(text string) (value string, ok bool) {
	rest, ok := strings.CutPrefix(text, "'")
	for k := 0; ok && k < len(rest); k++ {
		if strings.HasPrefix(rest[k:], escaped) {
			k += len(escaped) - 1
		} else if rest[k] == '\'' {
			return rest[:k], true
		}
	}
	return "", false
}
