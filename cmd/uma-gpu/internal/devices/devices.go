// Package devices is the command that lists and tests devices.
package devices

import (
	"cmp"
	"context"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func New(run func(context.Context, *app.Common) error) *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:  "devices",
		Usage: "list the processor and the OpenCL devices, and test them",
		Description: `Every device is opened and runs the self-test: known answers, all bits compared. The
other commands refuse a device that fails, unless they are told --allow-nonconforming; its weights
may differ from those of other devices.

Their --device takes an id of this list, a part of a name, opencl (the only GPU, or only device), or
auto: for much data the first GPU or other accelerator with memory of its own, else cpu. cpu is the
processor without OpenCL; cpu:plain computes by the loops that define every result, slowly.

Several devices, such as cpu+opencl:0.0, compute together: each takes a share of the examples, by
measured speeds, or by --shares, such as 1,8. The weights are the same.

More examples than --max-alloc holds are cut in tiles. Examples that do not fit in --memory-limit
stay in host memory and are streamed, or used in place. Both sizes are for each device: bytes, or K,
M and G of them, powers of 1024.

--audit finds bits that a device, its memory or its driver got wrong, by computing once more on the
processor. sample audits as often as two hundredths of the time allow, and the last result of each
training; full audits everything. A difference is an error, and no model is written. cpu is audited
by cpu:plain.

Example: uma-gpu devices`,
		Flags:  app.Flags(o.JSONFlag()),
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

	*gpu.Info // nil for the processor; its fields stand beside the others
}

type DeviceListing struct {
	Devices     []DeviceEntry `json:"devices"`
	OpenCLError string        `json:"opencl_error,omitempty"`
}

// Run prints the list.
func Run(_ context.Context, o *app.Common) error {
	listing := Test(o.Notes)
	return o.PrintTable(listing, listing.rows)
}

// Test opens all devices, which runs their self-test.
func Test(n app.Notes) (listing DeviceListing) {
	for _, p := range device.Processors {
		cpu := engine.New(p.New())
		about := cpu.Device()
		listing.Devices = append(listing.Devices, DeviceEntry{
			ID: about.ID, Kind: about.Kind, Name: about.Name,
			ComputeUnits: runtime.GOMAXPROCS(0), SelfTest: verdict(engine.SelfTest(cpu)),
		})
	}
	infos, listErr := gpu.Devices()
	if listErr != nil {
		listing.OpenCLError = listErr.Error()
		n.Say("OpenCL: %v", listErr)
	}
	for _, i := range infos {
		e, err := gpu.Open(i, gpu.Options{})
		if err == nil {
			err = e.Close()
		}
		listing.Devices = append(listing.Devices, DeviceEntry{
			ID: i.ID(), Kind: "opencl", Name: i.Name,
			ComputeUnits: i.ComputeUnits, SelfTest: verdict(err), Info: &i,
		})
	}
	return listing
}

func verdict(err error) string {
	if err != nil {
		return err.Error()
	}
	return Passed
}

func (l DeviceListing) rows(row app.Row) {
	row("id\tdevice\tplatform\tdriver\ttype\tunits\tmemory\tlargest allocation\tfloat32\tself-test")
	for _, d := range l.Devices {
		if d.Info == nil {
			row("%s\t%s\t-\t-\t-\t%d\t-\t-\t-\t%s", d.ID, d.Name, d.ComputeUnits, d.SelfTest)
			continue
		}
		row("%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s", d.ID, d.Name, d.PlatformName, d.Driver, d.Type,
			d.ComputeUnits, app.BytesText(d.Memory), app.BytesText(d.MaxAlloc), capabilities(d.Info),
			d.SelfTest)
	}
}

// capabilities names what a device promises of its float32 arithmetic.
func capabilities(i *gpu.Info) string {
	has := []bool{i.FP.Denormals, i.FP.InfNaN, i.FP.RoundToNearest, i.FP.FMA}
	var names []string
	for k, name := range []string{"denormals", "inf/nan", "nearest", "fast fma"} {
		if has[k] {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
