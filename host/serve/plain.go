package serve

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// Most requests are plain: an array of float32, or rows of numbers alone, of as many features as the model has. They
// are read here without the machinery for all others, which takes longer than a linear model does. What is not plain,
// or has anything wrong with it, is left to that: it alone words faults.

// buffers are those of requests and answers that are over.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// mostKept is the largest buffer that is kept for other requests.
const mostKept = 1 << 20

// buffer returns an empty one; whoever takes it gives it back by keep when nothing refers to its bytes any more.
func buffer() *bytes.Buffer {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

func keep(b *bytes.Buffer) {
	if b.Cap() <= mostKept {
		buffers.Put(b)
	}
}

// plainArray reads an .npy of float32, row by row, if it is plain.
func (s *Server) plainArray(text []byte) (x dataset.Examples, ok bool) {
	r := bytes.NewReader(text)
	a, err := npyfile.ReadHeader(r)
	features := s.m.Meta.Features
	if err != nil || features.Encoding != nil || a.Type != (npyfile.Type{Kind: 'f', Size: 4}) || a.Fortran ||
		len(a.Shape) != 2 || a.Shape[1] != features.Count || a.Shape[0] < 1 || a.Shape[0] > s.o.MaxRows ||
		features.Count > maxValues/a.Shape[0] || r.Len() != 4*a.Shape[0]*a.Shape[1] {
		return x, false
	}
	text = text[len(text)-r.Len():]
	x = dataset.Examples{N: a.Shape[0], D: a.Shape[1], X: make([]float32, len(text)/4)}
	for k := range x.X {
		bits := binary.LittleEndian.Uint32(text[4*k:])
		// Infinite, NaN and subnormal ones: the exponent has all bits, or none while the rest has some.
		if e := bits & 0x7f800000; e == 0x7f800000 || e == 0 && bits<<1 != 0 {
			return x, false
		}
		x.X[k] = math.Float32frombits(bits)
	}
	return x, true
}

// plainRows reads {"rows":[[1,2],[3,4]]}, if it is plain.
func (s *Server) plainRows(text []byte) (x dataset.Examples, ok bool) {
	width := s.m.Meta.Features.Count
	if s.m.Meta.Features.Encoding != nil || width < 1 {
		return x, false
	}
	p := plainText{text, 0}
	if !(p.is('{') && p.word(`"rows"`) && p.is(':') && p.is('[')) {
		return x, false
	}
	x.D = width
	for more := true; more; more = p.is(',') {
		if x.N == s.o.MaxRows || len(x.X) > maxValues-width || !p.is('[') {
			return x, false
		}
		for j := range width {
			if j > 0 && !p.is(',') {
				return x, false
			}
			v, err := number(p.number(), x.N, j)
			if err != nil {
				return x, false
			}
			x.X = append(x.X, v)
		}
		if !p.is(']') {
			return x, false
		}
		if x.N++; x.N == 1 { // others are about as long
			all := make([]float32, 0, min(len(text)/p.at+1, s.o.MaxRows, maxValues/width)*width)
			x.X = append(all, x.X...)
		}
	}
	return x, p.is(']') && p.is('}') && p.ended()
}

// plainText is JSON that is being read.
type plainText struct {
	text []byte
	at   int
}

// blanks passes over them.
func (p *plainText) blanks() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// is passes over c behind blanks, if it comes next.
func (p *plainText) is(c byte) bool {
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word is is for several bytes.
func (p *plainText) word(w string) bool {
	p.blanks()
	if !bytes.HasPrefix(p.text[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

// ended says whether nothing but blanks comes.
func (p *plainText) ended() bool {
	p.blanks()
	return p.at == len(p.text)
}

// number passes over a number of JSON's grammar and returns it; nil if none comes.
func (p *plainText) number() []byte {
	p.blanks()
	from := p.at
	p.one('-')
	if !p.one('0') && p.digits() == 0 {
		return nil
	}
	if p.one('.') && p.digits() == 0 {
		return nil
	}
	if p.one('e') || p.one('E') {
		if !p.one('+') {
			p.one('-')
		}
		if p.digits() == 0 {
			return nil
		}
	}
	return p.text[from:p.at]
}

// one passes over c, without blanks.
func (p *plainText) one(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// digits passes over digits and says how many there were.
func (p *plainText) digits() int {
	from := p.at
	for p.at < len(p.text) && p.text[p.at]-'0' <= 9 {
		p.at++
	}
	return p.at - from
}
