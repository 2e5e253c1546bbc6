package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func BenchmarkTrees(b *testing.B) { each(b, trees) }

// trees measures rounds of boosting with trees of 31 leaves: the milliseconds of a hundred rounds,
// by operation.
func trees(b *testing.B, e *engine.Engine) {
	for _, s := range []struct{ n, f, q int }{{300000, 30, 2}, {50000, 54, 7}} {
		b.Run(fmt.Sprintf("n=%d/F=%d/Q=%d", s.n, s.f, s.q), func(b *testing.B) {
			x, y := treeData(s.n, s.f, s.q)
			start := time.Now()
			r, err := e.LoadBins(x, s.q)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(start).Seconds()*1e3, "load-ms")
			defer r.Close()
			t := engine.Targets{Values: make([]float32, s.q*s.q), Row: y}
			for k := range t.Values {
				if t.Values[k] = float32(math.Inf(-1)); k%(s.q+1) == 0 {
					t.Values[k] = 0
				}
			}
			if err := r.SetTargets(t); err != nil {
				b.Fatal(err)
			}
			g := &grower{b: b, r: r, x: x, took: map[string]time.Duration{}}
			first := 0
			if s.q == 2 {
				first = 1
			}
			for b.Loop() {
				g.timed("gradients", func() error { _, err := r.Gradients(); return err })
				for class := first; class < s.q; class++ {
					g.grow(class)
				}
			}
			for op, took := range g.took {
				b.ReportMetric(took.Seconds()*1e5/float64(b.N), op+"-ms/100")
			}
		})
	}
}

// treeData draws examples whose class depends on some features.
func treeData(n, f, q int) (dataset.Binned, []int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := dataset.Binned{N: n, F: f, Bins: make([]uint8, n*f), Counts: make([]int, f)}
	for k := range x.Bins {
		x.Bins[k] = uint8(rng.IntN(255))
	}
	for k := range x.Counts {
		x.Counts[k] = 255
	}
	y := make([]int32, n)
	for i := range y {
		sum := rng.IntN(120)
		for k := range 10 {
			sum += int(x.Bins[k*n+i]) * (1 + k%3) / 2
		}
		y[i] = int32(sum / 40 % q)
	}
	return x, y
}

// grower grows trees, the leaf of the largest gain first; siblings by subtraction.
type grower struct {
	b    *testing.B
	r    *engine.Bins
	x    dataset.Binned
	took map[string]time.Duration
}

func (g *grower) timed(op string, f func() error) {
	start, cpu := time.Now(), cpuTime()
	if err := f(); err != nil {
		g.b.Fatal(err)
	}
	g.took[op] += time.Since(start)
	g.took["cpu-"+op] += cpuTime() - cpu
}

type benchLeaf struct {
	sums         []int64
	gain         float64
	feature, bin int
	value        float32
	at           [2]int // parent and side in the tree
}

func (g *grower) best(l *benchLeaf) {
	l.gain = 0
	tg, th := 0.0, 0.0
	for bin := range g.x.Counts[0] {
		tg, th = tg+float64(l.sums[2*bin]), th+float64(l.sums[2*bin+1])
	}
	l.value = float32(-0.1 * tg / (th + 1<<18))
	whole, at := tg*tg/(th+1<<18), 0
	for f, count := range g.x.Counts {
		lg, lh := 0.0, 0.0
		for bin := range count - 1 {
			lg, lh = lg+float64(l.sums[at+2*bin]), lh+float64(l.sums[at+2*bin+1])
			rg, rh := tg-lg, th-lh
			if lh < 1<<18 || rh < 1<<18 {
				continue
			}
			if gain := lg*lg/(lh+1<<18) + rg*rg/(rh+1<<18) - whole; gain > l.gain {
				l.gain, l.feature, l.bin = gain, f, bin
			}
		}
		at += 2 * count
	}
}

func (g *grower) grow(class int) {
	const leaves = 31
	var features []int
	size := 0
	for f, count := range g.x.Counts {
		features, size = append(features, f), size+2*count
	}
	g.timed("start", func() error { return g.r.Start(engine.Growth{Class: class}) })
	nodes := map[int]*benchLeaf{0: {sums: make([]int64, size), at: [2]int{-1, 0}}}
	hist := func(node int) {
		g.timed("histogram", func() error { return g.r.Histogram(nodes[node].sums, node, features) })
	}
	hist(0)
	g.best(nodes[0])
	var t engine.Tree
	for len(nodes) < leaves {
		at, most := -1, 0.0
		for id, l := range nodes {
			if l.gain > most || l.gain == most && id < at {
				at, most = id, l.gain
			}
		}
		if at < 0 {
			break
		}
		l := nodes[at]
		var left engine.BinSet
		for bin := range l.bin + 1 {
			left[bin>>6] |= 1 << (bin & 63)
		}
		k := len(t.Nodes)
		children := [2]int{2*k + 1, 2*k + 2}
		var counts [2]int64
		g.timed("split", func() (err error) {
			counts, err = g.r.Split(at, l.feature, left, children)
			return err
		})
		t.Nodes = append(t.Nodes, engine.Node{Feature: int32(l.feature), Left: left})
		if l.at[0] >= 0 {
			t.Nodes[l.at[0]].Children[l.at[1]] = int32(k)
		}
		small := 0
		if counts[1] < counts[0] {
			small = 1
		}
		delete(nodes, at)
		nodes[children[small]] = &benchLeaf{sums: make([]int64, size), at: [2]int{k, small}}
		hist(children[small])
		for j, v := range nodes[children[small]].sums {
			l.sums[j] -= v
		}
		nodes[children[1-small]] = &benchLeaf{sums: l.sums, at: [2]int{k, 1 - small}}
		for _, c := range children {
			g.best(nodes[c])
		}
	}
	for _, l := range nodes {
		if l.at[0] >= 0 {
			t.Nodes[l.at[0]].Children[l.at[1]] = ^int32(len(t.Values))
		}
		t.Values = append(t.Values, l.value)
	}
	g.timed("add", func() error { return g.r.Add(t, class) })
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
