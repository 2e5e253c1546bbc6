// Package apptest runs a command by itself, for its tests.
package apptest

import (
	"bytes"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// Run runs a command with these arguments, and returns what it prints and its error.
func Run(t *testing.T, command *cli.Command, words ...string) (stdout, stderr string, err error) {
	t.Helper()
	app.InstallChecks(command)
	var out, notes bytes.Buffer
	program := &cli.App{Name: "uma-gpu", Writer: &out, ErrWriter: &notes,
		Commands:                  []*cli.Command{command},
		DisableSliceFlagSeparator: true, ExitErrHandler: func(*cli.Context, error) {}}
	err = program.RunContext(t.Context(), append([]string{"uma-gpu", command.Name}, words...))
	return out.String(), notes.String(), err
}
