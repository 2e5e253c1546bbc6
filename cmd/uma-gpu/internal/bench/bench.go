// Package bench is the command that measures how fast devices train.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/internal/timing"
)

const defaultSynthetic = "60000,784,10"

type Options struct {
	training.Options
	Synthetic     string
	Steps, Repeat int
	Profile       string

	n, d, q int // of synthetic data
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "bench",
		Usage: "measure what training takes on a device, beside the bandwidth of its memory",
		Description: `Corrupts 40 % of the labels, each class to the next, and makes runs with that C. Then it calls each
operation by itself, with weights of a run. Bandwidth is measured in between: reading by all
processors for the processor and OpenCL devices that run on it, a copy on the device for others. GB
are 10^9 bytes of examples that are read, as the engine counts them, or as an operation has to read
where it does not count. - is what is not counted.

Example: uma-gpu bench --synthetic 60000,784,10 --device opencl --profile trace.json`,
		Flags: app.Flags(
			app.Input(&o.Data.Path, "data", "examples with right labels: `FILE`, or - for standard input"),
			&cli.StringFlag{Name: "synthetic", DefaultText: defaultSynthetic, Destination: &o.Synthetic,
				Usage: "`N,D,Q`: examples, features, classes, if there is no --data"},
			o.Data.FormatFlags(&o.Common), o.NormalizeFlag(),
			app.SeedFlag(&o.Train.Seed, "synthetic examples and label noise"),
			app.Count(&o.Steps, "steps", 200, 1, math.MaxInt, "length of a training run in `STEPS`"),
			app.Count(&o.Repeat, "repeat", 5, 1, math.MaxInt,
				"measure everything `R` times, and print medians"),
			app.Output(&o.Profile, "profile",
				"also write the last run's spans to `FILE`.json, for ui.perfetto.dev"),
			o.Learner.Flags(&o.Common),
			app.Without(o.Device.Flags(), "audit"), // what is measured is the device alone
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run measures.
func Run(ctx context.Context, o *Options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	start := time.Now()
	s := timing.Setup{Steps: o.Steps, Repeat: o.Repeat, Trace: &timing.Trace{}, Say: o.Notes.Say}
	r := Report{Repeat: o.Repeat}
	if r.Data, err = o.examples(ctx, &s); err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if o.Profile != "" {
		o.Device.Options.Trace = s.Trace.Track("kernels")
	}
	if s.Engine, err = o.Device.Open(o.Notes, device.WorkOn(s.X, r.Data.Classes)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Engine.Close()) }()
	r.Device = s.Engine.Device()
	r.BandwidthName, s.Bandwidth = bandwidth(&o.Device, s.Engine)
	if r.Report, err = timing.Measure(ctx, s); err != nil {
		if stopped := app.Interrupted(ctx); stopped != nil {
			return stopped
		}
		return app.AdviseMemory(err)
	}
	if o.Profile != "" {
		if err := atomicfile.Write(o.Profile, s.Trace.Write); err != nil {
			return err
		}
		o.Notes.Say("profile of the last run written to %s", o.Profile)
	}
	r.Seconds = time.Since(start).Seconds()
	return o.Print(r, r.text)
}

// check checks all that can be checked before a file is read.
func (o *Options) check() (err error) {
	if o.Data.Path != "" && o.Synthetic != "" {
		return app.Usage("--data and --synthetic exclude each other")
	}
	if o.Read = o.Data.Options(); o.Data.Path == "" {
		o.n, o.d, o.q, err = parseShape(cmp.Or(o.Synthetic, defaultSynthetic))
		if err != nil {
			return app.Usage("--synthetic: %v", err)
		}
	}
	o.Device.Audit = audit.Off
	o.Train.Learner, err = o.Learner.Choose(nil)
	return err
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
func (o *Options) examples(ctx context.Context, s *timing.Setup) (about benchData, err error) {
	var d *dataset.Dataset
	if o.Data.Path != "" {
		if d, err = o.Data.Read(ctx, o.Read); err != nil {
			return about, err
		}
	} else {
		d = &dataset.Dataset{Examples: dataset.Examples{N: o.n, D: o.d}}
		d.X, d.Y, err = synth.Generate(ctx, o.n, o.d, o.q, o.Train.Seed)
		if stopped := app.Interrupted(ctx); stopped != nil {
			err = stopped
		}
		if err != nil {
			return about, err
		}
		if d.Classes, err = app.ClassNames(o.q); err != nil {
			return about, err
		}
	}
	var how []dataset.Memory
	if o.Data.Storage != "dense" && o.Device.WantsNarrow(d) { // dense asks for float32
		how = append(how, dataset.WithCodes)
	}
	if err := host.Prepare(d, o.Train.Preparation, false, how...); err != nil {
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
	if s.Y, err = c.Inject(d.Y, o.Train.Seed); err != nil {
		return about, err
	}
	s.Noise, s.Learner = c, o.Train.Learner
	about = benchData{Source: o.Data.Path, Examples: s.X.N, Features: s.X.D, Classes: len(d.Classes),
		Storage: "dense"}
	if o.Data.Path == "" {
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
		return timing.ReadBandwidth(BandwidthBytes), nil
	}
}
