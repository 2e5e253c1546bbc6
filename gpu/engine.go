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
var kernelNames = []string{"contract.cl", "score.cl", "region.cl", "sums.cl", "sparse.cl", "update.cl"}

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

// lanes is the number of examples interleaved in a block of x.
const lanes = 16

// gpuEngine is one opened device with its compiled kernels.
type gpuEngine struct {
	mu         sync.Mutex // kernels hold their arguments: one launch at a time
	info       Info
	conforming bool
	q          *queue
	program    *cl.Program
	vec        int  // lanes or columns a work-item computes (VEC)
	shares     bool // the device uses host memory in place
	maxAlloc   int64
	build      build

	score, scoreSparse, predict, assign, moveSums, moveSumsSparse, updateVector, norms *kernel
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
	vec     int    // 0: by the device's type
	guard   int    // bytes behind each buffer
	stream  bool   // no example stays on the device
	copies  bool   // never use host memory in place
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
	e := &gpuEngine{info: d.info, conforming: true, vec: b.vec, maxAlloc: d.info.MaxAlloc, build: b}
	shares, err := recovered(d.cl.HostUnifiedMemory)
	e.shares = err == nil && shares && !b.copies
	if o.MaxAlloc > 0 {
		e.maxAlloc = min(e.maxAlloc, o.MaxAlloc)
	}
	if o.MemoryLimit > 0 {
		d.info.Memory = min(d.info.Memory, o.MemoryLimit)
	}
	if e.vec == 0 {
		e.vec = 1
		if d.cl.Type()&cl.DeviceTypeCPU != 0 {
			e.vec = lanes
		}
	}
	e.q = &queue{device: d.cl, memory: d.info.Memory, guard: b.guard}
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
	options := fmt.Sprintf("-cl-std=CL1.2 -DLANES=%d -DVEC=%d -DCHUNK=%d %s", lanes, e.vec, numerics.Chunk, b.options)
	if e.program, err = e.q.build(b.sources, options); err != nil {
		return err
	}
	const group = 64
	for _, k := range []struct {
		to    **kernel
		name  string
		local int
	}{
		// A work-item of score is as heavy as it is wide.
		{&e.score, "score", max(group/e.vec, 8)},
		{&e.scoreSparse, "score_sparse", group},
		{&e.predict, "predict", group},
		{&e.assign, "assign", group},
		{&e.moveSums, "move_sums", max(group/e.vec, 1)},
		// One work-group a cell; a CPU runs a work-group on one core anyway.
		{&e.moveSumsSparse, "move_sums_sparse", group / e.vec},
		{&e.updateVector, "update_vector", group},
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
	for _, k := range []*kernel{e.score, e.scoreSparse, e.predict, e.assign, e.moveSums, e.moveSumsSparse, e.updateVector, e.norms} {
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
