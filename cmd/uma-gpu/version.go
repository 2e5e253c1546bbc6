package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the tool, of Go and of the numerics contract",
		Description: "Models of the same contract version, data and parameters have equal weights.\n\n" +
			"Example: uma-gpu version --json",
		Flags:  []cli.Flag{app.JSONFlag()},
		Action: printVersion,
	}
}

type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, if the build knows it
	Go       string `json:"go"`
	System   string `json:"system"`
	Contract int    `json:"contract_version"`
	OpenCL   bool   `json:"opencl"` // built in; devices says whether there is any
}

func printVersion(c *cli.Context) error {
	if err := app.CheckUsage(c); err != nil {
		return err
	}
	r := versionReport{
		Version: app.Version, Revision: revision(),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Contract: contract.Version, OpenCL: gpu.Built,
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	opencl := "built in"
	if !r.OpenCL {
		opencl = "not built in"
	}
	fmt.Fprintf(c.App.Writer, "uma-gpu %s\n", r.Version)
	if r.Revision != "" {
		fmt.Fprintf(c.App.Writer, "revision %s\n", r.Revision)
	}
	fmt.Fprintf(c.App.Writer, "%s %s\nnumerics contract %d\nOpenCL %s\n", r.Go, r.System, r.Contract, opencl)
	return nil
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
