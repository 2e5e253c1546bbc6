package store

import "io"

// ReadAligned reads size bytes to where any element may begin.
func ReadAligned(r io.ReaderAt, size int) ([]byte, error) {
	raw := Bytes(make([]int64, (size+7)/8))[:size]
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, int64(size)), raw); err != nil {
		return nil, err
	}
	return raw, nil
}
