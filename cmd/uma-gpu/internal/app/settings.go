package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Line returns the flags of these names that were given, as a shell takes them, each after a space.
func (o *Common) Line(names ...string) string {
	var b strings.Builder
	for _, f := range o.line.Command.Flags {
		name := f.Names()[0]
		if !slices.Contains(names, name) || !o.line.IsSet(name) {
			continue
		}
		b.WriteString(" --" + name)
		if value := o.Text(name); value != "true" {
			b.WriteString(" " + Quoted(value))
		}
	}
	return b.String()
}

// Text returns the value of a flag as a text.
func (o *Common) Text(name string) string { return fmt.Sprint(o.line.Value(name)) }

// Command returns the command line, as a shell takes it.
func (o *Common) Command() string {
	line := "uma-gpu"
	for _, word := range o.words {
		line += " " + Quoted(word)
	}
	return line
}

// plainWord is a word that every shell takes as it is.
var plainWord = regexp.MustCompile(`^[-+=:,./@%_0-9A-Za-z]+$`)

// Quoted returns a word as a shell takes it.
func Quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
