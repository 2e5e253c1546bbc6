package dataset

import (
	"archive/zip"
	"hash"
	"hash/crc32"
	"io"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// stored reports whether the bytes of m lie in a file as they are, as far as the archive tells.
func (m *member) stored() bool {
	f := m.file
	return m.src.file != nil && f.Method == zip.Store && f.CompressedSize64 == f.UncompressedSize64 &&
		f.UncompressedSize64 <= uint64(m.src.size)
}

// head returns how many bytes of m were read.
func (m *member) head() int64 { return m.passed - int64(m.Buffered()) }

// takeMember leaves this rank its part of an array of n examples whose elements have so many
// bytes, if the array lies in the file as it is, and its header was read.
func (b *builder) takeMember(m *member, size int64, n, d int) (r io.Reader, taken bool) {
	f := m.file
	head := m.head()
	if !b.shares() || !m.stored() || n < 1 || d < 1 ||
		memory.Sum(head, memory.Product(n, d, int(size))) != int64(f.UncompressedSize64) {
		return m, false
	}
	begin, err := f.DataOffset()
	if err != nil || begin < 0 || begin > b.src.size-int64(f.UncompressedSize64) {
		return m, false // which says what is wrong
	}
	b.take(n)
	b.sum = &partSums{m: m, head: head, row: int64(d) * size, want: f.CRC32, own: crc32.NewIEEE()}
	from, to := begin+head+int64(b.share.From)*b.sum.row, begin+head+int64(b.share.To)*b.sum.row
	if rank, _ := b.o.Ranks.Rank(); rank == 0 {
		// This one has the header, too. What cannot be read of it here changes the sum.
		io.Copy(b.sum.own, io.NewSectionReader(b.src.readerAt(), begin, head))
	}
	return io.TeeReader(io.NewSectionReader(b.src.readerAt(), from, to-from), b.sum.own), true
}

// partSums compares the parts of an array, read by ranks, with the CRC-32 of the whole.
type partSums struct {
	m    *member
	head int64 // bytes before the first row, which the first rank has
	row  int64 // bytes of a row
	want uint32
	own  hash.Hash32 // of this rank's part
}

// compare puts the sums of all ranks' parts together. A nil p has none.
func (p *partSums) compare(s *store.Ranks, each []found) error {
	if p == nil {
		return nil
	}
	sum := each[0].Sum
	for k, f := range each[1:] {
		sum = joinSums(sum, f.Sum, int64(s.Ends[k+2]-s.Ends[k+1])*p.row)
	}
	if sum != p.want {
		return p.m.errorf("cannot unpack it: %w; fetch the file again", zip.ErrChecksum)
	}
	return nil
}

// joinSums returns the CRC-32 of a text whose beginning has the sum a, and whose last n bytes have
// the sum b: bits are polynomials over two elements, and n more bytes multiply a by x to the 8n.
func joinSums(a, b uint32, n int64) uint32 {
	power, square := uint32(1<<31), uint32(1<<30) // 1 and x: the highest bit is that of x to the 0
	for bits := 8 * uint64(n); bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			power = timesModulo(power, square)
		}
		square = timesModulo(square, square)
	}
	return timesModulo(a, power) ^ b
}

// timesModulo multiplies polynomials modulo that of CRC-32.
func timesModulo(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		odd := b & 1
		if b >>= 1; odd == 1 {
			b ^= crc32.IEEE
		}
	}
	return product
}
