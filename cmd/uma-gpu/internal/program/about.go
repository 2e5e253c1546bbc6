package program

import (
	"context"
	"embed"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
)

func versionCommand() *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the tool, of Go and of the numerics contract",
		Description: `Models of the same contract version, data and parameters have equal weights.

Example: uma-gpu version --json`,
		Flags:  []cli.Flag{o.JSONFlag()},
		Action: app.Action(o, printVersions),
	}
}

// Versions is what version --json prints.
type Versions struct {
	Version  string `json:"version"`
	Source   string `json:"source,omitempty"` // version or revision, if the build records it
	Go       string `json:"go"`
	System   string `json:"system"`
	Contract int    `json:"contract_version"`
	OpenCL   bool   `json:"opencl"` // built in; the command devices lists devices
}

func printVersions(_ context.Context, o *app.Common) error {
	v := Versions{Version: app.Version, Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Contract: contract.Version, OpenCL: gpu.Built}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Source = info.Main.Version
	}
	return o.PrintTable(v, func(row app.Row) {
		row("uma-gpu %s\nsource %s\n%s %s\nnumerics contract %d", v.Version, v.Source, v.Go, v.System,
			v.Contract)
		row("OpenCL built in: %v", v.OpenCL)
	})
}

// scripts get words from the program by the cli package's --generate-bash-completion.
//
//go:embed scripts
var scripts embed.FS

func completionCommand() *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and files",
		ArgsUsage: "bash|zsh|fish",
		Description: `Packages and make install put the scripts where shells look for them. By hand:

  source <(uma-gpu completion bash)    in ~/.bashrc
  source <(uma-gpu completion zsh)     in ~/.zshrc, after compinit
  uma-gpu completion fish > ~/.config/fish/completions/uma-gpu.fish

Example: uma-gpu completion bash`,
		Action: app.Action(o, printScript),
	}
}

func printScript(_ context.Context, o *app.Common) error {
	if len(o.Args) != 1 {
		return app.Usage("found %d arguments, wanted one: bash, zsh or fish", len(o.Args))
	}
	script, err := scripts.ReadFile("scripts/uma-gpu." + o.Args[0])
	if err != nil {
		return app.Usage("the shell is %q, wanted bash, zsh or fish", o.Args[0])
	}
	_, err = o.Out.Write(script)
	return err
}

func manCommand() *cli.Command {
	return &cli.Command{
		Name:   "man",
		Usage:  "print the manual page of all commands, in roff",
		Hidden: true,
		Action: func(c *cli.Context) error {
			page, err := c.App.ToManWithSection(1)
			if err == nil {
				_, err = io.WriteString(c.App.Writer, page)
			}
			return err
		},
	}
}
