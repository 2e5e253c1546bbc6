package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

const deviceVariable = "UMA_GPU_DEVICE"

// deviceFlags say where to compute.
func deviceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "device", Value: "auto", EnvVars: []string{deviceVariable},
			Usage: "where to compute, `DEVICE`: auto (the first GPU, else another OpenCL device, else the processor), cpu (no OpenCL), cpu:plain (the same by the loops that define every result, slow), " +
				"opencl, opencl:P.D, or a part of a name; uma-gpu devices lists them"},
		&cli.StringFlag{Name: "max-alloc", Value: "0",
			Usage: "largest OpenCL allocation in `BYTES`, with suffix K, M or G for powers of 1024; 0 is the device's own limit; more examples than fit are cut in tiles"},
		&cli.StringFlag{Name: "memory-limit", Value: "0",
			Usage: "most OpenCL memory to use, in `BYTES` as above; 0 is all of the device's; examples that do not fit stay in host memory and are streamed or used in place"},
		&cli.BoolFlag{Name: "no-bounds", Usage: "score every example in every step, instead of sparing those whose region cannot have changed; the weights are the same"},
		&cli.BoolFlag{Name: "no-tuning", Usage: "use the default tuning, even if uma-gpu tune has stored a faster one; the weights are the same"},
		&cli.BoolFlag{Name: "allow-nonconforming", Usage: "use a device that fails the self-test; its weights may differ from everybody else's, and the model says so"},
	}
}

// selection is what --device stands for.
type selection struct {
	try     []gpu.Info // OpenCL devices to open, the first that works is used
	cpu     processor  // used if none of them works, nil if it is not to be
	auto    bool       // nobody asked for one of them
	problem error      // why there is nothing to try, if that is worth a word
}

// processor opens an engine without OpenCL, which cannot fail.
type processor func(noBounds bool) engine.Engine

// processors are these engines, by their id.
var processors = []struct {
	id  string
	new processor
}{{"cpu", fastest}, {"cpu:plain", func(bool) engine.Engine { return cpuref.New() }}}

func fastest(noBounds bool) engine.Engine {
	if noBounds {
		return simd.NewUnbounded()
	}
	return simd.New()
}

// selectDevice finds the devices that a name stands for. list lists the OpenCL
// devices; it is not called if the name does not ask for one. Errors are
// errNoSuchDevice or those of list.
func selectDevice(name string, list func() ([]gpu.Info, error)) (selection, error) {
	name = strings.TrimSpace(name)
	keyword := strings.ToLower(name)
	for _, p := range processors {
		if keyword == p.id {
			return selection{cpu: p.new}, nil
		}
	}
	all, err := list()
	if keyword == "auto" || keyword == "" {
		// Stable: GPUs first, else the order of the listing.
		slices.SortStableFunc(all, func(a, b gpu.Info) int { return rank(a) - rank(b) })
		return selection{try: all, cpu: fastest, auto: true, problem: err}, nil
	}
	if err != nil {
		return selection{}, fmt.Errorf("device %q%s: %w", name, fromEnvironment(name), err)
	}
	found := matching(keyword, all)
	if len(found) == 1 {
		return selection{try: found}, nil
	}
	what := "matches none of the devices"
	if len(found) > 1 {
		what = fmt.Sprintf("is not clear, it matches %d of the devices", len(found))
	}
	return selection{}, fmt.Errorf("%w: %q%s %s:\n%s", errNoSuchDevice, name, fromEnvironment(name), what, deviceList(all))
}

// rank puts GPUs before everything else.
func rank(i gpu.Info) int {
	if isGPU(i) {
		return 0
	}
	return 1
}

func isGPU(i gpu.Info) bool { return strings.Contains(strings.ToUpper(i.Type), "GPU") }

var exactID = regexp.MustCompile(`^opencl:([0-9]+)\.([0-9]+)$`)

// matching returns the devices that a lower-case name other than auto and cpu
// stands for; it is clear if there is one.
func matching(name string, all []gpu.Info) []gpu.Info {
	filter := func(keep func(gpu.Info) bool) []gpu.Info {
		var kept []gpu.Info
		for _, i := range all {
			if keep(i) {
				kept = append(kept, i)
			}
		}
		return kept
	}
	if name == "opencl" {
		if gpus := filter(isGPU); len(gpus) == 1 {
			return gpus
		}
		return all
	}
	if m := exactID.FindStringSubmatch(name); m != nil {
		return filter(func(i gpu.Info) bool {
			return m[1] == strconv.Itoa(i.Platform) && m[2] == strconv.Itoa(i.Device)
		})
	}
	// A whole name wins over a part of a longer one.
	if exact := filter(func(i gpu.Info) bool { return strings.EqualFold(i.Name, name) }); len(exact) == 1 {
		return exact
	}
	return filter(func(i gpu.Info) bool {
		return strings.Contains(strings.ToLower(i.Name), name) || strings.Contains(strings.ToLower(i.PlatformName), name)
	})
}

// fromEnvironment says where a device name that nobody typed comes from.
func fromEnvironment(name string) string {
	if strings.TrimSpace(os.Getenv(deviceVariable)) == name {
		return " (" + deviceVariable + ")"
	}
	return ""
}

// deviceList lists all devices for an error message.
func deviceList(all []gpu.Info) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range processors {
		fmt.Fprintf(t, "  %s\t%s\n", p.id, p.new(false).Device().Name)
	}
	for _, i := range all {
		fmt.Fprintf(t, "  %s\t%s (%s, %s)\n", i.ID(), i.Name, i.PlatformName, i.Type)
	}
	t.Flush() // into memory
	return strings.TrimRight(b.String(), "\n")
}

// device is where a command will compute.
type device struct {
	selection
	options  gpu.Options
	noTuning bool
	tuning   string // in use, for people: "default" or "tuned DATE"; "" without OpenCL
}

// chooseDevice checks the flags of deviceFlags and finds the device, so that a
// wrong name is told before any file is read.
func chooseDevice(c *cli.Context) (*device, error) {
	maxAlloc, err := parseBytes(c.String("max-alloc"))
	if err != nil {
		return nil, usagef(c, "--max-alloc: %v", err)
	}
	limit, err := parseBytes(c.String("memory-limit"))
	if err != nil {
		return nil, usagef(c, "--memory-limit: %v", err)
	}
	s, err := selectDevice(c.String("device"), gpu.Devices)
	if err != nil {
		return nil, err
	}
	options := gpu.Options{MaxAlloc: maxAlloc, MemoryLimit: limit, NoBounds: c.Bool("no-bounds"), AllowNonconforming: c.Bool("allow-nonconforming")}
	return &device{selection: s, options: options, noTuning: c.Bool("no-tuning")}, nil
}

// processorValues is how many stored values are too many for auto to take the processor
// without OpenCL. A step on fewer is over before a device has been told what to do: on
// the optical digits (0.25 M values) a processor makes ten steps while OpenCL on the
// same processor makes one (docs/performance.md).
const processorValues = 1 << 20

// processorSuffices reports whether the processor is done with the examples before
// a device has begun.
func processorSuffices(x dataset.Examples) bool { return x.Stored() < processorValues }

// wantsNarrow reports whether narrow examples pay where they will be computed on.
func (d *device) wantsNarrow(x dataset.Examples) bool {
	if len(d.try) == 0 || d.auto && processorSuffices(x) {
		return false
	}
	return d.try[0].WantsNarrow(x.N, x.D, !d.options.NoBounds)
}

// open opens the device for the examples x of so many classes, with the tuning that is
// stored for such, and says which one it is. The caller closes the engine.
func (d *device) open(n notes, x dataset.Examples, classes int) (engine.Engine, error) {
	try := d.try
	if d.auto && processorSuffices(x) {
		try = nil
	} else if d.problem != nil {
		n.warn("no OpenCL device, computing on the processor instead: %v", d.problem)
	}
	for _, i := range try {
		e, err := d.openTuned(n, i, x, classes)
		if err == nil {
			about := e.Device()
			n.say("device: %s %s (%s, driver %s), tuning: %s", about.ID, about.Name, about.Platform, about.Driver, d.tuning)
			if !about.Conforming {
				n.warn("%s fails the self-test; its weights may differ from those of other devices", about.ID)
			}
			return e, nil
		}
		if d.cpu == nil {
			return nil, err
		}
		n.warn("this device is passed over: %v", err)
	}
	e := d.cpu(d.options.NoBounds)
	n.say("device: %s %s", e.Device().ID, e.Device().Name)
	return e, nil
}
