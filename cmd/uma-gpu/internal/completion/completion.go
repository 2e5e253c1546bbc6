// Package completion is the command that prints a script for a shell.
package completion

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// shellScripts get words from the program by the cli package's --generate-bash-completion.
//
//go:embed scripts
var shellScripts embed.FS

// Shells are the shells that have a script.
var Shells = []string{"bash", "zsh", "fish"}

func New(run func(context.Context, *app.Common) error) *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and files",
		ArgsUsage: strings.Join(Shells, "|"),
		Description: `Packages and make install put the scripts where shells look for them. By hand:

  source <(uma-gpu completion bash)    in ~/.bashrc
  source <(uma-gpu completion zsh)     in ~/.zshrc, after compinit
  uma-gpu completion fish > ~/.config/fish/completions/uma-gpu.fish

Example: uma-gpu completion bash`,
		Action: app.Action(o, run),
	}
}

// Run prints the script.
func Run(_ context.Context, o *app.Common) error {
	if len(o.Args) > 1 {
		return app.Usage("unexpected argument %q", o.Args[1])
	}
	shell := strings.Join(o.Args, "")
	if !slices.Contains(Shells, shell) {
		return app.Usage("the shell is %q, wanted %s", shell, app.OrList(Shells))
	}
	script, err := shellScripts.ReadFile("scripts/uma-gpu." + shell)
	if err == nil {
		_, err = o.Out.Write(script)
	}
	return err
}
