package file

// blocks is a growing list that never copies what it holds: an append to one
// large slice keeps the old and the new array alive at each growth, which on a
// data file of some gigabytes decides whether it can be read.
type blocks[T any] struct {
	full [][]T
	last []T
	n    int // elements in full
}

const (
	firstBlock = 1 << 8
	mostBlock  = 1 << 20
)

func (b *blocks[T]) push(v T) {
	if len(b.last) == cap(b.last) {
		b.grow()
	}
	b.last = append(b.last, v)
}

func (b *blocks[T]) grow() {
	size := firstBlock
	if b.last != nil {
		b.full = append(b.full, b.last)
		b.n += len(b.last)
		size = min(2*len(b.last), mostBlock)
	}
	b.last = make([]T, 0, size)
}

func (b *blocks[T]) len() int { return b.n + len(b.last) }

// all returns the blocks in order.
func (b *blocks[T]) all() [][]T { return append(b.full[:len(b.full):len(b.full)], b.last) }

// flatten returns the elements in one slice and empties b, block by block, so
// that the collector may take back what is already copied.
func (b *blocks[T]) flatten() []T {
	flat := make([]T, 0, b.len())
	for i, block := range b.full {
		flat = append(flat, block...)
		b.full[i] = nil
	}
	flat = append(flat, b.last...)
	*b = blocks[T]{}
	return flat
}
