package main

import (
	"embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// shellScripts ask the program for words by the cli package's --generate-bash-completion.
//
//go:embed completion
var shellScripts embed.FS

// shells are the shells that have a script.
var shells = []string{"bash", "zsh", "fish"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and files",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "Packages and make install put the scripts where the shells look for them. By " +
			"hand:\n\n" +
			"  source <(uma-gpu completion bash)                                       in ~/.bashrc\n" +
			"  source <(uma-gpu completion zsh)                   behind compinit, in ~/.zshrc\n" +
			"  uma-gpu completion fish > ~/.config/fish/completions/uma-gpu.fish       once\n\n" +
			"Example: uma-gpu completion bash",
		Action: func(c *cli.Context) error {
			if c.Args().Len() > 1 {
				return app.Usagef(c, "unexpected argument %q", c.Args().Get(1))
			}
			shell := c.Args().First()
			if !slices.Contains(shells, shell) {
				return app.Usagef(c, "found %q for a shell, wanted %s", shell, app.OrList(shells))
			}
			script, err := shellScripts.ReadFile("completion/uma-gpu." + shell)
			if err == nil {
				_, err = c.App.Writer.Write(script)
			}
			return err
		},
	}
}
