// Package device opens the devices that the flags of a command choose, also for several ranks.
package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Variable of the environment names the device where --device does not.
const Variable = "UMA_GPU_DEVICE"

// Device is where a command will compute.
type Device struct {
	Selection
	Options gpu.Options
	Audit   string // audit.Off, Sample or Full; "" for a sample, unless it is the processor

	Parts     []*Device // of a list of devices, which share the examples
	shares    []int     // of the parts, nil to measure them
	shareList string    // --shares
	Data      string    // hash of the data that it will be used for, as far as it is known
}

// Flags returns the flags of the device. Their checks find it, so that a wrong name is told before
// any file is read.
func (d *Device) Flags() []cli.Flag {
	var name string
	return app.Grouped("Device",
		app.Choice(&d.Audit, "audit", "", "`LEVEL` of checks by another engine: off, sample, full",
			audit.Off, audit.Sample, audit.Full).Unless("sample; off for cpu"),
		app.CheckedFlag{StringFlag: &cli.StringFlag{Name: "device", Value: "auto",
			EnvVars: []string{Variable}, Destination: &name,
			Usage: "`DEVICE` to compute on; uma-gpu devices lists them"},
			Check: func(c *cli.Context) error { return d.choose(c, name) }})
}

// DetailFlags returns further flags of the device.
func (d *Device) DetailFlags() []cli.Flag {
	return app.Grouped("Device",
		&cli.StringFlag{Name: "shares", DefaultText: "measured", Destination: &d.shareList,
			Usage: "`LIST` of how much each of several devices takes, such as 1,8"},
		app.Size(&d.Options.MemoryLimit, "memory-limit", "all there is",
			"`SIZE` of the OpenCL memory to use, such as 2G"),
		app.Size(&d.Options.MaxAlloc, "max-alloc", "the device's limit",
			"`SIZE` of the largest OpenCL allocation, such as 256M"),
		app.Switch(&d.Options.AllowNonconforming, "allow-nonconforming",
			"use a device that fails the self-test; the model says so"))
}

func (d *Device) choose(c *cli.Context, name string) (err error) {
	name = strings.ReplaceAll(name, "{rank}", strconv.Itoa(Launch.Local)) // on its machine
	d.Selection, err = Select(name, gpu.Devices)
	if names := strings.Split(name, "+"); err != nil && len(names) > 1 {
		return d.chooseShards(d.shareList, names)
	}
	if d.shareList != "" {
		return app.Usage("--shares is of several devices, wanted --device with + between them")
	}
	return err
}

// chooseShards finds the devices of a list, which share the examples.
func (d *Device) chooseShards(shares string, names []string) error {
	for _, name := range names {
		s, err := Select(name, gpu.Devices)
		if err == nil && s.Auto {
			err = fmt.Errorf("%w: %q is no device to stand beside others: name one", app.ErrNoSuchDevice,
				name)
		}
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, &Device{Selection: s, Options: d.Options, Audit: d.Audit})
	}
	for _, part := range app.List(shares) {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v < 1 || v > 1000000 {
			return app.Usage("--shares: found %q, wanted whole numbers from 1 to 1000000 with commas "+
				"between", part)
		}
		d.shares = append(d.shares, v)
	}
	if d.shares != nil && len(d.shares) != len(names) {
		return app.Usage("--shares: found %d shares, wanted %d, one for each of the devices of --device",
			len(d.shares), len(names))
	}
	return nil
}

// Selection is what --device stands for.
type Selection struct {
	Try     []gpu.Info // OpenCL devices to open, the first that works is used
	CPU     processor  // the fallback if none works; nil for no fallback
	Auto    bool       // --device names no device
	list    lister     // finds what auto is to try, nil once it is in Try
	Problem error      // why there is nothing to try, if that is worth a word
}

type lister func() ([]gpu.Info, error)

// Look finds the devices that auto tries. It is for work that is worth the time that drivers take.
func (s *Selection) Look() {
	if s.list == nil {
		return
	}
	all, err := s.list()
	s.Try, s.Problem, s.list = slices.Concat(filter(all, IsGPU), filter(all, IsOtherAccelerator)), err,
		nil
	if Launch.Ranks > 1 { // two ranks of a machine would each take all of a device's memory
		s.Try = s.Try[min(Launch.Local, len(s.Try)):min(Launch.Local+1, len(s.Try))]
	}
}

// Foresee asks the drivers in the background, if the file at path is so large that Look will.
func (s *Selection) Foresee(path string) {
	if about, err := os.Stat(path); s.list != nil && err == nil && about.Size() > largeFile {
		go gpu.Devices() // the drivers remember it
	}
}

// largeFile is the size in bytes of a file with too many values for the processor alone.
const largeFile = 4 * ProcessorValues

// processor opens a driver without OpenCL, which cannot fail.
type processor func() engine.Driver

// Processors are these drivers, by their id.
var Processors = []struct {
	id  string
	New processor
}{{"cpu", simd.NewDriver}, {"cpu:plain", plainDriver}}

func plainDriver() engine.Driver { return cpuref.Driver{} }

// Select finds the devices that a name refers to. list lists the OpenCL devices; it is not called
// if the name does not ask for one, and Look calls it for auto. Errors: ErrNoSuchDevice, and errors
// from list.
func Select(name string, list lister) (Selection, error) {
	name = strings.TrimSpace(name)
	keyword := strings.ToLower(name)
	for _, p := range Processors {
		if keyword == p.id {
			return Selection{CPU: p.New}, nil
		}
	}
	if keyword == "auto" || keyword == "" {
		return Selection{CPU: simd.NewDriver, Auto: true, list: list}, nil
	}
	quoted := strconv.Quote(name)
	if strings.TrimSpace(os.Getenv(Variable)) == name {
		quoted += " (" + Variable + ")" // which was not typed
	}
	all, err := list()
	if err != nil {
		return Selection{}, fmt.Errorf("device %s: %w", quoted, err)
	}
	found := matching(keyword, all)
	if len(found) == 1 {
		return Selection{Try: found}, nil
	}
	what := "matches none of the devices"
	if len(found) > 1 {
		what = fmt.Sprintf("is not clear, it matches %d of the devices", len(found))
	}
	var devices strings.Builder
	app.Table(&devices, func(row app.Row) { // into memory
		for _, p := range Processors {
			row("  %s\t%s", p.id, p.New().Device().Name)
		}
		for _, i := range all {
			row("  %s\t%s (%s, %s)", i.ID(), i.Name, i.PlatformName, i.Type)
		}
	})
	return Selection{}, fmt.Errorf("%w: %s %s:\n%s", app.ErrNoSuchDevice, quoted, what,
		strings.TrimRight(devices.String(), "\n"))
}

func IsGPU(i gpu.Info) bool { return strings.Contains(strings.ToUpper(i.Type), "GPU") }

// IsOtherAccelerator reports whether a device is neither a GPU nor the processor, and has memory of
// its own, without which it reads the examples no faster than the processor.
func IsOtherAccelerator(i gpu.Info) bool {
	return !IsGPU(i) && !strings.Contains(strings.ToUpper(i.Type), "CPU") && !i.SharesMemory
}

func filter(all []gpu.Info, keep func(gpu.Info) bool) (kept []gpu.Info) {
	for _, i := range all {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

var exactID = regexp.MustCompile(`^opencl:[0-9]+\.[0-9]+$`)

// matching returns the devices that a lower-case name other than auto and cpu stands for; it is
// clear if there is one.
func matching(name string, all []gpu.Info) []gpu.Info {
	if name == "opencl" {
		if gpus := filter(all, IsGPU); len(gpus) == 1 {
			return gpus
		}
		return all
	}
	if exactID.MatchString(name) {
		return filter(all, func(i gpu.Info) bool { return i.ID() == name })
	}
	// A whole name wins over a part of a longer one.
	whole := filter(all, func(i gpu.Info) bool { return strings.EqualFold(i.Name, name) })
	if len(whole) == 1 {
		return whole
	}
	return filter(all, func(i gpu.Info) bool {
		return strings.Contains(strings.ToLower(i.Name), name) ||
			strings.Contains(strings.ToLower(i.PlatformName), name)
	})
}

// Advise adds to an error that an audit found what to do.
func Advise(err error) error {
	if !errors.Is(err, audit.ErrDiffers) {
		return err
	}
	return fmt.Errorf("%w; the device, its memory or its driver is at fault, and what it has "+
		"computed is of no use: begin again with --device cpu, and trust no checkpoint of this run", err)
}

// audited returns e with the audit that was asked for. The loops that define every result audit the
// processor. The processor audits all others, as it is fast and shares no code with them.
func (d *Device) audited(e engine.Driver) engine.Driver {
	about, level, by := e.Device(), d.Audit, simd.NewDriver()
	if about.Kind == "cpu" && level == "" {
		level = audit.Off
	} else if level == "" {
		level = audit.Sample
	}
	if about.ID == "cpu" {
		by = cpuref.Driver{}
	}
	return audit.Driver(e, by, level)
}

// Work is what a learner will see of the examples. Devices are chosen for it.
type Work struct {
	sparse   bool
	Features int
	Classes  int
	Values   int // stored
}

// WorkOn returns the work on prepared examples in these classes.
func WorkOn(x dataset.Examples, classes int) Work {
	return Work{x.Sparse(), x.D, classes, x.Size()}
}

// Mapped returns the work after a map of n examples to the given number of components.
func (w Work) Mapped(n, components int) Work {
	w.sparse, w.Features, w.Values = false, components, n*components
	return w
}

// WorkOnModel returns the work of scoring prepared examples by a model.
func WorkOnModel(rows dataset.Examples, m *model.Model) Work {
	w := WorkOn(rows, m.Q)
	if m.Projection != nil {
		w = w.Mapped(rows.N, m.D)
	}
	return w
}

// WorkOnComponents returns the work on n examples of the given number of components.
func WorkOnComponents(n, components, classes int) Work {
	return Work{Classes: classes}.Mapped(n, components)
}

// ProcessorValues is how many stored values are too many for auto to stay on the processor. A step
// on fewer is over before a device has been told what to do: on the optical digits (0.25 M values)
// the processor makes ten steps while OpenCL, even with nothing to copy, makes one.
const ProcessorValues = 1 << 20

// processorSuffices reports whether the processor is done before a device has begun.
func (w Work) processorSuffices() bool { return w.Values < ProcessorValues }

// Open opens the device for the work w and says which one it is. The caller closes the engine.
func (d *Device) Open(n app.Notes, w Work) (*engine.Engine, error) {
	driver, err := d.openDriver(n, w)
	if err != nil {
		return nil, err
	}
	return engine.New(driver), nil
}

func (d *Device) openDriver(n app.Notes, w Work) (joined engine.Driver, err error) {
	parts := d.Parts
	if parts == nil {
		if Launch.Ranks == 1 {
			return d.openOne(n, w)
		}
		parts = []*Device{d}
	}
	var drivers []engine.Driver
	defer func() {
		if err != nil {
			for _, e := range drivers {
				err = errors.Join(err, e.Close())
			}
		}
	}()
	for _, part := range parts {
		e, err := part.openOne(n, w)
		if err != nil {
			return nil, err
		}
		drivers = append(drivers, e)
	}
	shares := d.shares
	if shares == nil && !w.processorSuffices() {
		shares, err = shard.Measure(drivers, w.Features, w.Classes, w.Values, w.sparse)
		if err != nil {
			return nil, err
		}
	}
	if Launch.Ranks > 1 {
		n.Say("rank %d of %d", Launch.Rank, Launch.Ranks)
		if err := JoinWorld(); err != nil {
			return nil, err
		}
		if err := agree(fmt.Sprint(d.Data, w)); err != nil {
			return nil, err
		}
		return shard.Ranks(context.Background(), World, drivers, shares)
	}
	if joined, err = shard.New(drivers, shares); err == nil {
		n.Say("shares of the examples: %s", SharesText(drivers, shares))
	}
	return joined, err
}

// openOne is openDriver for a device that is not a list, of a process by itself.
func (d *Device) openOne(n app.Notes, w Work) (engine.Driver, error) {
	var try []gpu.Info
	if !d.Auto || !w.processorSuffices() {
		if d.Look(); d.Problem != nil {
			n.Warn("no OpenCL device, computing on the processor instead: %v", d.Problem)
		}
		try = d.Try
	}
	for _, i := range try {
		e, err := gpu.OpenDriver(i, d.Options)
		if err == nil {
			about := e.Device()
			n.Say("device: %s %s (%s, driver %s)", about.ID, about.Name, about.Platform, about.Driver)
			if !about.Conforming {
				n.Warn("%s fails the self-test; its weights may differ from other devices'", about.ID)
			}
			return d.audited(e), nil
		}
		if d.CPU == nil {
			return nil, app.AdviseMemory(err)
		}
		n.Warn("this device is passed over: %v", err)
	}
	e := d.CPU()
	n.Say("device: %s %s", e.Device().ID, e.Device().Name)
	return d.audited(e), nil
}

// SharesText returns the share of each driver; nil shares are equal.
func SharesText(drivers []engine.Driver, shares []int) string {
	if shares == nil {
		shares = slices.Repeat([]int{1}, len(drivers))
	}
	total, texts := 0, make([]string, len(drivers))
	for _, share := range shares {
		total += share
	}
	for i, e := range drivers {
		texts[i] = fmt.Sprintf("%s %.3g %%", e.Device().ID, 100*float64(shares[i])/float64(total))
	}
	return strings.Join(texts, ", ")
}
