// Package man is the command that prints manual pages.
package man

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// New returns the command, which asks the program for its pages.
func New() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command, or write all pages",
		ArgsUsage: "[COMMAND]",
		Description: `A page has what --help shows, for man(1). make install and packages put the pages
where man looks. With --markdown they are Markdown.

Example: uma-gpu man train | man -l -
Example: uma-gpu man --dir man1`,
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
		return app.OfCommand(c, app.Usage("--dir is for all pages, and %s is one", name))
	}
	found := folder != ""
	for _, p := range app.Pages(c.App) {
		text, suffix := p.Roff, ".1"
		if c.Bool("markdown") {
			text, suffix = p.Markdown, ".md"
		}
		write := func(w io.Writer) error {
			_, err := w.Write(text())
			return err
		}
		if folder == "" && p.Name == name {
			return write(c.App.Writer)
		}
		if folder == "" {
			continue
		}
		path := filepath.Join(folder, strings.ReplaceAll(p.Name, " ", "-")+suffix)
		if err := atomicfile.Write(path, write); err != nil {
			return err
		}
	}
	if !found {
		return app.OfCommand(c, app.Usage("there is no command %s", name))
	}
	return nil
}
