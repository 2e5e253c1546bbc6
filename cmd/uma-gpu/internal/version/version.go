// Package version is the command that prints versions.
package version

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
)

// Options are the options of the command.
type Options struct{ app.Common }

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the tool, of Go and of the numerics contract",
		Description: "Models of the same contract version, data and parameters have equal weights.\n\n" +
			"Example: uma-gpu version --json",
		Flags:  app.Flags(o.JSONFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

type VersionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, if the build knows it
	Go       string `json:"go"`
	System   string `json:"system"`
	Contract int    `json:"contract_version"`
	OpenCL   bool   `json:"opencl"` // built in; devices says whether there is any
}

// Run prints the versions.
func Run(_ context.Context, o *Options) error {
	r := VersionReport{
		Version: app.Version, Revision: revision(),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Contract: contract.Version, OpenCL: gpu.Built,
	}
	return o.Print(r, r.print)
}

// print prints the versions for people.
func (r VersionReport) print(w io.Writer) error {
	opencl := "built in"
	if !r.OpenCL {
		opencl = "not built in"
	}
	fmt.Fprintf(w, "uma-gpu %s\n", r.Version)
	if r.Revision != "" {
		fmt.Fprintf(w, "revision %s\n", r.Revision)
	}
	_, err := fmt.Fprintf(w, "%s %s\nnumerics contract %d\nOpenCL %s\n", r.Go, r.System, r.Contract,
		opencl)
	return err
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	if text == "" {
		return ""
	}
	return text + modified
}
