package dataset

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset/internal/content"
)

// Hash returns the SHA-256, in hexadecimal, of what the data say, free of how a
// file wrote it and of how it is stored: dense and sparse, a CSV and a LIBSVM
// copy, plain or packed, with other spellings of the same numbers, have the same
// hash. Feature names, the place of the label column and Path do not enter. The
// hashed bytes, every integer little-endian, are
//
//	"uma-gpu dataset 3\n"
//	uint64 n, uint64 d
//	uint64 number of classes; per class uint64 length, the bytes of its name
//	uint64 number of labels (n, or 0 without labels)
//	per block of 1024 examples, the last of fewer, the 32 bytes of its own SHA-256
//
// and those of a block
//
//	per example, if there are labels, its label as uint32
//	per example uint32 number m of values whose bits are not those of +0;
//	            their columns, counted from 0, as uint32, left out if m = d;
//	            their bits as uint32
//
// so that processors hash blocks at the same time. With Evidence it is the hash of that
// and of theirs.
func (d *Dataset) Hash() string {
	sum, _ := d.Content().Hash(context.Background()) // which does not end
	if d.Evidence != nil {
		return d.Evidence.hash(sum)
	}
	return sum
}

// Content returns what is hashed and checked of d.
func (d *Dataset) Content() *content.Data {
	return &content.Data{N: d.N, D: d.D, Classes: d.Classes, Y: d.Y, Row: d.Entries}
}

// Is reports whether hash is that of d as read; of prepared examples it may not be known.
func (d *Dataset) Is(hash string) bool {
	if d.SHA256 == "" && d.Prepared == nil {
		return hash == d.Hash()
	}
	return hash != "" && hash == d.SHA256
}
