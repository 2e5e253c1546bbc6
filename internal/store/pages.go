package store

import "github.com/uma-gpu/uma-gpu/internal/memory"

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
