package training

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// NoiseFlags checks the flags --confusion and --confusion-axes, and returns what reads the
// matrix for classes that are not known yet; nil if none is given.
func NoiseFlags(c *cli.Context) (func(classes []string) (*confusion.Matrix, error), error) {
	path := c.String("confusion")
	axes, err := app.TrueRows(c)
	if err != nil {
		return nil, err
	}
	if path == "" && c.IsSet("confusion-axes") {
		return nil, app.Usagef(c, "--confusion-axes is given without --confusion")
	}
	return func(classes []string) (*confusion.Matrix, error) {
		if path == "" {
			return nil, nil
		}
		return app.ReadMatrix(c.Context, path, confusion.ReadOptions{Classes: classes, TrueRows: axes})
	}, nil
}
