package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/engine/shard/mpi"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// DeviceVariable of the environment names the device where --device does not.
const DeviceVariable = "UMA_GPU_DEVICE"

// Device is where a command computes.
type Device struct {
	Options gpu.Options
	Audit   string // audit.Off, Sample or Full; "" for a sample, unless it is the processor

	parts []selection // of --device; several share the examples
}

// Flags returns the flags of the device. Their checks find it, so that a wrong name is reported
// before any file is read.
func (d *Device) Flags() []cli.Flag {
	var name string
	return Grouped("Device", CheckedFlag{StringFlag: &cli.StringFlag{Name: "device", Value: "auto",
		EnvVars: []string{DeviceVariable}, Destination: &name,
		Usage: "`DEVICE` to compute on; uma-gpu devices lists them"},
		Check: func(*cli.Context) (err error) {
			d.parts, err = selectDevices(name, gpu.Devices)
			return err
		}})
}

// AuditFlag returns the flag of checks by another engine.
func (d *Device) AuditFlag() []cli.Flag {
	return []cli.Flag{Flag(&d.Audit, umagpu.Parameter{Name: "audit", Group: "Device", Value: "LEVEL",
		Default: "sample; off for cpu", Sentence: "of checks by another engine",
		Choices: []string{audit.Off, audit.Sample, audit.Full}})}
}

// NewDevice returns the device of a name, as --device has it, with an audit of a level.
func NewDevice(name, level string) (d Device, err error) {
	d.Audit = level
	d.parts, err = selectDevices(cmp.Or(name, os.Getenv(DeviceVariable), "auto"), gpu.Devices)
	return d, err
}

// DetailFlags returns further flags of the device.
func (d *Device) DetailFlags() []cli.Flag {
	return Grouped("Device",
		Size(&d.Options.MemoryLimit, "memory-limit", "all there is",
			"`SIZE` of the OpenCL memory to use, such as 2G"),
		Size(&d.Options.MaxAlloc, "max-alloc", "the device's limit",
			"`SIZE` of the largest OpenCL allocation, such as 256M"))
}

// selection is what a name of --device refers to.
type selection struct {
	devices lister               // OpenCL devices: the first that opens is used; nil for none
	cpu     func() engine.Driver // is used if no device is; nil for none
}

// lister lists OpenCL devices.
type lister func() ([]gpu.Info, error)

func (s selection) auto() bool { return s.devices != nil && s.cpu != nil }

// Processors are the drivers without OpenCL, by their id. They always open.
var Processors = []struct {
	id  string
	New func() engine.Driver
}{{"cpu", simd.NewDriver}, {"cpu:plain", func() engine.Driver { return cpuref.Driver{} }}}

// selectDevices finds what a value of --device refers to: a name, or several with + between.
func selectDevices(text string, list lister) (parts []selection, err error) {
	text = strings.ReplaceAll(text, "{rank}", strconv.Itoa(Launch.Local)) // on its machine
	one, err := selectDevice(text, list)
	names := strings.Split(text, "+")
	if err == nil || len(names) == 1 {
		return []selection{one}, err
	}
	for _, name := range names {
		s, err := selectDevice(name, list)
		if err == nil && s.auto() {
			err = fmt.Errorf("%w: %q cannot be combined with other devices: name one", ErrNoSuchDevice,
				name)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	return parts, nil
}

// selectDevice finds the devices that a name refers to. It calls list only for the name of an
// OpenCL device; auto calls it when it is to open a device. Errors: ErrNoSuchDevice, and errors
// from list.
func selectDevice(name string, list lister) (selection, error) {
	name = strings.TrimSpace(name)
	keyword := strings.ToLower(name)
	for _, p := range Processors {
		if keyword == p.id {
			return selection{cpu: p.New}, nil
		}
	}
	if keyword == "auto" || keyword == "" {
		return selection{func() ([]gpu.Info, error) { return accelerators(list) }, simd.NewDriver}, nil
	}
	quoted := strconv.Quote(name)
	if strings.TrimSpace(os.Getenv(DeviceVariable)) == name {
		quoted += " (" + DeviceVariable + ")" // which was not typed
	}
	all, err := list()
	if err != nil {
		return selection{}, fmt.Errorf("device %s: %w", quoted, err)
	}
	found := matching(keyword, all)
	if len(found) == 1 {
		return selection{devices: func() ([]gpu.Info, error) { return found, nil }}, nil
	}
	what := "matches none of the devices"
	if len(found) > 1 {
		what = fmt.Sprintf("is ambiguous, it matches %d of the devices", len(found))
	}
	var devices strings.Builder
	Table(&devices, func(row Row) { // into memory
		for _, p := range Processors {
			row("  %s\t%s", p.id, p.New().Device().Name)
		}
		for _, i := range all {
			row("  %s\t%s (%s, %s)", i.ID(), i.Name, i.PlatformName, i.Type)
		}
	})
	return selection{}, fmt.Errorf("%w: %s %s:\n%s", ErrNoSuchDevice, quoted, what,
		strings.TrimRight(devices.String(), "\n"))
}

// accelerators returns the devices that auto tries, GPUs first. Of several ranks each tries one:
// two would each take all of a device's memory.
func accelerators(list lister) ([]gpu.Info, error) {
	all, err := list()
	try := slices.Concat(filter(all, IsGPU), filter(all, IsOtherAccelerator))
	if Launch.Ranks > 1 {
		try = try[min(Launch.Local, len(try)):min(Launch.Local+1, len(try))]
	}
	return try, err
}

func IsGPU(i gpu.Info) bool { return strings.Contains(strings.ToUpper(i.Type), "GPU") }

// IsOtherAccelerator reports whether a device is neither a GPU nor the processor, and has memory of
// its own, without which it reads the examples no faster than the processor.
func IsOtherAccelerator(i gpu.Info) bool {
	return !IsGPU(i) && !strings.Contains(strings.ToUpper(i.Type), "CPU") && !i.SharesMemory
}

func filter(all []gpu.Info, keep func(gpu.Info) bool) []gpu.Info {
	return slices.DeleteFunc(slices.Clone(all), func(i gpu.Info) bool { return !keep(i) })
}

var exactID = regexp.MustCompile(`^opencl:[0-9]+\.[0-9]+$`)

// matching returns the devices that a lower-case name other than auto and cpu matches.
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

// AdviseAudit adds advice to an error that an audit found.
func AdviseAudit(err error) error {
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

// ProcessorValues is how many stored values are too many for auto to stay on the processor. A step
// on fewer is over before a device has been told what to do: on the optical digits (0.25 M values)
// the processor makes ten steps while OpenCL, even with nothing to copy, makes one.
const ProcessorValues = 1 << 20

// Open opens the device for the work w and says which one it is. The caller closes the engine.
func (d *Device) Open(n Notes, w host.Work) (*engine.Engine, error) {
	driver, err := d.openDriver(n, w)
	if err != nil {
		return nil, err
	}
	return engine.New(driver), nil
}

func (d *Device) openDriver(n Notes, w host.Work) (joined engine.Driver, err error) {
	if len(d.parts) == 1 && Launch.Ranks == 1 {
		return d.openPart(d.parts[0], n, w)
	}
	var drivers []engine.Driver
	defer func() {
		if err != nil {
			for _, e := range drivers {
				err = errors.Join(err, e.Close())
			}
		}
	}()
	for _, part := range d.parts {
		e, err := d.openPart(part, n, w)
		if err != nil {
			return nil, err
		}
		drivers = append(drivers, e)
	}
	var shares []int // equal, unless measuring pays
	columns, values := w.Seen()
	if values >= ProcessorValues {
		shares, err = shard.Measure(drivers, columns, w.Classes, values)
		if err != nil {
			return nil, err
		}
	}
	if Launch.Ranks > 1 {
		n.Say("rank %d of %d", Launch.Rank, Launch.Ranks)
		if err := JoinWorld(); err != nil {
			return nil, err
		}
		if err := agree(fmt.Sprint(w.Data.SHA256, columns, w.Classes, values)); err != nil {
			return nil, err
		}
		return shard.Ranks(context.Background(), World, drivers, shares)
	}
	if joined, err = shard.New(drivers, shares); err == nil {
		n.Say("shares of the examples: %s", sharesText(drivers, shares))
	}
	return joined, err
}

// openPart opens one device of a list.
func (d *Device) openPart(s selection, n Notes, w host.Work) (engine.Driver, error) {
	var try []gpu.Info
	if _, values := w.Seen(); s.devices != nil && (s.cpu == nil || values >= ProcessorValues) {
		var err error
		if try, err = s.devices(); err != nil {
			n.Warn("no OpenCL device, computing on the processor instead: %v", err)
		}
	}
	for _, i := range try {
		e, err := gpu.OpenDriver(i, d.Options)
		if err == nil {
			about := e.Device()
			n.Say("device: %s %s (%s, driver %s)", about.ID, about.Name, about.Platform, about.Driver)
			if s.cpu == nil || pays(n, e, s.cpu(), w) {
				return d.audited(e), nil
			}
			if err := e.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if s.cpu == nil {
			return nil, Advise(err)
		}
		n.Warn("this device is passed over: %v", err)
	}
	e := s.cpu()
	n.Say("device: %s %s", e.Device().ID, e.Device().Name)
	return d.audited(e), nil
}

// sharesText returns the share of each driver; nil shares are equal.
func sharesText(drivers []engine.Driver, shares []int) string {
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

var (
	// Launch is the place of this process among the processes of mpirun or srun.
	Launch = mpi.Launched()
	// World is all ranks, once they have met; nil before, and for a process by itself.
	World *mpi.World
	// Scratch is the folder for the outputs of ranks but the first, to be deleted; "" for rank 0.
	Scratch string
)

// ofRanks are the commands that several ranks may run together.
var ofRanks = []string{"train", "eval", "cv", "predict"}

// forRank has a rank but the first write to files of its own, once the files that the flags name
// are found to be writable.
func forRank(c *cli.Context) error {
	if Launch.Ranks == 1 {
		return nil
	}
	if !slices.Contains(ofRanks, c.Command.Name) {
		return Usage("this is rank %d of %d; several ranks run %s, and nothing else", Launch.Rank,
			Launch.Ranks, quote.Or(ofRanks))
	}
	if Scratch == "" {
		return nil
	}
	for _, f := range c.Command.Flags {
		if f, ok := f.(FileFlag); ok && f.Written && c.String(f.Name) != "" && c.String(f.Name) != "-" {
			mine := filepath.Join(Scratch, f.Name+filepath.Ext(c.String(f.Name)))
			if err := c.Set(f.Name, mine); err != nil {
				return err
			}
		}
	}
	return nil
}

// JoinWorld begins MPI, unless it has begun.
func JoinWorld() error {
	if World != nil {
		return nil
	}
	var err error
	World, err = mpi.Join(func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "uma-gpu: "+format+"\n", args...)
	})
	if err != nil {
		return fmt.Errorf("rank %d of %d: %w", Launch.Rank, Launch.Ranks, err)
	}
	if rank, all := World.Rank(); rank != Launch.Rank || all != Launch.Ranks {
		return fmt.Errorf("rank %d of %d: MPI says rank %d of %d; start the program by the mpirun of "+
			"the MPI that it is built with", Launch.Rank, Launch.Ranks, rank, all)
	}
	return nil
}

// agree returns an error unless all ranks run the same program on the same data.
func agree(data string) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program's file, to compare it with other ranks': %w", err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return compareIdentities(World, identity{hash64(program), contract.Version, hash64([]byte(data))})
}

// identity is what all ranks have to agree on: hashes of the program and of the data, with what is
// to be done with them, and between them the version of the contract.
type identity [3]int64

// compareIdentities returns an error that names the first rank whose identity differs from rank
// 0's.
func compareIdentities(r shard.Reducer, mine identity) error {
	rank, all := r.Rank()
	table := make([]int64, all*len(mine))
	copy(table[rank*len(mine):], mine[:])
	if err := r.Sum(context.Background(), table); err != nil {
		return err
	}
	what := [len(mine)]string{"another program", "another version of the contract", "other data"}
	for i := range table {
		if rank := i / len(mine); table[i] != table[i%len(mine)] {
			return fmt.Errorf("rank %d has %s than rank 0, wanted the same: %w", rank, what[i%len(mine)],
				shard.ErrDiffers)
		}
	}
	return nil
}

func hash64(data []byte) int64 {
	sum := sha256.Sum256(data)
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
