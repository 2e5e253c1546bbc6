package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func manCommand() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command, or write all pages",
		ArgsUsage: "[COMMAND]",
		Description: "A page has what --help shows, for man(1). make install and packages put the pages where man\n" +
			"looks. With --markdown they are Markdown, for the web site.\n\n" +
			"Example: uma-gpu man train | man -l -\n" +
			"Example: uma-gpu man --dir man1",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for all pages, uma-gpu.1, uma-gpu-train.1, …"},
			&cli.BoolFlag{Name: "markdown", Usage: "pages in Markdown, uma-gpu.md, uma-gpu-train.md, …"},
		},
		Action: manual,
	}
}

func manual(c *cli.Context) error {
	name := strings.Join(append([]string{c.App.Name}, c.Args().Slice()...), " ")
	folder := c.String("dir")
	if folder != "" && c.Args().Present() {
		return usagef(c, "--dir is for all pages, and %s is one", name)
	}
	found := folder != ""
	for _, p := range pages(c.App) {
		text, suffix := p.roff, ".1"
		if c.Bool("markdown") {
			text, suffix = p.markdown, ".md"
		}
		write := func(w io.Writer) error {
			_, err := w.Write(text())
			return err
		}
		if folder == "" && p.name == name {
			return write(c.App.Writer)
		}
		if folder == "" {
			continue
		}
		path := filepath.Join(folder, strings.ReplaceAll(p.name, " ", "-")+suffix)
		if err := atomicfile.Write(path, write); err != nil {
			return err
		}
	}
	if !found {
		return usagef(c, "there is no command %s", name)
	}
	return nil
}

// pages returns the page of the program and of each command.
func pages(app *cli.App) []page {
	all := []page{appPage(app)}
	var walk func(name string, commands []*cli.Command)
	walk = func(name string, commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden && c.Name != "help" {
				all = append(all, commandPage(name+" "+c.Name, c))
				walk(name+" "+c.Name, c.Subcommands)
			}
		}
	}
	walk(app.Name, app.Commands)
	return all
}

// roff returns the page for man.
func (p page) roff() []byte {
	head := fmt.Sprintf("%% %s 1\n# NAME\n%s - %s\n\n# SYNOPSIS\n\n    %s\n\n# DESCRIPTION\n",
		strings.ToUpper(strings.ReplaceAll(p.name, " ", "-")), p.name, markdownText(p.usage), p.synopsis)
	return md2man.Render([]byte(head + p.body()))
}

// markdown returns the page as Markdown.
func (p page) markdown() []byte {
	return fmt.Appendf(nil, "# %s\n\n%s.\n\n    %s\n%s", p.name, markdownText(p.usage), p.synopsis, p.body())
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
	for _, s := range slices.Concat(p.commands, p.flags) {
		fmt.Fprintf(&b, "\n## %s\n\n", s.heading)
		for _, i := range s.items {
			term := i.term
			if p.commands != nil {
				term = p.name + " " + term
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", term, markdownText(i.about))
		}
	}
	return b.String()
}

// markdownText returns the text with a backslash before each mark of Markdown.
func markdownText(text string) string {
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|]").ReplaceAllString(text, `\$0`)
}
