package store

import "os"

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
