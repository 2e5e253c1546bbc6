//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// lanes is what the length of a line of scores is a multiple of, and the number of
// sparse examples in a slice.
const lanes = 16

// normClasses is the number of classes whose norms a work-item of norms takes on a CPU.
const normClasses = 4

// pocl is the platform whose compiler is known to fetch ahead when told.
const pocl = "Portable Computing Language"

// deviceEngine is the driver of an opened device, with its compiled kernels.
type deviceEngine struct {
	info     Info
	q        *queue
	compiled []*cl.Program // nil when closed
	build    build
	options  string // of the compiler
	traits
	kernelSet
}

// traits are the properties of a device that kernels and tiles are made for.
type traits struct {
	cpu      bool // kernels are built for a processor, else for a GPU
	vector   int  // values of a vector of kernels/project.cl
	maxAlloc int64

	// Work-items in a work-group: of most kernels; of kernels whose work-item takes much on a CPU; of
	// kernels that compute many columns of a product.
	group, wideGroup, bigGroup int
	shape                      shape // of tiles, on a GPU
}

// kernelSet are the kernels, nil until they are compiled.
type kernelSet struct {
	dense                                          denseKernels
	scoreSparse, predict, assign                   *compiled
	addRanges, clearSums                           *compiled
	moveSumsSparse, residuals, weightedSparse      *compiled
	updateVectors, norms                           *compiled
	product, productSparse, squares, squaresSparse *compiled
	histogram, splitCount, splitMove, addTree      *compiled
}

// Open returns an engine over OpenDriver's driver.
func Open(i Info, o Options) (*engine.Engine, error) {
	d, err := OpenDriver(i, o)
	if err != nil {
		return nil, err
	}
	return engine.New(d), nil
}

// OpenDriver opens a device that Devices listed, compiles the kernels for it, and runs a probe of
// its float32 operations and the self-test (clause 12). A device that fails one of them is refused
// with ErrNonconforming.
func OpenDriver(i Info, o Options) (engine.Driver, error) {
	sources, err := kernels.Sources()
	if err != nil {
		return nil, err
	}
	e, err := open(i, o, build{sources: sources})
	if err != nil {
		return nil, fmt.Errorf("open %s (%s): %w", i.ID(), i.Name, err)
	}
	if err := e.conforms(); err != nil {
		if errors.Is(err, engine.ErrMemory) { // too little to tell
			return nil, errors.Join(fmt.Errorf("open %s (%s): too little memory for the self-test, which "+
				"takes less than %d KiB, the largest allocation included: "+
				"%w", i.ID(), i.Name, selfTestMemory>>10, err), e.Close())
		}
		return nil, errors.Join(fmt.Errorf("open %s (%s): %w (take another device or a newer driver)",
			i.ID(), i.Name, err), e.Close())
	}
	return e, nil
}

// conforms runs the probe and the self-test.
func (e *deviceEngine) conforms() error {
	if err := e.probe(); err != nil {
		return err
	}
	err := engine.SelfTest(engine.New(e))
	if err == nil || errors.Is(err, engine.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNonconforming, err)
}

// selfTestMemory is enough for the self-test, of MaxAlloc and MemoryLimit.
const selfTestMemory = 1 << 20

// build says what to compile; tests compile broken kernels and guard buffers.
type build struct {
	sources []string
	options string // besides the macros
	style   string // "cpu" or "gpu"; "": by the device's type
	guard   int    // guard bytes after each buffer
	stream  bool   // no example stays on the device
	width   int    // values of a vector; 0: as the device has them
	group   int    // work-items in a work-group of most kernels; 0: workGroup's
	shape   shape  // of tiles on a GPU; its zero value: one of shapesFor
	ranges  int    // of blocks of weighted sums, at most; 0: as many as keep the device busy
	height  int    // of queue; 0: what all devices can
}

func open(i Info, o Options, b build) (*deviceEngine, error) {
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

func (d device) open(o Options, b build) (*deviceEngine, error) {
	e := &deviceEngine{info: d.info, build: b}
	e.traits = traits{maxAlloc: d.info.MaxAlloc - readBeyond}
	if o.MaxAlloc > 0 {
		e.maxAlloc = min(e.maxAlloc, o.MaxAlloc)
	}
	e.q = &queue{device: d.cl, memory: d.info.usable(o.MemoryLimit), guard: b.guard, height: b.height}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// start makes the queue and compiles the kernels. Close frees what it made, also
// when it fails.
func (e *deviceEngine) start() (err error) {
	if e.info.PlatformName == pocl && e.info.processor() {
		e.q.cache = poclPrograms
		e.q.context, err = e.q.cache.context(e.info.ID(), e.q.device)
	} else {
		e.q.context, err = cl.CreateContext([]*cl.Device{e.q.device})
	}
	if err != nil {
		return fmt.Errorf("create context: %w", err)
	}
	if e.q.queue, err = e.q.context.CreateCommandQueue(e.q.device, 0); err != nil {
		return fmt.Errorf("create command queue: %w", err)
	}
	most, err := recovered(e.q.device.MaxWorkGroupSize)
	if err != nil {
		return fmt.Errorf("largest work-group: %w", err)
	}
	e.cpu = e.build.style == "cpu" || e.build.style == "" && e.info.processor()
	e.group = workGroup(e.cpu, e.build.group, most)
	e.wideGroup, e.bigGroup = e.group, workGroup(false, 4*e.group, most)
	if e.cpu {
		e.wideGroup, e.bigGroup = 1, 1
	}
	e.vector = vectorWidth(e.q.device, e.cpu, e.build.width)
	e.options = compilerOptions(e.cpu)
	if e.cpu && e.info.PlatformName == pocl {
		e.options += " -DFETCHES"
	}
	e.options += " " + e.build.options
	for _, e.shape = range e.shapes() {
		all, dense, _, _ := e.library()
		if err = e.compile(all, dense); err == nil {
			return nil
		}
		e.kernelSet = kernelSet{} // of another shape
	}
	return err
}

// compilerOptions returns the options of all kernels.
func compilerOptions(cpu bool) string {
	return fmt.Sprintf("-cl-std=CL1.2 -DCPU=%d -DLANES=%d -DCHUNK=%d", number(cpu), lanes,
		numerics.Chunk)
}

// compile compiles the programs that are not compiled yet.
func (e *deviceEngine) compile(programs ...program) error {
	most, err := recovered(e.q.device.MaxWorkGroupSize)
	if err != nil {
		return fmt.Errorf("largest work-group: %w", err)
	}
	for _, p := range programs {
		uses, names := p.kernels, []string(nil)
		if *uses[len(uses)-1].to != nil {
			continue
		}
		for _, u := range uses {
			names = append(names, u.name)
		}
		program, err := e.q.build(p.text(e.build.sources), e.options+p.macros, names...)
		if err != nil {
			return err
		}
		e.compiled = append(e.compiled, program)
		for _, k := range uses {
			fixed := !e.cpu && slices.Contains(fixedGroups, k.name)
			if *k.to, err = e.q.kernel(program, k.name, min(k.local, most), fixed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *deviceEngine) Device() engine.Device {
	return engine.Device{
		Kind: "opencl", ID: e.info.ID(), Name: e.info.Name,
		Platform: e.info.PlatformName, Driver: e.info.Driver,
	}
}

// Close gives back all that the device has.
func (e *deviceEngine) Close() error {
	errs := []error{e.q.settle()}
	all, dense, evaluator, trees := e.library()
	for _, p := range []program{all, dense, evaluator, trees} {
		for _, k := range p.kernels {
			if *k.to != nil {
				(*k.to).cl.Release()
				*k.to = nil
			}
		}
	}
	for _, p := range e.compiled {
		e.q.release(p)
	}
	if e.q.queue != nil {
		e.q.queue.Release()
	}
	if e.q.context != nil && e.q.cache == nil {
		e.q.context.Release()
	}
	e.compiled, e.q = nil, &queue{lost: e.q.lost}
	return errors.Join(errs...)
}

// Load compiles what the examples need and loads them.
func (e *deviceEngine) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	err := checkMemory(e, x, t)
	if err == nil {
		err = e.compile(programsFor(e, x, t.Use)...)
	}
	if err != nil {
		return nil, err
	}
	r, err := newResident(e, x, t)
	if err != nil {
		return nil, fmt.Errorf("%d examples of %d features on %s: %w", x.N, x.D, e.info.ID(), err)
	}
	return r, nil
}

// Serial: kernels hold their arguments.
func (*deviceEngine) Serial() bool { return true }
