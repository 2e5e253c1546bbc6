package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestHelpIsNarrow: no line of a help text wraps in a window of 110 columns, every flag has
// one line, and no default is told that says nothing.
func TestHelpIsNarrow(t *testing.T) {
	commands := []string{""}
	var collect func(prefix string, list []*cli.Command)
	collect = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			commands = append(commands, prefix+c.Name)
			collect(prefix+c.Name+" ", c.Subcommands)
		}
	}
	collect("", newApp(nil, nil).Commands)
	if len(commands) < 15 {
		t.Fatalf("found only the commands %q", commands)
	}
	for _, command := range commands {
		help, _ := succeed(t, append(strings.Fields(command), "--help")...)
		for line := range strings.Lines(help) {
			line = strings.TrimSuffix(line, "\n")
			if width := utf8.RuneCountInString(line); width > 110 {
				t.Errorf("help of %q has a line of %d columns, want at most 110:\n%s", command, width, line)
			}
			if strings.Contains(line, "(default: false)") || strings.Contains(line, "(default: 0)") ||
				strings.Count(line, "(default") > 1 {
				t.Errorf("help of %q tells a default that is none, or two:\n%s", command, line)
			}
		}
	}
}
