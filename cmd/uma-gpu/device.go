package main

import (
	"errors"
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
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
)

const deviceVariable = "UMA_GPU_DEVICE"

// deviceFlags say where to compute.
func deviceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "device", Value: "auto", EnvVars: []string{deviceVariable},
			Usage: "`DEVICE` to compute on; uma-gpu devices lists them"},
		&cli.StringFlag{Name: "shares", DefaultText: "measured",
			Usage: "`LIST` of how much each of several devices takes, such as 1,8"},
		&cli.StringFlag{Name: "max-alloc", Value: "0", DefaultText: "the device's limit",
			Usage: "`SIZE` of the largest OpenCL allocation, such as 256M"},
		&cli.StringFlag{Name: "memory-limit", Value: "0", DefaultText: "all there is",
			Usage: "`SIZE` of the OpenCL memory to use, such as 2G"},
		&cli.BoolFlag{Name: "no-bounds", Usage: "score every example in every step; same weights, slower"},
		&cli.BoolFlag{Name: "no-tuning", Usage: "leave aside what uma-gpu tune has found"},
		&cli.StringFlag{Name: "audit", DefaultText: "sample; off for cpu",
			Usage: "`LEVEL` of checks by another engine: off, sample, full"},
		&cli.BoolFlag{Name: "allow-nonconforming", Usage: "use a device that fails the self-test; the model says so"},
	}
}

// selection is what --device stands for.
type selection struct {
	try     []gpu.Info // OpenCL devices to open, the first that works is used
	cpu     processor  // used if none of them works, nil if it is not to be
	auto    bool       // nobody asked for one of them
	list    lister     // finds what auto is to try, nil once it is in try
	problem error      // why there is nothing to try, if that is worth a word
}

// lister lists the OpenCL devices.
type lister func() ([]gpu.Info, error)

// look finds the devices that auto tries. It is for work that is worth the time that drivers take.
func (s *selection) look() {
	if s.list == nil {
		return
	}
	all, err := s.list()
	s.try, s.problem, s.list = slices.Concat(filter(all, isGPU), filter(all, isOtherAccelerator)), err, nil
	s.ofThisRank()
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
// devices; it is not called if the name does not ask for one, and for auto when it looks. Errors are
// errNoSuchDevice or those of list.
func selectDevice(name string, list lister) (selection, error) {
	name = strings.TrimSpace(name)
	keyword := strings.ToLower(name)
	for _, p := range processors {
		if keyword == p.id {
			return selection{cpu: p.new}, nil
		}
	}
	if keyword == "auto" || keyword == "" {
		return selection{cpu: fastest, auto: true, list: list}, nil
	}
	all, err := list()
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
	return selection{}, fmt.Errorf("%w: %q%s %s:\n%s", errNoSuchDevice, name, fromEnvironment(name),
		what, deviceList(all))
}

func isGPU(i gpu.Info) bool { return strings.Contains(strings.ToUpper(i.Type), "GPU") }

// isOtherAccelerator reports whether a device is neither a GPU nor the processor, and has
// memory of its own, without which it reads the examples no faster than the processor.
func isOtherAccelerator(i gpu.Info) bool {
	return !isGPU(i) && !strings.Contains(strings.ToUpper(i.Type), "CPU") && !i.SharesMemory
}

// filter returns the devices to keep, in their order.
func filter(all []gpu.Info, keep func(gpu.Info) bool) []gpu.Info {
	var kept []gpu.Info
	for _, i := range all {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

var exactID = regexp.MustCompile(`^opencl:([0-9]+)\.([0-9]+)$`)

// matching returns the devices that a lower-case name other than auto and cpu
// stands for; it is clear if there is one.
func matching(name string, all []gpu.Info) []gpu.Info {
	if name == "opencl" {
		if gpus := filter(all, isGPU); len(gpus) == 1 {
			return gpus
		}
		return all
	}
	if m := exactID.FindStringSubmatch(name); m != nil {
		return filter(all, func(i gpu.Info) bool {
			return m[1] == strconv.Itoa(i.Platform) && m[2] == strconv.Itoa(i.Device)
		})
	}
	// A whole name wins over a part of a longer one.
	if exact := filter(all, func(i gpu.Info) bool { return strings.EqualFold(i.Name, name) }); len(exact) == 1 {
		return exact
	}
	return filter(all, func(i gpu.Info) bool {
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
	audit    audit.Level // "" for a sample, unless it is the processor
	tuning   string      // in use, for people: "default" or "tuned DATE"; "" without OpenCL

	parts  []*device // of a list of devices, each of which computes on a share of the examples
	shares []int     // of the parts, nil to measure them
	data   string    // hash of the data that it will be used for, as far as it is known
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
	options := gpu.Options{MaxAlloc: maxAlloc, MemoryLimit: limit, NoBounds: c.Bool("no-bounds"),
		AllowNonconforming: c.Bool("allow-nonconforming")}
	d := &device{options: options, noTuning: c.Bool("no-tuning")}
	if c.IsSet("audit") {
		level, err := oneOf(c, "audit", string(audit.Off), string(audit.Sample), string(audit.Full))
		if err != nil {
			return nil, err
		}
		d.audit = audit.Level(level)
	}
	name := deviceOfRank(c.String("device"))
	list := listDevices(newNotes(c))
	if names := listedDevices(name, list); names != nil {
		return d, d.chooseShards(c, names, list)
	}
	if c.String("shares") != "" {
		return nil, usagef(c, "--shares is of several devices, wanted --device with + between them")
	}
	d.selection, err = selectDevice(name, list)
	return d, err
}

// openCLDevices is gpu.Devices, of drivers whose crashes leave a message.
func openCLDevices() ([]gpu.Info, error) {
	defer keepSignals()()
	return gpu.Devices()
}

// listDevices is openCLDevices, and says once what they leave out.
func listDevices(n notes) lister {
	said := false
	return func() ([]gpu.Info, error) {
		all, err := openCLDevices()
		if err == nil && !said { // or the error says it
			said = true
			for _, broken := range gpu.LeftOut() {
				n.warn("%v", broken)
			}
		}
		return all, err
	}
}

// adviseDevice adds to an error that an audit found what to do.
func adviseDevice(err error) error {
	if !errors.Is(err, audit.ErrDiffers) {
		return err
	}
	return fmt.Errorf("%w; the device, its memory or its driver is at fault, and what it has computed is of no use: "+
		"begin again with --device cpu, and trust no checkpoint of this run", err)
}

// audited returns e with the audit that was asked for. The processor is audited by the loops that define every
// result, all others by the processor, which is fast, and keeps no bounds that both could be wrong about.
func (d *device) audited(e engine.Engine) engine.Engine {
	level := d.audit
	if e.Device().Kind == "cpu" {
		if level == "" {
			level = audit.Off
		}
		if e.Device().ID == "cpu" {
			return audit.Engine(e, cpuref.New(), level)
		}
	}
	if level == "" {
		level = audit.Sample
	}
	return audit.Engine(e, fastest(true), level)
}

// work is what a learner will see of the examples. Devices are chosen, and tuned, for it.
type work struct {
	sparse   bool
	features int
	classes  int
	values   int  // stored
	shared   bool // each rank has read its own examples, whatever its share
}

// workOn returns the work on prepared examples of so many classes.
func workOn(rows dataset.Rows, classes int) work {
	x := rows.Stored()
	return work{x.Sparse(), x.D, classes, x.Size(), x.At.Shared() != nil}
}

// workOnComponents returns the work on as many components of n examples.
func workOnComponents(n, components, classes int) work {
	return work{features: components, classes: classes, values: n * components}
}

// processorValues is how many stored values are too many for auto to stay on the
// processor. A step on fewer is over before a device has been told what to do: on the
// optical digits (0.25 M values) the processor makes ten steps while OpenCL, even with
// nothing to copy, makes one.
const processorValues = 1 << 20

// processorSuffices reports whether the processor is done before a device has begun.
func (w work) processorSuffices() bool { return w.values < processorValues }

// wantsNarrow reports whether narrow examples pay where they will be computed on. They are made beside the others:
// where these are a file larger than memory there is no room.
func (d *device) wantsNarrow(rows dataset.Rows) bool {
	x := rows.Stored()
	if x.Pages().Window() > 0 {
		return false
	}
	if slices.ContainsFunc(d.parts, func(p *device) bool { return p.wantsNarrow(x) }) {
		return true
	}
	if d.auto && workOn(x, 0).processorSuffices() {
		return false
	}
	d.look()
	return len(d.try) > 0 && d.try[0].WantsNarrow(x.N, x.D, !d.options.NoBounds)
}

// open opens the device for the work w, with the tuning that is stored for such, and says
// which one it is. The caller closes the engine.
func (d *device) open(n notes, w work) (engine.Engine, error) {
	if d.parts != nil || launch.Ranks > 1 {
		return d.openShards(n, w)
	}
	return d.openOne(n, w)
}

// openOne is open for a device that is not a list, and of a process by itself.
func (d *device) openOne(n notes, w work) (engine.Engine, error) {
	var try []gpu.Info
	if !d.auto || !w.processorSuffices() {
		if d.look(); d.problem != nil {
			n.warn("no OpenCL device, computing on the processor instead: %v", d.problem)
		}
		try = d.try
	}
	for _, i := range try {
		e, err := d.openTuned(n, i, w)
		if err == nil && d.auto && e.Device().Software != "" {
			err = errors.Join(fmt.Errorf("%s makes float32 of integers, which the processor need not: %s", i.ID(),
				e.Device().Software), e.Close())
		}
		if err == nil {
			about := e.Device()
			n.say("device: %s %s (%s, driver %s), tuning: %s", about.ID, about.Name, about.Platform, about.Driver, d.tuning)
			if !about.Conforming {
				n.warn("%s fails the self-test; its weights may differ from those of other devices", about.ID)
			}
			if about.Software != "" {
				n.warn("%s makes float32 of integers, which is slow: %s", about.ID, about.Software)
			}
			return d.audited(e), nil
		}
		if d.cpu == nil {
			return nil, adviseMemory(err)
		}
		n.warn("this device is passed over: %v", err)
	}
	e := d.cpu(d.options.NoBounds)
	n.say("device: %s %s", e.Device().ID, e.Device().Name)
	return d.audited(e), nil
}
