//go:build linux && cgo && !noopencl

package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// queue wraps the binding and avoids its traps. It is an in-order command queue that uses no Go
// memory after a call: transfers block. Events are released at once, empty transfers do nothing,
// and kernels are launched with all their arguments or not at all.
type queue struct {
	context *cl.Context
	cache   *programCache // of the context and its programs; nil if this engine alone has them
	queue   *cl.CommandQueue
	device  *cl.Device
	inUse   int64 // bytes of all buffers
	memory  int64 // of the device
	height  int   // work-groups in dimension 1 of one launch, at most; 0 for mostHeight
	guard   int   // bytes after each buffer that nothing may write to (tests)
	lost    bool  // the device does not answer, and may still use the host's memory
}

// settle waits until the device has done everything that was enqueued. A lost device, for which
// nobody can wait, may read host memory as long as the process lives: nothing is unmapped
// afterwards, and this error alone says so.
func (q *queue) settle() (err error) {
	if q.queue == nil || q.lost {
		return nil
	}
	last := q.queue.Finish()
	for k := 0; k < 2 && last != nil; k++ {
		err, last = last, q.queue.Finish()
	}
	if last != nil {
		err, q.lost = last, true
		osfile.Hold()
	}
	if err != nil {
		return fmt.Errorf("wait for the device: %w", err)
	}
	return nil
}

// element is what buffers hold.
type element interface {
	uint8 | int8 | int32 | int64 | float32
}

// buffer is n values of type T in device memory.
type buffer[T element] struct {
	name string
	n    int
	mem  *cl.MemObject
	q    *queue
}

// leastBuffer is the size of the smallest buffer, in bytes: OpenCL knows no empty one.
const leastBuffer = 16

// readBeyond is how many bytes after an array kernels may read, without use: kernels/weighted.cl
// reads the columns of the last example by fours.
const readBeyond = 12

// guardByte fills what nothing may write to.
const guardByte = 0xA5

func (b *buffer[T]) bytes() int { return b.n * int(unsafe.Sizeof(*new(T))) }

func (b *buffer[T]) object() *cl.MemObject { return b.mem }

// buffers allocates the buffers of one owner and frees them. After an error, which it keeps, it
// allocates nothing more and returns nil.
type buffers struct {
	q   *queue
	all []interface{ free() error }
	err error
}

func (o *buffers) free() error {
	var errs []error
	for _, b := range o.all {
		errs = append(errs, b.free())
	}
	o.all = nil
	return errors.Join(errs...)
}

// note keeps the first error.
func (o *buffers) note(err error) {
	if o.err == nil {
		o.err = err
	}
}

// alloc makes a buffer of n values, not initialised.
func alloc[T element](o *buffers, name string, n int) *buffer[T] {
	if o.err != nil {
		return nil
	}
	b := &buffer[T]{name: name, n: n, q: o.q}
	if o.err = b.alloc(); o.err != nil {
		return nil
	}
	o.all = append(o.all, b)
	return b
}

// upload makes a buffer of v.
func upload[T element](o *buffers, name string, v []T) *buffer[T] {
	b := alloc[T](o, name, len(v))
	if b != nil {
		o.err = b.write(0, v)
	}
	return b
}

// filled makes a buffer of n times v.
func filled[T element](o *buffers, name string, n int, v T) *buffer[T] {
	b := alloc[T](o, name, n)
	if b != nil {
		o.err = b.fill(v)
	}
	return b
}

// alloc takes the memory of b.
func (b *buffer[T]) alloc() (err error) {
	q, size := b.q, max(b.bytes(), leastBuffer)
	if q.inUse+int64(size) > q.memory {
		return fmt.Errorf("%w: %s wants %d bytes, %d of %d are in use", engine.ErrMemory, b.name, size,
			q.inUse, q.memory)
	}
	if b.mem, err = q.context.CreateEmptyBuffer(cl.MemReadWrite,
		size+max(q.guard, readBeyond)); err != nil {
		return fmt.Errorf("%w: allocate %d bytes for %s, %d of %d in use: %w", engine.ErrMemory,
			size, b.name, q.inUse, q.memory, err)
	}
	q.inUse += int64(size)
	if q.guard > 0 {
		pattern := byte(guardByte)
		if err = done(q.queue.EnqueueFillBuffer(b.mem, unsafe.Pointer(&pattern), 1, b.bytes(),
			size-b.bytes()+q.guard, nil)); err != nil {
			return fmt.Errorf("guard %s: %w", b.name, err)
		}
	}
	return nil
}

// done releases the event that every enqueue makes.
func done(event *cl.Event, err error) error {
	if event != nil {
		event.Release()
	}
	return err
}

// write copies v to the buffer from value at on, after everything enqueued before.
func (b *buffer[T]) write(at int, v []T) error {
	if len(v) == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(v[0]))
	if at < 0 || at+len(v) > b.n {
		return fmt.Errorf("write to %s: values %d..%d of %d", b.name, at, at+len(v)-1, b.n)
	}
	if err := done(b.q.queue.EnqueueWriteBuffer(b.mem, true, at*size, len(v)*size,
		unsafe.Pointer(&v[0]), nil)); err != nil {
		return fmt.Errorf("write to %s: %w", b.name, err)
	}
	return nil
}

// read copies values from at on into v, after everything enqueued before.
func (b *buffer[T]) read(v []T, at int) error {
	if len(v) == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(v[0]))
	if at < 0 || at+len(v) > b.n {
		return fmt.Errorf("read from %s: values %d..%d of %d", b.name, at, at+len(v)-1, b.n)
	}
	err := done(b.q.queue.EnqueueReadBuffer(b.mem, true, at*size, len(v)*size, unsafe.Pointer(&v[0]),
		nil))
	if err != nil {
		return fmt.Errorf("read from %s: %w", b.name, err)
	}
	return nil
}

// fill sets every value, by writes rather than by OpenCL's fill, which oclgrind
// does not take for an initialisation.
func (b *buffer[T]) fill(v T) error {
	part := make([]T, min(b.n, 1<<18))
	for i := range part {
		part[i] = v
	}
	for at := 0; at < b.n; at += len(part) {
		if err := b.write(at, part[:min(len(part), b.n-at)]); err != nil {
			return err
		}
	}
	return nil
}

// free gives the memory back and, where there is a guard, judges it.
func (b *buffer[T]) free() error {
	if b == nil || b.mem == nil {
		return nil
	}
	err := b.checkGuard()
	b.q.inUse -= int64(max(b.bytes(), leastBuffer))
	b.mem.Release()
	b.mem = nil
	return err
}

func (b *buffer[T]) checkGuard() error {
	if b.q.guard == 0 {
		return nil
	}
	tail := make([]byte, b.q.guard)
	event, err := b.q.queue.EnqueueReadBuffer(b.mem, true, b.bytes(), len(tail),
		unsafe.Pointer(&tail[0]), nil)
	if err := done(event, err); err != nil {
		return fmt.Errorf("guard of %s: %w", b.name, err)
	}
	for i, v := range tail {
		if v != guardByte {
			return fmt.Errorf("a kernel wrote %d bytes beyond the end of %s", i+1, b.name)
		}
	}
	return nil
}

// compiled is a kernel with the work-group size it is always launched with: one
// size, because PoCL compiles a kernel for each.
type compiled struct {
	name  string
	cl    *cl.Kernel
	args  int
	local int
	q     *queue
}

// launch enqueues width×height work-items, the width rounded up to whole work
// groups; kernels check their first index. args is the kernel's struct in arguments.go.
func (k *compiled) launch(width, height int, args any) error {
	values, err := layOutArgs(args)
	if err == nil && len(values) != k.args {
		err = fmt.Errorf("got %d arguments, want %d", len(values), k.args)
	}
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.name, err)
	}
	for i, a := range values {
		if err := k.cl.SetArg(i, a); err != nil {
			return fmt.Errorf("kernel %s: argument %d: %w", k.name, i, err)
		}
	}
	width = (width + k.local - 1) / k.local * k.local
	most := cmp.Or(k.q.height, mostHeight)
	for from := 0; from < height; from += most {
		rows := min(height-from, most)
		if err := done(k.q.queue.EnqueueNDRangeKernel(k.cl, []int{0, from}, []int{width, rows},
			[]int{k.local, 1}, nil)); err != nil {
			return fmt.Errorf("kernel %s on %d×%d work-items from row %d on: %w", k.name, width, rows, from,
				err)
		}
	}
	return nil
}

// mostHeight is how many work-groups there may be in dimension 1 on a device of NVIDIA.
const mostHeight = 65535

// build returns the program that sources make, concatenated, for the queue's device,
// with these kernels. The caller gives it to release.
func (q *queue) build(sources []string, options string, kernels ...string) (*cl.Program, error) {
	if q.cache == nil {
		return q.compile(sources, options, kernels)
	}
	return q.cache.program(q.context, sources, options, func() (*cl.Program, error) {
		return q.compileAgain(sources, options, kernels)
	})
}

// compileAgain is compile for PoCL, which reads half of a program, or nothing, if another process
// is just writing it to the folder of compiled kernels, or if its file is damaged. An unused macro
// makes it another program, which is compiled afresh.
func (q *queue) compileAgain(sources []string, options string, kernels []string,
) (*cl.Program, error) {
	p, err := q.compile(sources, options, kernels)
	for attempt := 1; err != nil && attempt < compileAttempts; attempt++ {
		time.Sleep(rand.N(time.Duration(attempt) * 200 * time.Millisecond))
		var again error
		if p, again = q.compile(sources, fmt.Sprintf("%s -DATTEMPT=%d", options, attempt),
			kernels); again == nil {
			return p, nil
		}
	}
	return p, err
}

// compileAttempts is how often compileAgain tries.
const compileAttempts = 3

// release ends the use of a program that build returned.
func (q *queue) release(p *cl.Program) {
	if q.cache == nil {
		p.Release()
	}
}

// compile is build without the cache.
func (q *queue) compile(sources []string, options string, kernels []string) (*cl.Program, error) {
	program, err := q.context.CreateProgramWithSource(sources)
	if err != nil {
		return nil, fmt.Errorf("create program: %w", err)
	}
	if err := program.BuildProgram([]*cl.Device{q.device}, options); err != nil {
		program.Release()
		// The binding hands on the terminating NUL of the compiler's log.
		return nil, fmt.Errorf("build kernels: %s", strings.ReplaceAll(err.Error(), "\x00", ""))
	}
	for _, name := range kernels {
		k, err := program.CreateKernel(name)
		if err != nil {
			program.Release()
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		k.Release()
	}
	return program, nil
}

// kernel looks a kernel up and fixes its work-group size: want if it is exact, whatever the
// driver would rather have, else at most want.
func (q *queue) kernel(p *cl.Program, name string, want int, exact bool) (*compiled, error) {
	k, err := p.CreateKernel(name)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	args, err := k.NumArgs()
	if err != nil {
		return nil, fmt.Errorf("kernel %s: arguments: %w", name, err)
	}
	largest, err := k.WorkGroupSize(q.device)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: work-group size: %w", name, err)
	}
	if !exact {
		want = min(want, largest)
	}
	return &compiled{name: name, cl: k, args: args, local: max(1, want), q: q}, nil
}
