package store

import (
	"os"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// LeastWindow and MostWindow are bytes that keep a disk and all processors busy.
const LeastWindow, MostWindow = 4 << 20, 64 << 20

// Pages are dense examples of D columns, which may lie in a mapped file; X is nil of sparse ones.
type Pages struct {
	X []float32
	D int
}

// Window returns how many examples are best read and used up at once, 0 if that does not matter: it
// does in a mapped file larger than the memory left.
func (p Pages) Window() int {
	m, found := mappingOf(Bytes(p.X))
	if !found {
		return 0
	}
	left := memory.Available()
	if int64(m.size) <= left {
		return 0
	}
	return max(1, int(min(max(left/16, LeastWindow), MostWindow))/(4*p.D))
}

// Fetch reads examples from..to-1 of a mapped file into memory.
func (p Pages) Fetch(from, to int) {
	if inFile(p.X) {
		fetch(Bytes(p.X[from*p.D:to*p.D]), true)
	}
}

// FetchSome reads the n examples row names among from..to-1: all if n is large, else these without
// waiting.
func (p Pages) FetchSome(from, to, n int, row func(k int) int) {
	if n == 0 || !inFile(p.X) {
		return
	}
	if n > (to-from)/4 {
		p.Fetch(from, to)
		return
	}
	for k := range n {
		fetch(Bytes(p.X[row(k)*p.D:(row(k)+1)*p.D]), false)
	}
}

// mappingOf returns the mapped file that part lies in.
func mappingOf(part []byte) (m mapping, found bool) {
	mapped.Lock()
	defer mapped.Unlock()
	at := Address(part)
	for _, m := range mapped.list {
		if !m.closed && !m.shared && m.at <= at && at < m.at+m.size {
			return m, true
		}
	}
	return m, false
}

func inFile(values []float32) bool {
	_, found := mappingOf(Bytes(values))
	return found
}

// LetGo gives back the pages of part: of a mapped file, which is read again, or of shared memory if
// lost says that nobody wants it.
func LetGo(part []byte, lost bool) {
	page := uintptr(os.Getpagesize())
	at, size := Address(part), uintptr(len(part))
	// to the first whole page: the rest of those at both ends is of others, who may want it yet
	skip := -at % page
	if size < skip+page {
		return
	}
	mapped.Lock()
	defer mapped.Unlock() // or somebody could unmap it meanwhile, and have other memory there
	for _, m := range mapped.list {
		if !m.closed && (lost || !m.shared) && at-m.at < m.size && size <= m.size-(at-m.at) { // unsigned
			dropPages(part[skip : size-(at+size)%page])
			return
		}
	}
}

// ReadOnce is a list that is read in order, and not needed any more behind.
type ReadOnce[T Element] struct {
	list []T
	done int
	lost bool
}

// Once returns list to be read from place done on; lost is as in LetGo.
func Once[T Element](list []T, done int, lost bool) ReadOnce[T] {
	return ReadOnce[T]{list, done, lost}
}

// letGoBytes is given back at a time.
const letGoBytes = 1 << 20

// UpTo says that elements up to place k have been read.
func (r *ReadOnce[T]) UpTo(k int) {
	if part := Bytes(r.list[r.done:k]); len(part) >= letGoBytes {
		LetGo(part, r.lost)
		r.done = k
	}
}

// aheadBytes is what an Ahead reads at once.
const aheadBytes = 4 << 20

// Ahead reads a mapped file's examples in order, in the background, while processors compute.
type Ahead struct {
	x            Pages
	window       int
	reached      atomic.Int64 // an example that somebody has come to, one of the last
	came, closed chan struct{}
	ended        chan struct{}
}

// Ahead begins to read up to a window of examples ahead of Come; it takes a Close.
func (p Pages) Ahead(window int) *Ahead {
	a := &Ahead{x: p, window: window, came: make(chan struct{}, 1), closed: make(chan struct{})}
	a.ended = make(chan struct{})
	go a.read()
	return a
}

// Come says that somebody has come to example i. Several may, at once, and not quite in order.
func (a *Ahead) Come(i int) {
	a.reached.Store(int64(i))
	select {
	case a.came <- struct{}{}:
	default: // that somebody came is known, and where will be read
	}
}

// Close ends the reading, and returns when it has ended.
func (a *Ahead) Close() {
	close(a.closed)
	<-a.ended
}

func (a *Ahead) read() {
	defer close(a.ended)
	n := len(a.x.X) / max(1, a.x.D)
	for next := 0; next < n; {
		select {
		case <-a.closed:
			return
		default:
		}
		reached := int(a.reached.Load())
		if next = max(next, reached); next < reached+a.window {
			end := min(next+max(1, aheadBytes/(4*a.x.D)), n)
			a.x.Fetch(next, end)
			next = end
			continue
		}
		select {
		case <-a.came:
		case <-a.closed:
			return
		}
	}
}
