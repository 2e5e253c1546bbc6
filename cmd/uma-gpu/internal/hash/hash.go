// Package hash is the command that prints the hash of a data set.
package hash

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

type Options struct {
	app.Common
	Data app.Data
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "hash",
		Usage: "print the SHA-256 by which models name a data set",
		Description: `The hash is that of the content: copies in other formats have the same. Of prepared
examples it is that of the data before.

Example: uma-gpu hash --data train.csv`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to hash"), o.Data.NoLabelsFlag(),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// HashReport is what hash --json prints.
type HashReport struct {
	Data   string `json:"data"`
	SHA256 string `json:"sha256"`
}

// Run prints the hash.
func Run(ctx context.Context, o *Options) error {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	d, err := o.Data.ReadWhole(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if d.SHA256 == "" {
		return fmt.Errorf("%s: found prepared examples without the hash of the data before", d.Path)
	}
	return o.Print(HashReport{d.Path, d.SHA256}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, d.SHA256)
		return err
	})
}
