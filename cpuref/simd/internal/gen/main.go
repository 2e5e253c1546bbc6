// Command gen writes the assembly of package simd. It is a module of its own, so
// that nobody who uses uma-gpu needs avo. Run it by go generate in cpuref/simd.
//
// What each function computes is said by its twin in Go, in kernels.go; here
// stands only how. No function reads or writes outside the slices it is given.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	chunk = 256 // columns (clause 1)
	block = 256 // examples (clause 14)
	lanes = 16  // examples in a block, classes in a group of norms
)

// level is a set of instructions, and the bytes of its vectors.
type level struct {
	name   string
	vector func() VecVirtual
	size   int
}

var (
	avx512 = level{"AVX512", ZMM, 64}
	avx2   = level{"AVX2", YMM, 32}
	levels = []level{avx512, avx2}
)

func main() {
	arm := flag.String("neon", "", "write the loops of level NEON to this file")
	flag.Parse()
	neon(*arm)
	ConstraintExpr("amd64,!purego")
	for _, n := range []int{2, 4, 6, 8, 10} {
		dense512(n)
	}
	byClasses(1)
	byClasses(2)
	denseAVX2(2)
	denseAVX2(4)
	sparseAVX2()
	sparse512(1)
	sparse512(2)
	each(region)
	add512()
	addAVX2()
	toFloat512()
	each(combine)
	each(norms)
	kernelConstants()
	laneTable()
	weighted(avx512, 14, 6)
	weighted(avx2, 6, 2)
	each(spread)
	each(func(l level) { residuals(l, "posterior", false) })
	each(func(l level) { residuals(l, "given", true) })
	for _, n := range []int{lanes, 2 * lanes} {
		each(func(l level) { columnSums(l, n) })
	}
	product(avx512, 12)
	product(avx2, 6)
	each(rbf)
	Generate()
}

// each generates a function at both levels.
func each(generate func(level)) {
	for _, l := range levels {
		generate(l)
	}
}

// function begins a function.
func function(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}

// finish ends a function.
func finish() {
	Label("done")
	VZEROUPPER()
	RET()
}

// loop generates the whole of a function that goes through n values, some at a time.
func loop(label string, n GPVirtual, some int, body func()) {
	Label(label)
	TESTQ(n, n)
	JE(LabelRef("done"))
	body()
	if some == 1 {
		DECQ(n)
	} else {
		SUBQ(Imm(uint64(some)), n)
	}
	JMP(LabelRef(label))
	finish()
}

func comment(format string, a ...any) { Comment(fmt.Sprintf(format, a...)) }

// length loads the length of a slice parameter.
func length(name string) GPVirtual { return Load(Param(name).Len(), GP64()).(GPVirtual) }

// base loads the first address of a slice parameter.
func base(name string) GPVirtual { return Load(Param(name).Base(), GP64()).(GPVirtual) }

// value loads a parameter of 8 bytes.
func value(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// address returns where a parameter lies, to use or change it in place.
func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// broadcast loads a parameter into all lanes of v.
func broadcast(name string, v VecVirtual) VecVirtual {
	VBROADCASTSS(address(Param(name)), v)
	return v
}

// fill sets all lanes of v to some bits.
func fill(bits uint32, v VecVirtual) {
	r := GP32()
	MOVL(U32(bits), r)
	VMOVD(r, v.AsX())
	VBROADCASTSS(v.AsX(), v)
}

const minusInf = 0xff800000

// clearVector sets v to +0.
func clearVector(v VecVirtual) {
	if v.Size() == 64 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// zeros returns n vectors that are +0.
func (l level) zeros(n int) []VecVirtual {
	all := l.vectors(n)
	for _, v := range all {
		clearVector(v)
	}
	return all
}

func (l level) vectors(n int) []VecVirtual {
	all := make([]VecVirtual, n)
	for i := range all {
		all[i] = l.vector()
	}
	return all
}

// add adds bytes to pointers.
func add(bytes int, pointers ...GPVirtual) {
	by := Op(Imm(uint64(bytes)))
	if bytes > 127 {
		by = U32(uint32(bytes))
	}
	for _, p := range pointers {
		ADDQ(by, p)
	}
}

// nextBlock moves pointers on by 16 values of each class, and others by 16 values.
func nextBlock(q GPVirtual, ofClasses []GPVirtual, others ...GPVirtual) {
	line := GP64()
	MOVQ(q, line)
	SHLQ(Imm(6), line)
	for _, p := range ofClasses {
		ADDQ(line, p)
	}
	add(4*lanes, others...)
}

// inParts joins the bits that one generates for each vector of a block, which begins at a byte.
func (l level) inParts(one func(at int) GPVirtual) GPVirtual {
	all := GP64()
	for at := 0; at < 4*lanes; at += l.size {
		mask := one(at)
		if at == 0 {
			MOVQ(mask, all)
		} else {
			SHLQ(Imm(uint64(at/4)), mask)
			ORQ(mask, all)
		}
	}
	return all
}

// broadcastFMA adds by times the number at from to acc.
func (l level) broadcastFMA(from Mem, by, acc VecVirtual) {
	if l.size == 64 {
		VFMADD231PS_BCST(from, by, acc)
		return
	}
	v := l.vector()
	VBROADCASTSS(from, v)
	VFMADD231PS(v, by, acc)
}

// mask returns a register that marks lanes.
func (l level) mask() Op {
	if l.size == 64 {
		return K()
	}
	return l.vector()
}

// choose copies the lanes of from that where marks.
func choose(where, from, to Op) {
	if where.(Register).Kind() == KindOpmask {
		VMOVAPS(from, where, to)
	} else {
		VBLENDVPS(where, from, to, to)
	}
}

// keep copies the lanes of from that where marks, and makes the others 0.
func keep(where, from, to Op) {
	if where.(Register).Kind() == KindOpmask {
		VMOVAPS_Z(from, where, to)
	} else {
		VANDPS(where, from, to)
	}
}

// tailMask returns the mask of the first n lanes, n < 16. Lanes that are masked
// off are neither read nor written.
func tailMask(n GPVirtual) OpmaskVirtual {
	bits, some := GP32(), K()
	MOVL(U32(1), bits)
	SHLXL(n.As32(), bits, bits)
	DECL(bits)
	KMOVW(bits, some)
	return some
}
