package file

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// The sums of a binary file are CRC-32C (Castagnoli, iSCSI's), for which processors have an
// instruction. They find every damage of up to 32 bits in a row, and all but one in 2^32 of any
// other kind.
const sumBlock = 1 << 16 // bytes of the file to a sum

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumsBytes is the size of the sums of a file's first size bytes.
func sumsBytes(size int64) int64 { return 4 * ((size-1)/sumBlock + 2) }

// blockSums are the sums of a file that is written from its beginning.
type blockSums struct {
	list   []byte // of the blocks that are whole, little-endian
	sum    uint32 // of the beginning of the next block
	filled int    // bytes of it
}

func (s *blockSums) add(b []byte) {
	for len(b) > 0 {
		n := min(len(b), sumBlock-s.filled)
		s.sum, s.filled = crc32.Update(s.sum, castagnoli, b[:n]), s.filled+n
		if b = b[n:]; s.filled == sumBlock {
			s.end()
		}
	}
}

func (s *blockSums) end() {
	s.list = binary.LittleEndian.AppendUint32(s.list, s.sum)
	s.sum, s.filled = 0, 0
}

// section returns the sums of all that was added, and their own.
func (s *blockSums) section() []byte {
	if s.filled > 0 {
		s.end()
	}
	return binary.LittleEndian.AppendUint32(s.list, crc32.Checksum(s.list, castagnoli))
}

// checkSums reads the file, but for the examples of other ranks, and returns an error that names
// the first block that has not the sum that was stored, or that wraps ctx.Err() if ctx ends. A
// file of version 1 has no sums, and is not read.
func (f *binaryFile) checkSums(ctx context.Context, s *store.Ranks) error {
	if f.sums == nil {
		return nil
	}
	list, own := f.sums[:len(f.sums)-4], binary.LittleEndian.Uint32(f.sums[len(f.sums)-4:])
	if found := crc32.Checksum(list, castagnoli); found != own {
		return fmt.Errorf("the file is damaged: its list of checksums has the checksum %08x, wanted "+
			"%08x; copy the file or convert the original data again", found, own)
	}
	data := f.raw[:len(f.raw)-len(f.sums)]
	blocks := len(list) / 4
	others := f.othersBlocks(s)
	// Each worker takes a mebibyte, then the next that nobody has: from a disk they come in their
	// order.
	const task = 1 << 20 / sumBlock
	tasks := (blocks + task - 1) / task
	_, work := progress.Begin(ctx, progress.Work{
		Name: "checking the data", Unit: progress.Bytes, Total: int64(len(data))})
	defer work.End()
	var first atomic.Int64 // bad block
	first.Store(math.MaxInt64)
	parallel.Share(parallel.Workers(tasks, 1), tasks, func(_, t int) {
		if ctx.Err() != nil {
			return
		}
		for k := t * task; k < min((t+1)*task, blocks); k++ {
			other := slices.ContainsFunc(others, func(o [2]int) bool { return o[0] <= k && k < o[1] })
			if other || sumOf(data, k) == binary.LittleEndian.Uint32(list[4*k:]) {
				continue
			}
			for old := first.Load(); int64(k) < old && !first.CompareAndSwap(old,
				int64(k)); old = first.Load() {
			}
			return
		}
		work.Add(int64(min((t+1)*task*sumBlock, len(data)) - t*task*sumBlock))
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	k := first.Load()
	if k == math.MaxInt64 {
		return nil
	}
	return fmt.Errorf("the file is damaged: block %d of %d, %d bytes from byte %d on, has the "+
		"checksum %08x, wanted %08x; copy the file or convert the original data again", k+1, blocks,
		len(block(data, int(k))), k*sumBlock, sumOf(data, int(k)), binary.LittleEndian.Uint32(list[4*k:]))
}

// othersBlocks returns the blocks, from..to-1, that hold nothing but examples of other ranks.
func (f *binaryFile) othersBlocks(s *store.Ranks) (blocks [][2]int) {
	if s == nil {
		return nil
	}
	add := func(section []byte, from, to int) {
		if len(section) == 0 {
			return
		}
		begin := int(store.Address(section) - store.Address(f.raw))
		for _, part := range [][2]int{{begin, begin + from}, {begin + to, begin + len(section)}} {
			blocks = append(blocks, [2]int{(part[0] + sumBlock - 1) / sumBlock, part[1] / sumBlock})
		}
	}
	e := &f.written.Examples
	if !e.Sparse() {
		add(store.Bytes(e.X), 4*s.From*e.D, 4*s.To*e.D)
		return blocks
	}
	// Where the values of a rank begin stands in the file, which may be damaged: then all is checked.
	for _, start := range []int64{e.Starts[s.From], e.Starts[s.To]} {
		if start < 0 || start > int64(len(e.Values)) {
			return nil
		}
	}
	from, to := 4*int(e.Starts[s.From]), 4*int(e.Starts[s.To])
	add(store.Bytes(e.Columns), from, to)
	add(store.Bytes(e.Values), from, to)
	return blocks
}

// block returns block k of data, counted from 0.
func block(data []byte, k int) []byte { return data[k*sumBlock : min((k+1)*sumBlock, len(data))] }

func sumOf(data []byte, k int) uint32 { return crc32.Checksum(block(data, k), castagnoli) }

// Unchecked says that d lies in a binary file that has no checksums to compare it with, being of
// version 1.
func Unchecked(d *dataset.Dataset) bool {
	f := fileOf(d)
	return f != nil && f.sums == nil
}
