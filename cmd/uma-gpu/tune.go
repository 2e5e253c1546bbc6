package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/timing"
	"github.com/uma-gpu/uma-gpu/internal/tuned"
)

func tuneCommand() *cli.Command {
	flags := []cli.Flag{
		inputFlag{&cli.StringFlag{Name: "data", Usage: "examples with right labels: `FILE`, or - for standard input"}},
		&cli.IntFlag{Name: "examples", Value: 60000, Usage: "make `N` synthetic examples, if there is no --data"},
		&cli.IntFlag{Name: "features", Value: 784, Usage: "number `D` of features of synthetic examples"},
		&cli.IntFlag{Name: "classes", Value: 10, Usage: "number `Q` of classes of synthetic examples"},
	}
	flags = append(flags, dataFlags("")[1:]...) // --data is not required here
	flags = append(flags,
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: normalizeUsage},
		seedFlag("synthetic examples and label noise"),
		&cli.IntFlag{Name: "repeat", Value: 5, Usage: "measure everything `R` times, or for as many tenths of a second"},
		&cli.BoolFlag{Name: "dry-run", Usage: "measure, but store nothing"},
		&cli.BoolFlag{Name: "forget", Usage: "remove what was stored, for all devices, instead of measuring"},
	)
	flags = append(flags, slices.DeleteFunc(deviceFlags(), func(f cli.Flag) bool {
		return slices.Contains([]string{"no-tuning", "shares", "audit"}, f.Names()[0])
	})...)
	return &cli.Command{
		Name:  "tune",
		Usage: "find out how an OpenCL device divides its work best, and remember it",
		Description: "Tries other sizes of work-groups and shares of work, one after the other, on steps of training\n" +
			"with 40 % of the labels corrupted. What differs from the default in a single bit is rejected; what is\n" +
			"faster is kept. It is used from then on for examples of about this shape, on this device, as long as\n" +
			"driver and kernels are the same. Weights do not depend on it. It is stored in uma-gpu/tuning.json in\n" +
			"your cache folder, or in the file that " + tuned.PathVariable + " names.\n\n" +
			"Example: uma-gpu tune --device opencl --examples 60000 --features 784 --classes 10",
		Flags:  append(flags, jsonFlag(), quietFlag()),
		Action: tune,
	}
}

// tunedBytes are enough examples, in bytes: more of them take their time from memory
// as these do.
const tunedBytes = 256 << 20

// tuneReport is what tune --json prints.
type tuneReport struct {
	gpu.TuneReport
	Data    benchData `json:"data"`            // all of it
	Shape   string    `json:"shape"`           // class of shapes that the tuning is for
	Table   string    `json:"table,omitempty"` // where it was stored
	Seconds float64   `json:"seconds"`
}

func tune(c *cli.Context) error {
	start := time.Now()
	b, path, err := newTuning(c)
	if err != nil {
		return err
	}
	if c.Bool("forget") {
		entries, err := tuned.Forget(path)
		if err == nil {
			b.notes.say("forgot %d tunings of %s", entries, path)
		}
		return err
	}
	var s timing.Setup
	var r tuneReport
	if r.Data, err = b.examples(c.Context, &s); err != nil {
		return err
	}
	if err := interrupted(c.Context); err != nil {
		return err
	}
	i, classes := b.device.try[0], r.Data.Classes
	r.Shape = workOn(s.X, classes).shape()
	key, err := tuned.NewKey(i, r.Shape)
	if err != nil {
		return err
	}
	inverse, err := s.Noise.Invert()
	if err != nil {
		return err
	}
	x := firstExamples(s.X.Examples, tunedBytes)
	b.notes.say("device: %s %s (%s, driver %s)", i.ID(), i.Name, i.PlatformName, i.Driver)
	b.notes.say("shape: %s; measured on %d of %d examples", r.Shape, x.N, s.X.N)
	r.TuneReport, err = gpu.Tune(c.Context, i, b.device.options, gpu.Problem{
		X: x, Y: s.Y[:x.N], Classes: classes, Inverse: inverse.Float32(), Repeat: b.repeat,
		Say: b.notes.say,
	})
	if stopped := interrupted(c.Context); stopped != nil {
		return stopped
	}
	if err != nil {
		return adviseMemory(err)
	}
	entry := tuned.Entry{Key: key, Tuning: r.Best, Ratio: r.Ratio, Date: time.Now().UTC().Truncate(time.Second)}
	if r.Best == r.Default {
		entry.Tuning = gpu.Tuning{} // whatever it may be in later versions
	}
	if !c.Bool("dry-run") {
		if err := tuned.Store(path, entry); err != nil {
			return err
		}
		r.Table = path
	}
	r.Seconds = time.Since(start).Seconds()
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	return r.print(c.App.Writer)
}

// newTuning checks all that can be checked before a file is read. path is that of the
// table.
func newTuning(c *cli.Context) (b *benchmark, path string, err error) {
	if err := checkUsage(c); err != nil {
		return nil, "", err
	}
	b = &benchmark{
		data: c.String("data"), normalize: c.String("normalize"), seed: c.Uint64("seed"),
		repeat: c.Int("repeat"), notes: newNotes(c),
		n: c.Int("examples"), d: c.Int("features"), q: c.Int("classes"),
	}
	for _, f := range []struct {
		name         string
		value, least int
	}{{"examples", b.n, 1}, {"features", b.d, 1}, {"classes", b.q, 2}, {"repeat", b.repeat, 1}} {
		if f.value < f.least {
			return nil, "", usagef(c, "--%s is %d, wanted at least %d", f.name, f.value, f.least)
		}
		if f.name != "repeat" && b.data != "" && c.IsSet(f.name) {
			return nil, "", usagef(c, "--data and --%s exclude each other", f.name)
		}
	}
	if b.options, err = dataOptions(c); err != nil {
		return nil, "", err
	}
	if b.normalize != "auto" {
		if _, err := dataset.ParseSteps(b.normalize); err != nil {
			return nil, "", usagef(c, "--normalize: %v", err)
		}
	}
	if path, err = tuned.Path(); err != nil && !c.Bool("dry-run") {
		return nil, "", err
	}
	if c.Bool("forget") {
		return b, path, nil
	}
	if !c.Bool("dry-run") {
		if _, err := tuned.Read(path); err != nil { // Store would refuse it, minutes later
			return nil, "", err
		}
	}
	if b.device, err = chooseDevice(c); err != nil {
		return nil, "", err
	}
	if b.device.look(); len(b.device.try) == 0 {
		err = fmt.Errorf("%w: tune wants an OpenCL device, and auto leaves out those that are the processor: "+
			"name one with --device", errNoSuchDevice)
		if b.device.problem != nil {
			err = fmt.Errorf("%w: %w", err, b.device.problem)
		}
		return nil, "", err
	}
	// Synthetic examples beyond those that are measured are not worth the making.
	b.n = min(b.n, max(1, tunedBytes/4/b.d))
	return b, path, nil
}

func (r tuneReport) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "parameter\tvalue\tms a step\twith bounds\tof the time\tverdict\t\n")
	ms := func(seconds *float64) string {
		if seconds == nil {
			return "-"
		}
		return milliseconds(*seconds)
	}
	for _, c := range r.Candidates {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t\n", c.Parameter, c.Value, ms(c.Seconds), ms(c.Bounded),
			optional(c.Ratio, "%.3f"), c.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range r.Candidates {
		if c.Reason != "" {
			fmt.Fprintf(w, "\n%s\n", c)
		}
	}
	if r.Best == r.Default {
		fmt.Fprintf(w, "\nNothing is faster than the default: %+v\n", r.Default)
	} else {
		fmt.Fprintf(w, "\nBest: %+v\ntakes %.3f of the time of the default: %+v\n", r.Best, r.Ratio, r.Default)
	}
	if r.Table == "" {
		_, err := fmt.Fprintln(w, "Nothing was stored.")
		return err
	}
	_, err := fmt.Fprintf(w, "Stored for %s in %s\n", r.Shape, r.Table)
	return err
}
