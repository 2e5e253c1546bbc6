// Package devices is the command that lists and tests devices.
package devices

import (
	"context"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// Options are the flags of the command.
type Options struct {
	app.Common
	Test bool
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "devices",
		Usage: "list the processor and the OpenCL devices, and test them",
		Description: `Every device is opened and runs the self-test: known answers, all bits compared. The
other commands refuse a device that fails. --test also measures the speed.

Their --device takes an id of this list, a part of a name, opencl (the only GPU, or only device), or
auto: for much data the first GPU or other accelerator with memory of its own, else cpu. cpu is the
processor without OpenCL; cpu:plain computes by the loops that define every result, slowly.

Several devices, such as cpu+opencl:0.0, compute together: each takes a share of the examples, by
measured speeds. The weights are the same.

More examples than --max-alloc holds are cut in tiles. Examples that do not fit in --memory-limit
stay in host memory and are streamed. Both sizes are for each device: bytes, or K,
M and G of them, powers of 1024.

--audit finds bits that a device, its memory or its driver got wrong, by computing once more on the
processor. sample audits as often as two hundredths of the time allow, and the last result of each
training; full audits everything. A difference is an error, and no model is written. cpu is audited
by cpu:plain.

Example: uma-gpu devices`,
		Flags: app.Flags(o.JSONFlag(),
			app.Switch(&o.Test, "test", "measure how many examples of 784 features a device evaluates")),
		Action: app.Action(o, run),
	}
}

// Passed is the verdict on a device that keeps the contract.
const Passed = "passed"

// DeviceEntry is one device of the list.
type DeviceEntry struct {
	ID           string `json:"id"`
	Kind         string `json:"kind"`
	Name         string `json:"name"`
	ComputeUnits int    `json:"compute_units"`
	SelfTest     string `json:"self_test"` // passed, or what went wrong
	// Speed is the number of examples of 784 features and 10 classes evaluated in a second; 0 if it is
	// not measured.
	Speed float64 `json:"examples_per_second,omitempty"`

	*gpu.Info // nil for the processor; its fields stand beside the others
}

type DeviceListing struct {
	Devices     []DeviceEntry `json:"devices"`
	OpenCLError string        `json:"opencl_error,omitempty"`
}

// Run opens all devices, which runs their self-test, and prints them. The end of ctx ends it at
// once, though a driver hangs: the process ends with it.
func Run(ctx context.Context, o *Options) error {
	listed := make(chan DeviceListing, 1)
	go func() { listed <- o.list() }()
	select {
	case <-ctx.Done():
		return app.Interrupted(ctx)
	case l := <-listed:
		return o.PrintTable(l, l.rows)
	}
}

// list opens all devices.
func (o *Options) list() (l DeviceListing) {
	add := func(e DeviceEntry, d engine.Driver, err error) {
		if err == nil && o.Test {
			e.Speed, err = speed(d)
		}
		if err == nil {
			err = d.Close()
		}
		if e.SelfTest = Passed; err != nil {
			e.SelfTest = err.Error()
		}
		l.Devices = append(l.Devices, e)
	}
	for _, p := range app.Processors {
		cpu := p.New()
		about := cpu.Device()
		add(DeviceEntry{ID: about.ID, Kind: about.Kind, Name: about.Name,
			ComputeUnits: runtime.GOMAXPROCS(0)}, cpu, engine.SelfTest(engine.New(cpu)))
	}
	infos, err := gpu.Devices()
	if err != nil {
		l.OpenCLError = err.Error()
		o.Notes.Say("OpenCL: %v", err)
	}
	for _, i := range infos {
		d, err := gpu.OpenDriver(i, gpu.Options{})
		add(DeviceEntry{ID: i.ID(), Kind: "opencl", Name: i.Name, ComputeUnits: i.ComputeUnits,
			Info: &i}, d, err)
	}
	return l
}

// speed measures how many examples a driver evaluates in a second.
func speed(d engine.Driver) (float64, error) {
	const features, classes, values = 784, 10, 1 << 23
	shares, err := shard.Measure([]engine.Driver{d}, features, classes, values)
	if err != nil {
		return 0, err
	}
	return shard.ShareValues * float64(shares[0]) / features, nil
}

func (l DeviceListing) rows(row app.Row) {
	row("id\tdevice\tplatform\tdriver\ttype\tunits\tmemory\tlargest allocation\tself-test")
	for _, d := range l.Devices {
		about := gpu.Info{PlatformName: "-", Driver: "-", Type: "-"}
		memory, most := "-", "-"
		if d.Info != nil {
			about, memory, most = *d.Info, app.BytesText(d.Memory), app.BytesText(d.MaxAlloc)
		}
		row("%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s", d.ID, d.Name, about.PlatformName, about.Driver,
			about.Type, d.ComputeUnits, memory, most, d.SelfTest)
	}
	for _, d := range l.Devices {
		if d.Speed > 0 {
			row("%s evaluates %.3g examples of 784 features and 10 classes in a second", d.ID, d.Speed)
		}
	}
}
