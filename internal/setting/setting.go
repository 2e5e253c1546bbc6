// Package setting spells the options that messages advise, in the words of the program that shows
// the message: a library names fields, a command line names flags.
package setting

import (
	"fmt"
	"strings"
)

// Spell returns an option and its value as the reader writes them; value is "" if the message
// names the option alone. A program sets it once, before its main function.
var Spell = Field

// Field spells ignore-columns, 1 as Options.Ignore "1": a field of Go, with its value.
func Field(name, value string) string {
	field, known := fields[name]
	if !known {
		for _, word := range strings.Split(name, "-") {
			field += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	if value == "" {
		return "Options." + field
	}
	return fmt.Sprintf("Options.%s %q", field, value)
}

// Flag spells ignore-columns, 1 as --ignore-columns 1.
func Flag(name, value string) string {
	return strings.TrimSuffix("--"+name+" "+value, " ")
}

// fields are the options whose field is not their name without hyphens.
var fields = map[string]string{
	"categories":     "Encode.Categories",
	"decimal":        "DecimalComma",
	"id-column":      "IDColumn",
	"ignore-columns": "Ignore",
	"levels":         "Encode.Levels",
	"missing":        "Encode.Missing",
	"normalize":      "Preparation",
	"text":           "Encode.Text.Columns",
	"text-features":  "Encode.Text.Features",
	"text-min-df":    "Encode.Text.MinExamples",
}
