// Package man is the command that prints manual pages.
package man

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

type Options struct {
	app.Common
	Folder   string
	Markdown bool
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command, or write all pages",
		ArgsUsage: "[COMMAND]",
		Description: `A page has what --help shows, for man(1). make install and packages put the pages
where man looks. With --markdown they are Markdown.

Example: uma-gpu man train | man -l -
Example: uma-gpu man --dir man1`,
		Flags: []cli.Flag{
			app.Text(&o.Folder, "dir", "", "`FOLDER` for all pages, uma-gpu.1, uma-gpu-train.1, …"),
			app.Switch(&o.Markdown, "markdown", "pages in Markdown, uma-gpu.md, uma-gpu-train.md, …"),
		},
		Action: app.Action(o, run),
	}
}

// Run prints a page, or writes all.
func Run(_ context.Context, o *Options) error {
	name := strings.Join(append([]string{"uma-gpu"}, o.Args...), " ")
	if o.Folder != "" && len(o.Args) > 0 {
		return app.Usage("--dir is for all pages, and %s is one", name)
	}
	for _, p := range o.Pages() {
		text, suffix := p.Roff, ".1"
		if o.Markdown {
			text, suffix = p.Markdown, ".md"
		}
		write := func(w io.Writer) error {
			_, err := w.Write(text())
			return err
		}
		if o.Folder == "" && p.Name == name {
			return write(o.Out)
		}
		if o.Folder == "" {
			continue
		}
		path := filepath.Join(o.Folder, strings.ReplaceAll(p.Name, " ", "-")+suffix)
		if err := atomicfile.Write(path, write); err != nil {
			return err
		}
	}
	if o.Folder == "" {
		return app.Usage("there is no command %s", name)
	}
	return nil
}
