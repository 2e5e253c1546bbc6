package store

import "sync/atomic"

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
