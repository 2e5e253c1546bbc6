package app

// This file is for the commands that still look flags up by name. It goes with the last of them.

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// CommonOf returns the common options of a command line, and Fill sets options from it.
func CommonOf(c *cli.Context) *Common {
	o := new(Common)
	o.start(c)
	return o
}

// Fill sets the destinations of these flags to what the command line has for their names.
func Fill(c *cli.Context, flags []cli.Flag) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	for _, f := range flags {
		name := f.Names()[0]
		if err := f.Apply(set); err == nil && c.IsSet(name) {
			set.Set(name, fmt.Sprint(c.Value(name))) // it was parsed before
		}
	}
}

// CheckUsage makes sure that the named flags are given, and no arguments.
func CheckUsage(c *cli.Context, required ...string) error {
	if c.Args().Present() {
		return Usagef(c, "unexpected argument %q", c.Args().First())
	}
	for _, name := range required {
		if c.String(name) == "" {
			return OfCommand(c, Missing(name))
		}
	}
	return nil
}

// OneOf returns the value of a flag that has only these values.
func OneOf(c *cli.Context, name string, allowed ...string) (string, error) {
	value := c.String(name)
	if !slices.Contains(allowed, value) {
		return "", OfCommand(c, NotAllowed(name, value, allowed...))
	}
	return value, nil
}

// Usagef returns a usage error of the command that c runs.
func Usagef(c *cli.Context, format string, args ...any) error {
	usage := &UsageError{Problem: fmt.Sprintf(format, args...), Command: c.Command.HelpName}
	if m := listsWords.FindStringSubmatch(usage.Problem); m != nil {
		usage.Got, usage.Allowed = m[1], strings.Split(strings.ReplaceAll(m[2], " or ", ", "), ", ")
	}
	return usage
}

// listsWords finds a word in a message, and the list of words at its end.
var listsWords = regexp.MustCompile(`"([^"]+)"[^"]*\b(?:use|wanted) ([^"]*)$`)

// NewNotes returns the notes of a command line.
func NewNotes(c *cli.Context) Notes { return Notes{c.App.ErrWriter, c.Bool("quiet")} }

// JSONFlag is Common.JSONFlag by name.
func JSONFlag() cli.Flag { return new(Common).JSONFlag() }

// QuietFlag is Common.QuietFlag by name.
func QuietFlag() cli.Flag { return new(Common).QuietFlag() }

// DataFlags is Data.Flags by name.
func DataFlags(usage string) []cli.Flag { return new(Data).Flags(new(Common), usage) }

// DataOf returns the options of the data on a command line.
func DataOf(c *cli.Context) *Data {
	d := new(Data)
	Fill(c, append(d.Flags(CommonOf(c), ""), d.NoLabelsFlag()))
	return d
}

// DataOptions is Data.Options, with labels.
func DataOptions(c *cli.Context) (file.Options, error) {
	o, err := WholeOptions(c)
	o.NoLabels = false
	return o, err
}

// WholeOptions is Data.Options.
func WholeOptions(c *cli.Context) (file.Options, error) {
	d := DataOf(c)
	if d.Path == "" {
		d.Path = "-" // not needed, and no part of the options
	}
	o, err := d.Options()
	return o, OfCommand(c, err)
}

// AxesFlag is Noise.AxesFlag by name.
func AxesFlag() cli.Flag { return new(Noise).AxesFlag() }

// TrueRows reports whether the file of a confusion matrix has true rows.
func TrueRows(c *cli.Context) (bool, error) { return c.String("confusion-axes") == InTrueRows, nil }

// PrintedAxes returns the value of --axes.
func PrintedAxes(c *cli.Context) (string, error) { return c.String("axes"), nil }

// NormalizeSteps returns the value of --normalize.
func NormalizeSteps(c *cli.Context) (string, error) {
	return c.String("normalize"), OfCommand(c, CheckSteps(c.String("normalize")))
}

// ModelFlag is Model.Flag by name, and not required.
func ModelFlag() cli.Flag {
	f := new(Model).Flag()
	*required(f) = false
	return f
}

// MatchFlag is Model.MatchFlag by name.
func MatchFlag() cli.Flag { return new(Model).MatchFlag() }

// ReadFor is Model.Read; a training that is resumed may be given the flags of its columns again.
func ReadFor(c *cli.Context, o file.Options, f model.Features, n Notes,
) (*dataset.Dataset, error) {
	if err := AsModel(c, &o, f); err != nil {
		return nil, err
	}
	m := &Model{Match: c.String("match-features")}
	return m.read(c.Context, DataOf(c), o, f)
}

// AsModel is Data.AsModel; a training that is resumed may be given the flags of its columns again.
func AsModel(c *cli.Context, o *file.Options, f model.Features) error {
	d := DataOf(c)
	if Visible(c, "resume") {
		d.common.given = nil
	}
	return OfCommand(c, d.AsModel(o, f))
}

// Visible reports whether a flag is the command's own, and not one of a learner.
func Visible(c *cli.Context, name string) bool {
	return slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool {
		v, ok := f.(cli.VisibleFlag)
		return ok && f.Names()[0] == name && v.IsVisible()
	})
}

// KernelFlags is Kernel.Flags by name.
func KernelFlags() []cli.Flag { return new(Kernel).Flags(nil) }

// TrainKernelFlags is Kernel.TrainFlags by name.
func TrainKernelFlags() []cli.Flag { return new(Kernel).TrainFlags(nil) }

// KernelOf returns the options of the kernel on a command line.
func KernelOf(c *cli.Context) *Kernel {
	k := new(Kernel)
	Fill(c, k.TrainFlags(CommonOf(c)))
	return k
}

// NewTrainKernel is Kernel.TrainKernel.
func NewTrainKernel(c *cli.Context) (*fitting.Options, error) {
	k, err := KernelOf(c).TrainKernel()
	return k, OfCommand(c, err)
}

// CheckFormat is Data.CheckOutput.
func CheckFormat(c *cli.Context, out string) error {
	return OfCommand(c, checkFormat(out, c.Bool("no-labels")))
}

// CheckDeclared checks the flags of a command line that Mend has not seen.
func CheckDeclared(c *cli.Context) error { return OfCommand(c, checkFlags(c, nil)) }
