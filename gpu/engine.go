//go:build cgo && !noopencl

package gpu

import (
	"embed"
	"errors"
	"fmt"
	"sync"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

//go:embed kernels/*.cl
var kernelFiles embed.FS

// The kernel files in the order in which they are compiled.
var kernelNames = []string{"contract.cl", "score.cl", "region.cl", "bound.cl", "sums.cl", "sparse.cl", "update.cl"}

// program puts the kernel files together. score.cl goes in once for each number of
// classes that a work-item computes at once.
func program(files []string) []string {
	var sources []string
	for i, text := range files {
		if kernelNames[i] != "score.cl" {
			sources = append(sources, text)
			continue
		}
		for _, classes := range []int{few, many} {
			sources = append(sources, fmt.Sprintf("#define CLASSES %d\n", classes), text, "#undef CLASSES\n")
		}
	}
	return sources
}

// The classes that a work-item of kernels score_4 and score_16 computes at once.
const few, many = 4, 16

// kernelSources reads the embedded kernels.
func kernelSources() ([]string, error) {
	sources := make([]string, len(kernelNames))
	for i, name := range kernelNames {
		text, err := kernelFiles.ReadFile("kernels/" + name)
		if err != nil {
			return nil, err
		}
		sources[i] = string(text)
	}
	return sources, nil
}

// lanes is what the length of a line of scores is a multiple of, and the number of
// sparse examples in a slice.
const lanes = 16

// scoreRows is the number of examples that a work-item of score takes on a CPU.
const scoreRows = 8

// sumColumns is the number of columns that a work-item of sum_groups takes on a CPU.
const sumColumns = 128

// gpuEngine is one opened device with its compiled kernels.
type gpuEngine struct {
	mu         sync.Mutex // kernels hold their arguments: one launch at a time
	info       Info
	conforming bool
	q          *queue
	program    *cl.Program
	cpu        bool // kernels are built for a processor, else for a GPU
	shares     bool // the device uses host memory in place
	maxAlloc   int64
	build      build

	scoreFew, scoreMany, scoreSparse, predict, assign, bound, assignListed, sumGroups, addGroups, moveSumsSparse, updateVectors, norms *kernel
}

// Open opens a device that Devices listed, compiles the kernels for it and runs
// the self-test (clause 12). A device that fails it is refused, unless the
// options allow it.
func Open(i Info, o Options) (engine.Engine, error) {
	sources, err := kernelSources()
	if err != nil {
		return nil, err
	}
	e, err := open(i, o, build{sources: sources})
	if err != nil {
		return nil, fmt.Errorf("open %s (%s): %w", i.ID(), i.Name, err)
	}
	if err := engine.SelfTest(e); err != nil {
		if errors.Is(err, engine.ErrMemory) { // too little to tell
			return nil, errors.Join(fmt.Errorf("open %s (%s): %w", i.ID(), i.Name, err), e.Close())
		}
		if !o.AllowNonconforming {
			return nil, errors.Join(fmt.Errorf("%s (%s) does not compute by the contract and is refused (--allow-nonconforming overrides): %w", i.ID(), i.Name, err), e.Close())
		}
		e.conforming = false
	}
	return e, nil
}

// build says what to compile; tests compile broken kernels and guard buffers.
type build struct {
	sources []string
	options string // besides the macros
	style   string // "cpu" or "gpu"; "": by the device's type
	guard   int    // bytes behind each buffer
	stream  bool   // no example stays on the device
	copies  bool   // never use host memory in place
	bounds  string // "never"; "at once", whatever the size; "": when they pay
}

func open(i Info, o Options, b build) (*gpuEngine, error) {
	all, err := devices()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if d.info.Platform == i.Platform && d.info.Device == i.Device {
			return d.open(o, b)
		}
	}
	return nil, fmt.Errorf("%w: %s is gone", ErrNoDevice, i.ID())
}

func (d device) open(o Options, b build) (*gpuEngine, error) {
	e := &gpuEngine{info: d.info, conforming: true, maxAlloc: d.info.MaxAlloc, build: b}
	shares, err := recovered(d.cl.HostUnifiedMemory)
	e.shares = err == nil && shares && !b.copies
	if o.NoBounds {
		e.build.bounds = "never"
	}
	if o.MaxAlloc > 0 {
		e.maxAlloc = min(e.maxAlloc, o.MaxAlloc)
	}
	if o.MemoryLimit > 0 {
		d.info.Memory = min(d.info.Memory, o.MemoryLimit)
	}
	e.cpu = b.style == "cpu" || b.style == "" && d.cl.Type()&cl.DeviceTypeCPU != 0
	e.q = &queue{device: d.cl, memory: d.info.Memory, guard: b.guard, trace: o.Trace}
	if err := e.start(b); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// start makes the queue and compiles the kernels. Close frees what it made, also
// when it fails.
func (e *gpuEngine) start(b build) (err error) {
	if e.q.context, err = cl.CreateContext([]*cl.Device{e.q.device}); err != nil {
		return fmt.Errorf("create context: %w", err)
	}
	for _, q := range []**cl.CommandQueue{&e.q.queue, &e.q.transfers} {
		if *q, err = e.q.context.CreateCommandQueue(e.q.device, 0); err != nil {
			return fmt.Errorf("create command queue: %w", err)
		}
	}
	most, err := recovered(e.q.device.MaxWorkGroupSize)
	if err != nil {
		return fmt.Errorf("largest work-group: %w", err)
	}
	group := 64 // work-items in a work-group
	for group > most {
		group /= 2
	}
	style, heavy, wide := 0, group, group // where work-items take more on a CPU
	if e.cpu {
		style, heavy, wide = 1, 8, 1
	}
	options := fmt.Sprintf("-cl-std=CL1.2 -DCPU=%d -DLANES=%d -DGROUP=%d -DCHUNK=%d %s", style, lanes, group, numerics.Chunk, b.options)
	if e.program, err = e.q.build(program(b.sources), options); err != nil {
		return err
	}
	for _, k := range []struct {
		to    **kernel
		name  string
		local int
	}{
		{&e.scoreFew, "score_4", heavy},
		{&e.scoreMany, "score_16", heavy},
		{&e.scoreSparse, "score_sparse", group},
		{&e.predict, "predict", group},
		{&e.assign, "assign", group},
		{&e.bound, "bound", heavy},
		{&e.assignListed, "assign_listed", group},
		{&e.sumGroups, "sum_groups", wide},
		{&e.addGroups, "add_groups", wide},
		// One work-group a cell; a CPU runs a work-group on one core anyway.
		{&e.moveSumsSparse, "move_sums_sparse", heavy},
		{&e.updateVectors, "update_vectors", group},
		{&e.norms, "norms", 8},
	} {
		if *k.to, err = e.q.kernel(e.program, k.name, k.local); err != nil {
			return err
		}
	}
	return nil
}

func (e *gpuEngine) Device() engine.Device {
	return engine.Device{
		Kind: "opencl", ID: e.info.ID(), Name: e.info.Name,
		Platform: e.info.PlatformName, Driver: e.info.Driver, Conforming: e.conforming,
	}
}

func (e *gpuEngine) Close() error {
	for _, k := range []*kernel{e.scoreFew, e.scoreMany, e.scoreSparse, e.predict, e.assign, e.bound, e.assignListed, e.sumGroups, e.addGroups, e.moveSumsSparse, e.updateVectors, e.norms} {
		if k != nil {
			k.cl.Release()
		}
	}
	if e.program != nil {
		e.program.Release()
	}
	for _, q := range []*cl.CommandQueue{e.q.queue, e.q.transfers} {
		if q != nil {
			q.Release()
		}
	}
	if e.q.context != nil {
		e.q.context.Release()
	}
	*e = gpuEngine{info: e.info, conforming: e.conforming, q: &queue{}}
	return nil
}

func (e *gpuEngine) Load(x dataset.Examples, y []int32, classes int) (engine.Resident, error) {
	maxAbs, err := engine.CheckLoad(x, y, classes)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.program == nil {
		return nil, fmt.Errorf("load: %w", engine.ErrClosed)
	}
	r, err := newResident(e, x, y, classes, numerics.NewFixedPoint(maxAbs, x.N))
	if err != nil {
		return nil, fmt.Errorf("load %d examples of %d features on %s: %w", x.N, x.D, e.info.ID(), err)
	}
	return r, nil
}

// Work implements engine.Counting.
func (e *gpuEngine) Work() engine.Work {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.q.work
}
