// Package man is the command that writes the manual pages.
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
	Folder string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:   "man",
		Usage:  "write the manual pages",
		Hidden: true,
		Flags: []cli.Flag{app.Required(app.Text(&o.Folder, "dir", "",
			"`FOLDER` for uma-gpu.1, uma-gpu-train.1, …"))},
		Action: app.Action(o, run),
	}
}

// Run writes the page of each command.
func Run(_ context.Context, o *Options) error {
	pages, err := o.Pages()
	if err != nil {
		return err
	}
	for _, p := range pages {
		path := filepath.Join(o.Folder, strings.ReplaceAll(p.Name, " ", "-")+".1")
		if err := atomicfile.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, p.Roff)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
