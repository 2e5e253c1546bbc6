package app

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Settings returns the texts of the flags that were given but for those in except, with absolute
// paths of files: what Set takes in another run.
func (o *Common) Settings(except ...string) (map[string]string, error) {
	all := map[string]string{}
	for _, f := range o.line.Command.Flags {
		name := f.Names()[0]
		if slices.Contains(except, name) || !o.line.IsSet(name) {
			continue
		}
		value := o.Text(name)
		if _, isFile := f.(FileFlag); isFile && value != "" && value != "-" {
			path, err := filepath.Abs(value)
			if err != nil {
				return nil, err
			}
			value = path
		}
		all[name] = value
	}
	return all, nil
}

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

// Set gives a flag a value, and checks it as on the command line.
func (o *Common) Set(flag, value string) error {
	if err := o.line.Set(flag, value); err != nil {
		return err
	}
	o.start(o.line)
	flags := o.line.Command.Flags
	return checkFlag(o.line, flags[slices.IndexFunc(flags, func(f cli.Flag) bool {
		return f.Names()[0] == flag
	})])
}
