//go:build linux && cgo && !noopencl

package gpu

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// What bench/gpu/run.sh asks of a device that nobody has measured yet.

var firstFull = flag.Bool("full", false, "benchmarks at the sizes that are worth a GPU")

// atFull is a size for a GPU, or a small one that shows that it works.
func atFull(full, small int) int {
	if *firstFull {
		return full
	}
	return small
}

// onEachDevice runs f as a benchmark of each device.
func onEachDevice(b *testing.B, f func(b *testing.B, i Info)) {
	eachDevice(b, func(i Info) { b.Run(i.ID(), func(b *testing.B) { f(b, i) }) })
}

// median returns the median time of f, after one call to warm up.
func median(b *testing.B, times int, f func() error) time.Duration {
	var all []time.Duration
	for k := range times + 1 {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		if k > 0 {
			all = append(all, time.Since(start))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkDevice measures what is the device's own: launches, reads, copies, how many work-groups
// there may be, and how much memory it really has.
func BenchmarkDevice(b *testing.B) {
	const source = `__kernel void last(__global int *out) { out[0] = (int)get_group_id(1); }`
	onEachDevice(b, func(b *testing.B, i Info) {
		e := openTest(b, i, Options{}, build{guard: noGuard})
		program, err := e.q.build([]string{source}, "")
		if err != nil {
			b.Fatal(err)
		}
		k, err := e.q.kernel(program, "last", 1, false)
		if err != nil {
			b.Fatal(err)
		}
		o := buffers{q: e.q}
		out, number := alloc[int32](&o, "out", 1), make([]int32, 1)
		if o.err != nil {
			b.Fatal(o.err)
		}
		b.Run("launch", func(b *testing.B) {
			const many = 100
			alone := median(b, 20, func() error {
				return errors.Join(k.launch(1, 1, struct{ Out *buffer[int32] }{out}), e.q.queue.Finish())
			})
			all := median(b, 20, func() (err error) {
				for range many {
					err = errors.Join(err, k.launch(1, 1, struct{ Out *buffer[int32] }{out}))
				}
				return errors.Join(err, e.q.queue.Finish())
			})
			b.ReportMetric(1e6*alone.Seconds(), "µs-waited-for")
			b.ReportMetric(1e6*all.Seconds()/many, "µs-of-100")
		})
		b.Run("read of 4 bytes", func(b *testing.B) {
			took := median(b, 20, func() error { return out.read(number, 0) })
			b.ReportMetric(1e6*took.Seconds(), "µs")
		})
		b.Run("work-groups in dimension 1", func(b *testing.B) {
			most := 0
			for height := 65535; height <= 1<<21; height = (height + 1) * 2 {
				e.q.height = height
				if k.launch(1, height, struct{ Out *buffer[int32] }{out}) != nil || out.read(number, 0) != nil {
					break
				}
				most = height
			}
			e.q.height = 0
			b.ReportMetric(float64(most), "at-least")
		})
		if err := o.free(); err != nil {
			b.Fatal(err)
		}
		size := atFull(256<<20, 4<<20)
		b.Run(fmt.Sprintf("copies of %d MiB", size>>20), func(b *testing.B) {
			copies(b, e.deviceEngine,
				size)
		})
		b.Run("memory", func(b *testing.B) {
			share := 1.0
			if !*firstFull || i.SharesMemory {
				share = 0.01 // it is the host's
			}
			b.ReportMetric(100*memoryThere(b, e.deviceEngine, share), "%-of-what-it-says")
		})
	})
}

// copies measures copies to the device and back, from memory that is pinned and from other.
func copies(b *testing.B, e *deviceEngine, size int) {
	o := buffers{q: e.q}
	to := alloc[uint8](&o, "copies", size)
	if o.err != nil {
		b.Fatal(o.err)
	}
	defer o.free()
	host, err := e.q.context.CreateEmptyBuffer(cl.MemReadWrite|cl.MemAllocHostPtr, size)
	if err != nil {
		b.Fatal(err)
	}
	defer host.Release()
	mapped, event, err := e.q.queue.EnqueueMapBuffer(host, true, cl.MapFlagRead|cl.MapFlagWrite, 0,
		size, nil)
	if done(event, err) != nil {
		b.Fatal(err)
	}
	pageable := make([]uint8, size)
	for k := range pageable {
		pageable[k] = uint8(k)
	}
	for _, m := range []struct {
		name string
		at   unsafe.Pointer
	}{{"pageable", unsafe.Pointer(&pageable[0])}, {"pinned", mapped.Ptr()}} {
		rate := func(f func() (*cl.Event, error)) float64 {
			took := median(b, 5, func() error { return done(f()) })
			return float64(size) / 1e9 / took.Seconds()
		}
		b.ReportMetric(rate(func() (*cl.Event, error) {
			return e.q.queue.EnqueueWriteBuffer(to.mem, true, 0, size, m.at, nil)
		}), "GB/s-to-"+m.name)
		b.ReportMetric(rate(func() (*cl.Event, error) {
			return e.q.queue.EnqueueReadBuffer(to.mem, true, 0, size, m.at, nil)
		}), "GB/s-from-"+m.name)
	}
	if err := done(e.q.queue.EnqueueUnmapMemObject(host, mapped, nil)); err != nil {
		b.Fatal(err)
	}
}

// memoryThere returns which share of the memory that a device says it has can be written to, at
// most the given share: what a driver promises and has not is missed only then.
func memoryThere(b *testing.B, e *deviceEngine, share float64) float64 {
	all := int64(share * float64(e.info.Memory))
	e.q.memory = e.info.Memory
	o, there, zeros := buffers{q: e.q}, int64(0), make([]uint8, 16<<20)
	for there < all {
		size := min(e.maxAlloc, all-there, 1<<30)
		room := alloc[uint8](&o, "memory", int(size))
		for at := int64(0); o.err == nil && at < size; at += int64(len(zeros)) {
			o.err = room.write(int(at), zeros[:min(int64(len(zeros)), size-at)])
		}
		if o.err != nil {
			fmt.Println(e.info.ID(), "memory:", o.err)
			break
		}
		there += size
	}
	if err := o.free(); err != nil {
		b.Error(err)
	}
	return float64(there) / float64(e.info.Memory)
}

// work is an operation of the engine with the least that any device has to do for it.
type work struct {
	name       string
	fma, bytes float64
	do         func() error
	answers    func() []uint64 // what it found
}

// evaluationWork loads examples and returns an evaluation of them, and, as a step of a learner by
// cells has them, two classes scored again and the assignment that follows.
func evaluationWork(b *testing.B, e *tested, n, d, q int) (works []work, free func()) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range x.X {
		x.X[k] = float32(int32(rng.Uint32()>>8)-1<<23) / (1 << 23)
	}
	y, w, sums := make([]int32, n), engine.NewWeights(q, d), make([]int64, q*d)
	targets := engine.Targets{Values: make([]float32, q*q), Row: y}
	for i := range y {
		y[i] = int32(rng.IntN(q))
	}
	for k := range w.W {
		w.W[k] = float32(0.01 * rng.NormFloat64())
	}
	r, err := e.LoadEvaluator(x, q, numerics.FixedPoint{})
	if err == nil {
		err = r.SetTargets(targets)
	}
	if err != nil {
		b.Fatal(err)
	}
	var found engine.Evaluation
	each := float64(n) * float64(d)
	works = append(works, work{fmt.Sprintf("evaluation, %d × %d, Q = %d", n, d, q),
		2 * each * float64(q), 4 * each, func() (err error) {
			found, err = r.Evaluate(sums, w)
			return err
		}, func() (all []uint64) {
			for _, s := range append(slices.Clone(sums), found.Loss) {
				all = append(all, uint64(s))
			}
			return all
		}})
	free = func() { r.Close() }
	if q > 50 { // class sums of all pairs are large
		return works, free
	}
	c, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
	if err != nil {
		b.Fatal(err)
	}
	var counts engine.Assignment
	if err := c.Rescore(w, allOf(q)); err != nil {
		b.Fatal(err)
	}
	round := float32(1)
	works = append(works, work{fmt.Sprintf("step, %d × %d, Q = %d", n, d, q),
		2 * each, 4 * each, func() (err error) {
			if err = c.Rescore(w, []int{0, 1}); err == nil {
				counts, err = c.Assign(0)
			}
			round = -round
			for k := range 2 * d { // so that examples move
				w.W[k] += round / 1024
			}
			return err
		}, func() (all []uint64) {
			for _, s := range counts.Predicted {
				all = append(all, uint64(s))
			}
			return all
		}})
	return works, func() { r.Close(); c.Close() }
}

func allOf(q int) []int {
	all := make([]int, q)
	for c := range all {
		all[c] = c
	}
	return all
}

// projectionWork returns a projection on m landmarks and, as kernel PCA has it, a Gram matrix.
func projectionWork(e *tested, n, d, m, axes int) work {
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := func(n, d int) dataset.Examples {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range x.X {
			x.X[k] = rng.Float32() - 0.5
		}
		return x
	}
	x := drawn(n, d)
	p := engine.Projection{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.1},
		Landmarks: drawn(m, d)}
	name := fmt.Sprintf("projection, %d × %d, m = %d, %d axes", n, d, m, axes)
	if axes > 0 {
		p.Axes = engine.Weights{Q: axes, D: m, W: drawn(axes, m).X}
	} else {
		name = fmt.Sprintf("kernel values, %d × %d, m = %d", n, d, m)
	}
	dst := make([]float32, n*p.Width())
	return work{name, float64(n) * float64(m) * float64(d+axes), 4 * float64(n*d+len(dst)),
		func() error { return e.Project(dst, x, p) },
		func() (all []uint64) {
			for _, v := range dst {
				all = append(all, uint64(*(*uint32)(unsafe.Pointer(&v))))
			}
			return all
		}}
}

// innerShare is the share of multiply-adds in the inner loops of 64 classes (docs/devices.md).
const innerShare = 0.85

// BenchmarkProfile says how long each operation takes, and which share of the roofline that is: of
// what the larger of its multiply-adds at their peak and its bytes at the bandwidth would take.
func BenchmarkProfile(b *testing.B) {
	sizes := [][3]int{{60000, 784, 10}, {500000, 784, 10}, {1000000, 1000, 100}}
	projections := [][4]int{{60000, 784, 1000, 0}, {60000, 784, 4000, 0}, {60000, 784, 1000, 500},
		{60000, 784, 4000, 1600}, {4000, 784, 4000, 0}}
	if !*firstFull {
		sizes, projections = [][3]int{{3000, 64, 10}}, [][4]int{{1000, 64, 100, 0}, {1000, 64, 100, 50}}
	}
	onEachDevice(b, func(b *testing.B, i Info) {
		e := openTest(b, i, Options{}, build{guard: noGuard})
		fma := peak(b, e.deviceEngine)
		bandwidth, err := e.copyBandwidth()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("peak", func(b *testing.B) {
			b.ReportMetric(fma/1e9, "Gfma/s")
			b.ReportMetric(bandwidth/1e9, "GB/s")
		})
		measure := func(w work) {
			b.Run(w.name, func(b *testing.B) {
				took := median(b, atFull(20, 2), w.do)
				least := max(w.fma/fma, w.bytes/bandwidth)
				b.ReportMetric(1e3*took.Seconds(), "ms")
				b.ReportMetric(100*least/took.Seconds(), "%roofline")
				b.ReportMetric(1e3*max(w.fma/fma/innerShare, w.bytes/bandwidth), "ms-predicted")
			})
		}
		for _, s := range sizes {
			works, free := evaluationWork(b, e, s[0], s[1], s[2])
			for _, w := range works {
				measure(w)
			}
			free()
		}
		for _, s := range projections {
			measure(projectionWork(e, s[0], s[1], s[2], s[3]))
		}
	})
}

// variant is a way to compile or to cut that the default is compared with.
type variant struct {
	name           string
	file, from, to string // text of a kernel that is replaced, if any
	options        string // of the compiler
	group, ranges  int    // of build
	shape          shape  // of build
	ordered        bool   // it keeps the contract's order, so that the bits are the same
}

var variants = []variant{
	{name: "default", ordered: true},
	{name: "no loop unrolled", file: "contract.cl", from: "_Pragma(#text)", to: "", ordered: true},
	{name: "work-groups of 32", group: 32, ordered: true},
	{name: "work-groups of 128", group: 128, ordered: true},
	{name: "work-groups of 256", group: 256, ordered: true},
	{name: "16 ranges of blocks", ranges: 16, ordered: true},
	{name: "128 ranges of blocks", ranges: 128, ordered: true},
	{name: "1024 ranges of blocks", ranges: 1024, ordered: true},
	{name: "steps in local memory by two", shape: shape{steps: 2}, ordered: true},
	{name: "steps in local memory by four", shape: shape{steps: 4}, ordered: true},
	{name: "steps in local memory by sixteen", shape: shape{steps: 16}, ordered: true},
	// What the bits cost.
	{name: "one chain for all columns", options: " -UCHUNK -DCHUNK=65536"},
	{name: "sums that are not rounded alike", file: "weighted.cl", from: "integer_of(sum[n], scale)",
		to: "convert_long(sum[n] * scale)"},
}

// BenchmarkVariants compares other ways to compile and to cut the kernels with the default, and
// their bits. They are variants of the form for GPUs.
func BenchmarkVariants(b *testing.B) {
	onEachDevice(b, func(b *testing.B, i Info) {
		wanted := map[string][]uint64{}
		for _, v := range variants {
			b.Run(v.name, func(b *testing.B) { v.measure(b, i, wanted) })
		}
	})
}

// measure measures operations of a variant, and compares what they find with what the first one
// found, which wanted has by their names.
func (v variant) measure(b *testing.B, i Info, wanted map[string][]uint64) {
	how := build{style: "gpu", guard: noGuard, options: v.options,
		group: cmp.Or(v.group, workGroup(false, 0, 256)), ranges: v.ranges,
		shape: v.shape}
	if v.file != "" {
		how.sources = mutate(b, v.file, v.from, v.to)
	}
	e := openTest(b, i, Options{}, how)
	works, free := evaluationWork(b, e, atFull(100000, 600), atFull(784, 300), 10)
	many, freeToo := evaluationWork(b, e, atFull(100000, 600), atFull(784, 300), 100)
	works = append(append(works, many...),
		projectionWork(e, atFull(60000, 300), atFull(784, 300), atFull(1000, 70), 0))
	for _, w := range works {
		b.Run(w.name, func(b *testing.B) {
			took := median(b, atFull(20, 1), w.do)
			found := w.answers()
			if wanted[w.name] == nil {
				wanted[w.name] = found
			}
			differ := 0
			for k := range found {
				differ += int(number(found[k] != wanted[w.name][k]))
			}
			if v.ordered && differ > 0 {
				b.Errorf("%d of %d numbers differ from the default's", differ, len(found))
			}
			b.ReportMetric(1e3*took.Seconds(), "ms")
			b.ReportMetric(float64(differ), "differ")
		})
	}
	free()
	freeToo()
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

// TestVariantsApply: the text that a variant replaces is there.
func TestVariantsApply(t *testing.T) {
	for _, v := range variants {
		if v.file != "" {
			mutate(t, v.file, v.from, v.to)
		}
	}
}

// copyBandwidth measures how fast the device copies within its own memory, in bytes per second read
// and written together: the best of several copies of up to 256 MiB.
func (e *deviceEngine) copyBandwidth() (bytesPerSecond float64, err error) {
	const most = 256 << 20
	size := max(leastBuffer, min(most, e.maxAlloc, (e.q.memory-e.q.inUse)/4)/4*4)
	o := buffers{q: e.q}
	defer func() { err = errors.Join(err, o.free()) }()
	// An operating system gives a page of memory when it is first written to. Filling both
	// buffers before the copies are timed keeps that out of the measurement.
	from := filled[float32](&o, "bandwidth test", int(size/4), 1)
	to := filled[float32](&o, "bandwidth test", int(size/4), 1)
	if o.err != nil {
		return 0, o.err
	}
	// Each round times several copies in a row, so that the time of starting one hardly counts.
	const rounds, copies = 6, 8
	best := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		for range copies {
			if err := done(e.q.queue.EnqueueCopyBuffer(from.mem, to.mem, 0, 0, int(size),
				nil)); err != nil {
				return 0, fmt.Errorf("copy %d bytes on the device: %w", size, err)
			}
		}
		if err := e.q.queue.Finish(); err != nil {
			return 0, fmt.Errorf("copy %d bytes on the device: %w", size, err)
		}
		best = min(best, time.Since(start))
	}
	return float64(copies*2*size) / max(best.Seconds(), 1e-9), nil
}
