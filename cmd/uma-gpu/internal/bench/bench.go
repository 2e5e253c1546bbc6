// Package bench is the command that measures how fast devices train.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/internal/timing"
	"github.com/uma-gpu/uma-gpu/learners"
)

const defaultSynthetic = "60000,784,10"

func New() *cli.Command {
	flags := []cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "data",
			Usage: "examples with right labels: `FILE`, or - for standard input"}},
		&cli.StringFlag{Name: "synthetic", DefaultText: defaultSynthetic,
			Usage: "`N,D,Q`: examples, features, classes, if there is no --data"},
	}
	flags = append(flags, app.DataFlags("")[1:]...) // --data is not required here
	flags = append(flags, &cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage},
		app.SeedFlag(nil, "synthetic examples and label noise"),
		&cli.IntFlag{Name: "steps", Value: 200, Usage: "length of a training run in `STEPS`"},
		&cli.IntFlag{Name: "repeat", Value: 5, Usage: "measure everything `R` times, and print medians"},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "profile",
			Usage: "also write the last run's spans to `FILE`.json, for ui.perfetto.dev"}})
	flags = append(append(flags, training.LearnerFlags()...), slices.DeleteFunc(device.Flags(),
		func(f cli.Flag) bool {
			return f.Names()[0] == "audit" // what is measured is the device alone
		})...)
	return &cli.Command{
		Name:  "bench",
		Usage: "measure what training takes on a device, beside the bandwidth of its memory",
		Description: "Corrupts 40 % of the labels, each class to the next, makes runs with that C, and " +
			"then calls each\n" +
			"operation by itself, with weights of a run. Bandwidth is measured in between: reading by " +
			"all\n" +
			"processors for the processor and OpenCL devices that run on it, a copy on the device for " +
			"others. GB\nare 10^9 bytes of examples that are read, as the engine counts them, or as an " +
			"operation has " +
			"to read\nwhere it does not count; - is what is not counted.\n\n" +
			"Example: uma-gpu bench --synthetic 60000,784,10 --device opencl --profile trace.json",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: bench,
	}
}

// benchmark is what the flags of bench ask for.
type benchmark struct {
	data          string // "" is synthetic
	options       file.Options
	n, d, q       int // of synthetic data
	normalize     string
	seed          uint64
	steps, repeat int
	profile       string
	learner       learners.Params
	device        *device.Device
	notes         app.Notes
}

func bench(c *cli.Context) (err error) {
	b, err := newBenchmark(c)
	if err != nil {
		return err
	}
	start := time.Now()
	ctx := c.Context
	s := timing.Setup{Steps: b.steps, Repeat: b.repeat, Trace: &timing.Trace{}, Say: b.notes.Say}
	r := BenchReport{Repeat: b.repeat}
	if r.Data, err = b.examples(ctx, &s); err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if b.profile != "" {
		b.device.Options.Trace = s.Trace.Track("kernels")
	}
	if s.Engine, err = b.device.Open(b.notes, device.WorkOn(s.X, r.Data.Classes)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Engine.Close()) }()
	r.Device = s.Engine.Device()
	r.BandwidthName, s.Bandwidth = bandwidth(b.device, s.Engine)
	if r.Report, err = timing.Measure(ctx, s); err != nil {
		if stopped := app.Interrupted(ctx); stopped != nil {
			return stopped
		}
		return app.AdviseMemory(err)
	}
	if b.profile != "" {
		if err := atomicfile.Write(b.profile, s.Trace.Write); err != nil {
			return err
		}
		b.notes.Say("profile of the last run written to %s", b.profile)
	}
	r.Seconds = time.Since(start).Seconds()
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	return r.print(c.App.Writer)
}

// newBenchmark checks all that can be checked before a file is read.
func newBenchmark(c *cli.Context) (*benchmark, error) {
	if err := app.CheckUsage(c); err != nil {
		return nil, err
	}
	b := &benchmark{
		data: c.String("data"), normalize: c.String("normalize"), seed: c.Uint64("seed"),
		steps: c.Int("steps"), repeat: c.Int("repeat"), profile: c.String("profile"),
		notes: app.NewNotes(c),
	}
	for _, name := range []string{"steps", "repeat"} {
		if value := c.Int(name); value < 1 {
			return nil, app.Usagef(c, "--%s is %d, wanted at least 1", name, value)
		}
	}
	synthetic := c.String("synthetic")
	if b.data != "" && synthetic != "" {
		return nil, app.Usagef(c, "--data and --synthetic exclude each other")
	}
	var err error
	if b.data == "" {
		if synthetic == "" {
			synthetic = defaultSynthetic
		}
		if b.n, b.d, b.q, err = parseShape(synthetic); err != nil {
			return nil, app.Usagef(c, "--synthetic: %v", err)
		}
	}
	if b.options, err = app.DataOptions(c); err != nil {
		return nil, err
	}
	if b.normalize != "auto" {
		if _, err := dataset.ParseSteps(b.normalize); err != nil {
			return nil, app.Usagef(c, "--normalize: %v", err)
		}
	}
	if b.learner, err = training.ChooseLearner(c, nil); err != nil {
		return nil, err
	}
	if b.device, err = device.Choose(c); err != nil {
		return nil, err
	}
	b.device.Audit = audit.Off
	if b.profile == "" {
		return b, nil
	}
	return b, nil
}

// parseShape reads N,D,Q.
func parseShape(text string) (n, d, q int, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return 0, 0, 0, fmt.Errorf("found %q, wanted N,D,Q such as %s", text, defaultSynthetic)
	}
	for k, part := range []struct {
		to    *int
		what  string
		least int
	}{{&n, "examples", 1}, {&d, "features", 1}, {&q, "classes", 2}} {
		if *part.to, err = app.ParseCount(parts[k]); err != nil || *part.to < part.least {
			return 0, 0, 0, fmt.Errorf("found %q for the %s, wanted a number of at least %d", parts[k],
				part.what, part.least)
		}
	}
	return n, d, q, nil
}

// noise is the rate of the labels that are corrupted.
const noise = 0.4

// examples reads or makes the examples, prepares them and corrupts their labels.
func (b *benchmark) examples(ctx context.Context, s *timing.Setup) (about benchData, err error) {
	var d *dataset.Dataset
	if b.data != "" {
		if d, err = app.ReadData(ctx, b.data, b.options, b.notes); err != nil {
			return about, err
		}
	} else {
		d = &dataset.Dataset{Examples: dataset.Examples{N: b.n, D: b.d}}
		d.X, d.Y, err = synth.Generate(ctx, b.n, b.d, b.q, b.seed)
		if stopped := app.Interrupted(ctx); stopped != nil {
			err = stopped
		}
		if err != nil {
			return about, err
		}
		if d.Classes, err = app.ClassNames(b.q); err != nil {
			return about, err
		}
	}
	var how []dataset.Memory
	if b.options.Storage != "dense" && b.device.WantsNarrow(d) { // dense asks for float32
		how = append(how, dataset.WithCodes)
	}
	if err := host.Prepare(d, b.normalize, false, how...); err != nil {
		return about, err
	}
	if err := d.CheckNarrow(); err != nil {
		return about, err
	}
	s.X = d.Stored()
	c, err := confusion.Pairwise(d.Classes, noise)
	if err != nil {
		return about, err
	}
	if s.Y, err = c.Inject(d.Y, b.seed); err != nil {
		return about, err
	}
	s.Noise, s.Learner = c, b.learner
	about = benchData{Source: b.data, Examples: s.X.N, Features: s.X.D, Classes: len(d.Classes),
		Storage: "dense"}
	if b.data == "" {
		about.Source = "synthetic"
	}
	if s.X.Sparse() {
		about.Storage = "sparse"
	}
	return about, nil
}

// BandwidthBytes is how much memory the bandwidth is measured on; tests, which do not judge it,
// set less.
var BandwidthBytes = timing.BandwidthBytes

// bandwidth names and measures that of the device that was opened.
func bandwidth(d *device.Device, e engine.Engine) (name string,
	measure func() (bytesPerSecond float64, err error)) {
	for _, i := range d.Try {
		if i.ID() == e.Device().ID && !strings.Contains(i.Type, "CPU") {
			if own, ok := e.(timing.Copier); ok {
				return "copy bandwidth", own.CopyBandwidth
			}
		}
	}
	return "read bandwidth", func() (float64, error) {
		return timing.ReadBandwidth(BandwidthBytes),
			nil
	}
}
