package main

import (
	"io"
	"path/filepath"
	"strings"

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
	for _, page := range manualPages(c.App) {
		if folder == "" && page.Name != name {
			continue
		}
		text, suffix, err := manualText(page, c.Bool("markdown"))
		if err != nil {
			return err
		}
		write := func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
		if folder == "" {
			return write(c.App.Writer)
		}
		path := filepath.Join(folder, strings.ReplaceAll(page.Name, " ", "-")+suffix)
		if err := atomicfile.Write(path, write); err != nil {
			return err
		}
	}
	if !found {
		return usagef(c, "there is no command %s", name)
	}
	return nil
}

// manualText returns a page as the cli package writes it, and the suffix of its file.
func manualText(page *cli.App, markdown bool) (text, suffix string, err error) {
	if markdown {
		text, err = page.ToMarkdown()
		return text, ".md", err
	}
	text, err = page.ToManWithSection(1)
	return text, ".1", err
}

// manualPages returns the program and each command as an application of its own.
func manualPages(app *cli.App) (pages []*cli.App) {
	var walk func(name string, commands []*cli.Command)
	walk = func(name string, commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden || c.Name == "help" {
				continue
			}
			page := &cli.App{Name: name + " " + c.Name, Usage: c.Usage, Description: c.Description,
				UsageText: c.ArgsUsage, Flags: c.Flags, Commands: c.Subcommands}
			pages = append(pages, page)
			walk(page.Name, c.Subcommands)
		}
	}
	pages = append(pages, &cli.App{Name: app.Name, Usage: app.Usage, Description: app.Description})
	walk(app.Name, app.Commands)
	return pages
}
