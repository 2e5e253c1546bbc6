package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// hashMagic begins the hashed bytes; another layout gets another number.
const hashMagic = "uma-gpu dataset 1\n"

// Hash returns the SHA-256, in hexadecimal, of what the data say, free of how a
// file wrote it: a CSV and a LIBSVM copy, plain or gzip, with other spellings
// of the same numbers, have the same hash. Feature names, the place of the
// label column and Path do not enter. The hashed bytes, every integer
// little-endian, are
//
//	"uma-gpu dataset 1\n"
//	uint64 n, uint64 d
//	uint64 number of classes; per class uint64 length, the bytes of its name
//	uint64 number of labels (n, or 0 without labels); per label uint32
//	uint64 number of values (n·d); per value, row by row, the uint32 bits of the float32
func (d *Dataset) Hash() string {
	h := sha256.New()
	const full = 1 << 16
	buf := make([]byte, 0, full+8)
	// A hash.Hash never returns an error from Write.
	spill := func() {
		if len(buf) >= full {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	count := func(n int) {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
		spill()
	}
	buf = append(buf, hashMagic...)
	count(d.N)
	count(d.D)
	count(len(d.Classes))
	for _, c := range d.Classes {
		count(len(c))
		buf = append(buf, c...)
		spill()
	}
	count(len(d.Y))
	for _, y := range d.Y {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(y))
		spill()
	}
	count(len(d.X))
	for _, v := range d.X {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		spill()
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}
