package store

import "fmt"

// Codes are the small integers that dense examples were prepared from: an engine keeps them in a
// quarter or half of the memory. With code Bytes[i*D+j] or Halves[i*D+j] the value is, bit for bit,
// fma(float32(code) + Least, Map[j], Map[D+j]) · Unit[i] (clause 2).
type Codes struct {
	Bytes  []uint8  // N·D, row-major
	Halves []uint16 // the same, of more than 256 values
	Least  float32  // an integer, what a code of 0 stands for
	Map    []float32
	Unit   []float32 // N
}

// Width returns the number of bytes of a code.
func (c *Codes) Width() int {
	if c.Bytes != nil {
		return 1
	}
	return 2
}

// Check returns an error unless c has the sizes of n examples of d columns.
func (c *Codes) Check(n, d int) error {
	if codes := len(c.Bytes) + len(c.Halves); codes != n*d || c.Bytes != nil && c.Halves != nil ||
		len(c.Map) != 2*d || len(c.Unit) != n {
		return fmt.Errorf("dataset: dense examples of shape %d×%d: got %d codes, maps of %d numbers and "+
			"%d lengths, want %d, %d and %d", n, d, codes, len(c.Map), len(c.Unit), n*d, 2*d, n)
	}
	return nil
}

// rows returns the codes of examples from..to-1, sharing memory.
func (c *Codes) rows(from, to, d int) *Codes {
	part := *c
	if c.Bytes != nil {
		part.Bytes = c.Bytes[from*d : to*d]
	} else {
		part.Halves = c.Halves[from*d : to*d]
	}
	part.Unit = c.Unit[from:to]
	return &part
}

// Enter enters the raw values of example i of d columns, and its scale; a bias is 1.
func (c *Codes) Enter(i, d int, raw []float32, unit float32) {
	c.Unit[i] = unit
	if c.Bytes != nil {
		enter(c.Bytes[i*d:(i+1)*d], raw, c.Least)
	} else {
		enter(c.Halves[i*d:(i+1)*d], raw, c.Least)
	}
}

func enter[T uint8 | uint16](codes []T, raw []float32, least float32) {
	for j, v := range raw {
		codes[j] = T(int32(v - least))
	}
	for j := len(raw); j < len(codes); j++ {
		codes[j] = T(int32(1 - least))
	}
}
