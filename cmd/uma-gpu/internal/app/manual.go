package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"
)

// Pages returns the page of the program and of each command.
func Pages(app *cli.App) []page {
	all := []page{appPage(app)}
	var walk func(name string, commands []*cli.Command)
	walk = func(name string, commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden && c.Name != "help" {
				all = append(all, CommandPage(name+" "+c.Name, c))
				walk(name+" "+c.Name, c.Subcommands)
			}
		}
	}
	walk(app.Name, app.Commands)
	return all
}

// Roff returns the page for man.
func (p page) Roff() []byte {
	head := fmt.Sprintf("%% %s 1\n# NAME\n%s - %s\n\n# SYNOPSIS\n\n    %s\n\n# DESCRIPTION\n",
		strings.ToUpper(strings.ReplaceAll(p.Name, " ", "-")), p.Name, markdownText(p.usage), p.synopsis)
	return md2man.Render([]byte(head + p.body()))
}

// Markdown returns the page as Markdown.
func (p page) Markdown() []byte {
	return fmt.Appendf(nil, "# %s\n\n%s.\n\n    %s\n%s", p.Name, markdownText(p.usage), p.synopsis,
		p.body())
}

// body returns the description, the commands and the flags as Markdown.
func (p page) body() string {
	var b strings.Builder
	for _, text := range p.text {
		b.WriteByte('\n')
		for _, line := range text.lines {
			if text.verbatim {
				fmt.Fprintf(&b, "    %s\n", line)
			} else {
				fmt.Fprintln(&b, markdownText(line))
			}
		}
	}
	for _, s := range slices.Concat(p.commands, p.Flags) {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Heading)
		for _, i := range s.Items {
			term := i.Term
			if p.commands != nil {
				term = p.Name + " " + term
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", term, markdownText(i.About))
		}
	}
	return b.String()
}

// markdownText returns the text with a backslash before each mark of Markdown.
func markdownText(text string) string {
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|]").ReplaceAllString(text, `\$0`)
}
