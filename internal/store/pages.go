package store

import (
	"os"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// LeastWindow and MostWindow are the bytes of a window: enough to keep a disk and all processors
// busy, and no more.
const LeastWindow, MostWindow = 4 << 20, 64 << 20

// Pages are the values of dense examples of D columns, which may lie in a mapped file; X is nil of
// sparse ones.
type Pages struct {
	X []float32
	D int
}

// Window returns how many examples are best read at once, all that is to be done with them before
// others are, or 0 if that does not matter. It does where dense examples lie in a mapped file that
// is larger than the memory which the process may still take: what was read of it is gone when it
// is wanted again, and the system, which cannot know what is wanted next, reads much that is not.
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

// Fetch reads examples from..to-1 into memory, one after the other, if they are dense and lie in a
// mapped file.
func (p Pages) Fetch(from, to int) {
	if inFile(p.X) {
		fetch(Bytes(p.X[from*p.D:to*p.D]), true)
	}
}

// FetchSome reads n of the examples from..to-1, which row names, if they are dense and lie in a
// mapped file: all of from..to-1 if n is large, else these alone, without waiting for them.
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

// LetGo gives back the pages of part, if it lies in a file that is mapped: they count as memory of
// the process while it has them, and come from the file again when somebody reads them. Memory
// that ranks share has its values nowhere else: it is given back if lost says that nobody wants
// them, and no other memory ever is.
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

// Once returns list to be read from place done on; lost says that nobody wants the values any more
// (LetGo).
func Once[T Element](list []T, done int, lost bool) ReadOnce[T] {
	return ReadOnce[T]{list, done, lost}
}

// letGoBytes is how many bytes are given back at a time: often enough that two processors have few
// of them, seldom enough that it takes no time.
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

// Ahead reads the examples of a mapped file in their order, in the background, before a computation
// needs them. The disk then works while the processors compute.
type Ahead struct {
	x            Pages
	window       int
	reached      atomic.Int64 // an example that somebody has come to, one of the last
	came, closed chan struct{}
	ended        chan struct{}
}

// Ahead begins to read the examples, up to a window of examples before whoever goes through all of
// them once, in order; it takes a Close. Of examples that lie in no file it reads nothing.
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
