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

func New(run func(context.Context, *app.Common) error) *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the tool, of Go and of the numerics contract",
		Description: `Models of the same contract version, data and parameters have equal weights.

Example: uma-gpu version --json`,
		Flags:  app.Flags(o.JSONFlag()),
		Action: app.Action(o, run),
	}
}

type VersionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, if the build records it
	Go       string `json:"go"`
	System   string `json:"system"`
	Contract int    `json:"contract_version"`
	OpenCL   bool   `json:"opencl"` // built in; the command devices lists devices
}

// Run prints the versions.
func Run(_ context.Context, o *app.Common) error {
	r := VersionReport{
		Version: app.Version, Revision: revision(),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Contract: contract.Version, OpenCL: gpu.Built,
	}
	return o.Print(r, func(w io.Writer) error {
		opencl, revision := "built in", ""
		if !r.OpenCL {
			opencl = "not built in"
		}
		if r.Revision != "" {
			revision = "revision " + r.Revision + "\n"
		}
		_, err := fmt.Fprintf(w, "uma-gpu %s\n%s%s %s\nnumerics contract %d\nOpenCL %s\n", r.Version,
			revision, r.Go, r.System, r.Contract, opencl)
		return err
	})
}

// revision returns the revision of the source, "" if the build does not record it.
func revision() (text string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings { // in the order of their names
		switch {
		case s.Key == "vcs.revision":
			text = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && text != "":
			text += " (modified)"
		}
	}
	return text
}
