package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func manCommand() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command, or write them all",
		ArgsUsage: "[COMMAND]",
		Description: "A page has what --help shows, for man(1). make install and packages put\n" +
			"the pages where man looks. With --markdown they are Markdown.\n\n" +
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
	if folder := c.String("dir"); folder != "" {
		if c.Args().Present() {
			return usagef(c, "--dir is for all pages, and %s is one", name)
		}
		return writeManual(c.App, folder, c.Bool("markdown"))
	}
	for p := range pages(c.App) {
		if p.name == name {
			p.manual(c.App.Writer, c.Bool("markdown"))
			return nil
		}
	}
	return usagef(c, "there is no command %s", name)
}

// writeManual writes a file for each page.
func writeManual(app *cli.App, folder string, markdown bool) error {
	suffix := ".1"
	if markdown {
		suffix = ".md"
	}
	for p := range pages(app) {
		path := filepath.Join(folder, strings.ReplaceAll(p.name, " ", "-")+suffix)
		err := atomicfile.Write(path, func(w io.Writer) error {
			p.manual(w, markdown)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pages yields the page of the program and those of its commands, of groups of commands too.
func pages(app *cli.App) func(yield func(page) bool) {
	return func(yield func(page) bool) {
		var walk func(name string, commands []*cli.Command) bool
		walk = func(name string, commands []*cli.Command) bool {
			for _, c := range commands {
				name := name + " " + c.Name
				if !c.Hidden && c.Name != "help" && !(yield(commandPage(name, c)) && walk(name, c.Subcommands)) {
					return false
				}
			}
			return true
		}
		if yield(appPage(app)) {
			walk(app.Name, app.Commands)
		}
	}
}

// manual writes the page. An error of w has to be found by its owner.
func (p page) manual(w io.Writer, markdown bool) {
	if markdown {
		p.markdown(w)
	} else {
		p.roff(w)
	}
}

// markdown writes the page as Markdown.
func (p page) markdown(w io.Writer) {
	fmt.Fprintf(w, "# %s\n\n%s.\n\n    %s\n", p.name, markdownText(p.usage), p.synopsis)
	for _, text := range p.text {
		fmt.Fprintln(w)
		for _, line := range text.lines {
			if text.verbatim {
				fmt.Fprintf(w, "    %s\n", line)
			} else {
				fmt.Fprintln(w, markdownText(line))
			}
		}
	}
	for _, s := range slices.Concat(p.commands, p.flags) {
		fmt.Fprintf(w, "\n## %s\n\n", s.heading)
		for _, i := range s.items {
			term := i.term
			if p.commands != nil {
				term = p.name + " " + term
			}
			fmt.Fprintf(w, "- `%s`: %s\n", term, markdownText(i.about))
		}
	}
}

// markdownText escapes what Markdown would take for its own.
func markdownText(text string) string {
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|]").ReplaceAllString(text, `\$0`)
}

// roff writes the page for man. An error of w has to be found by its owner.
func (p page) roff(w io.Writer) {
	title := strings.ReplaceAll(p.name, " ", "-")
	fmt.Fprintf(w, ".TH %s 1 \"\" \"uma-gpu %s\" \"User Commands\"\n.nh\n.ad l\n",
		strings.ToUpper(roffText(title)), version)
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roffText(title), roffText(p.usage), roffText(p.synopsis))
	if len(p.text) > 0 {
		fmt.Fprintln(w, ".SH DESCRIPTION")
	}
	for _, text := range p.text {
		begin, end := ".PP\n", ""
		if text.verbatim {
			begin, end = ".PP\n.EX\n", ".EE\n"
		}
		io.WriteString(w, begin)
		for _, line := range text.lines {
			fmt.Fprintln(w, roffText(line))
		}
		io.WriteString(w, end)
	}
	p.roffSections(w, "COMMANDS", p.commands)
	p.roffSections(w, "OPTIONS", p.flags)
	if parent := strings.LastIndexByte(p.name, ' '); parent > 0 {
		fmt.Fprintf(w, ".SH SEE ALSO\n.BR %s (1)\n", roffText(strings.ReplaceAll(p.name[:parent], " ", "-")))
	}
}

// roffSections writes commands or flags, under a heading of their own for each group.
func (p page) roffSections(w io.Writer, heading string, all []section) {
	if len(all) > 0 {
		fmt.Fprintf(w, ".SH %s\n", heading)
	}
	for _, s := range all {
		if s.heading != "Commands" {
			fmt.Fprintf(w, ".SS %s\n", roffText(s.heading))
		}
		for _, i := range s.items {
			term, value, _ := strings.Cut(i.term, " ")
			if strings.HasSuffix(term, ",") { // names of a flag
				k := strings.LastIndexByte(i.term, ' ')
				term, value = i.term[:k], i.term[k+1:]
			}
			fmt.Fprintf(w, ".TP\n\\fB%s\\fP", roffText(term))
			if value != "" {
				fmt.Fprintf(w, " \\fI%s\\fP", roffText(value))
			}
			fmt.Fprintf(w, "\n%s\n", roffText(i.about))
		}
	}
}

// roffText escapes what roff would take for its own.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
