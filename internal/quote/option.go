package quote

import (
	"regexp"
	"strings"
)

// Option returns "--header", or "--header=no" if a value is advised: how messages spell options,
// which Options spells anew.
func Option(name string, value ...string) string {
	name = "--" + name
	for _, v := range value {
		if !plainValue.MatchString(v) {
			v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
		}
		name += "=" + v
	}
	return name
}

var plainValue = regexp.MustCompile(`^[-+=:./@%_\pL\pN]+$`)

// option is a quoted text, which is not searched, or an option.
var option = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(^|[ (])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)` +
	`(?:=('(?:[^']|'\\'')*'|[-+=:./@%_\pL\pN]*[-+=/@%_\pL\pN]))?`)

// Options returns a message with its options spelt by spell, which gets the name of the flag and
// the value, "" for none.
func Options(message string, spell func(name, value string) string) string {
	found := option.FindAllStringSubmatchIndex(message, -1)
	var b strings.Builder
	end := 0
	for _, at := range found {
		if at[4] < 0 {
			continue
		}
		b.WriteString(message[end:at[3]])
		value := ""
		if at[6] >= 0 {
			value = strings.ReplaceAll(strings.Trim(message[at[6]:at[7]], "'"), `'\''`, "'")
		}
		b.WriteString(spell(message[at[4]:at[5]], value))
		end = at[1]
	}
	b.WriteString(message[end:])
	return b.String()
}
