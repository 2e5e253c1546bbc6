package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// weighted generates a kernel with a loop for each number of rows up to most: four vectors of
// columns at a time for up to narrow rows, else two, and what is left one vector at a time. Each
// value loaded, of x or a, is used for several sums.
func weighted(l level, most, narrow int) {
	function("weighted"+l.name, "func(x []float32, stride, columns, examples int, a []float32, step, rows int, "+
		"totals []float32, width, ahead, rate int)")
	w := weightedLoop{
		x: base("x"), stride: value("stride"), columns: value("columns"), a: base("a"),
		step: value("step"), totals: base("totals"), width: value("width"),
		ahead: value("ahead"), level: l, fromX: GP64(), fromA: GP64(), left: GP64(), lane: GP64(), rate: GP64(),
	}
	w.free = l.vectors(l.size/2 - 1)
	for _, bytes := range []GPVirtual{w.stride, w.step, w.width} {
		SHLQ(Imm(2), bytes)
	}
	ADDQ(w.x, w.ahead)
	comment("From the end of one line of coefficients to the next.")
	SUBQ(Imm(4*lanes), w.step)
	for rows := 1; rows <= most; rows++ {
		CMPQ(address(Param("rows")), Imm(uint64(rows)))
		JE(LabelRef(fmt.Sprintf("rows%d", rows)))
	}
	for rows := 1; rows <= most; rows++ {
		name, wide := fmt.Sprintf("rows%d", rows), 2
		if rows <= narrow {
			wide = 4
		}
		Label(name)
		w.group(name+"wide", rows, wide, nil)
		w.rest(name+"rest", rows)
	}
	finish()
}

// weightedLoop is what the loops of weighted share; the registers, because avo finds none if each
// loop has its own.
type weightedLoop struct {
	level
	x, stride, columns, a, step    GPVirtual
	totals, width, ahead           GPVirtual
	fromX, fromA, left, lane, rate GPVirtual
	free                           []VecVirtual
}

// group generates the loop over groups of columns, of some vectors each. With some, they are
// the last columns, less than a vector of them, and some masks them.
func (w *weightedLoop) group(name string, rows, vectors int, some Op) {
	free, size := w.free, w.size
	take := func(n int) []VecVirtual {
		taken := free[:n]
		free = free[n:]
		return taken
	}
	acc := make([][]VecVirtual, rows)
	for r := range acc {
		acc[r] = take(vectors)
	}
	x, a := take(vectors), take(1)[0]
	Label(name)
	if some == nil {
		CMPQ(w.columns, Imm(uint64(vectors*size/4)))
		JLT(LabelRef(name + "End"))
	}
	if vectors > 1 {
		Load(Param("rate"), w.rate)
		SHRQ(Imm(uint64(bits.Len(uint(256/(vectors*size)))-1)), w.rate)
		TESTQ(w.rate, w.rate)
		JNE(LabelRef(name + "Examples"))
		MOVQ(w.stride, w.rate)
		Load(Param("ahead"), w.ahead)
		ADDQ(w.x, w.ahead)
		Label(name + "Examples")
	}
	w.each(acc, func(v VecVirtual, at Mem) { w.load(at, some, v) })
	MOVQ(w.x, w.fromX)
	MOVQ(w.a, w.fromA)
	Load(Param("examples"), w.left)

	Label(name + "Block")
	MOVQ(U32(lanes), w.lane)
	CMPQ(w.left, w.lane)
	CMOVQLT(w.left, w.lane)
	SUBQ(w.lane, w.left)
	Label(name + "Example")
	for v := range x {
		w.load(Mem{Base: w.fromX, Disp: v * size}, some, x[v])
		if v*size%64 == 0 && vectors > 1 {
			PREFETCHT1(Mem{Base: w.ahead, Disp: v * size})
		}
	}
	for r, row := range acc {
		at := Mem{Base: w.fromA, Disp: 4 * lanes * r}
		if size == 64 && vectors == 1 {
			VFMADD231PS_BCST(at, x[0], row[0])
			continue
		}
		VBROADCASTSS(at, a)
		for v := range row {
			VFMADD231PS(x[v], a, row[v])
		}
	}
	ADDQ(w.stride, w.fromX)
	if vectors > 1 {
		ADDQ(w.rate, w.ahead)
	}
	ADDQ(Imm(4), w.fromA)
	DECQ(w.lane)
	JNE(LabelRef(name + "Example"))
	ADDQ(w.step, w.fromA)
	TESTQ(w.left, w.left)
	JNE(LabelRef(name + "Block"))

	w.each(acc, func(v VecVirtual, at Mem) { w.store(v, some, at) })
	if some != nil {
		JMP(LabelRef("done"))
		return
	}
	ADDQ(U32(uint32(vectors*size)), w.x)
	ADDQ(U32(uint32(vectors*size)), w.totals)
	SUBQ(Imm(uint64(vectors*size/4)), w.columns)
	JMP(LabelRef(name))
	Label(name + "End")
}

// each does something with the vectors of totals and where they lie.
func (w *weightedLoop) each(acc [][]VecVirtual, do func(v VecVirtual, at Mem)) {
	MOVQ(w.totals, w.fromA)
	for r, row := range acc {
		for v, total := range row {
			do(total, Mem{Base: w.fromA, Disp: v * w.size})
		}
		if r < len(acc)-1 {
			ADDQ(w.width, w.fromA)
		}
	}
}

// rest generates the loop over the vectors of columns that are less than a group.
func (w *weightedLoop) rest(name string, rows int) {
	w.group(name+"One", rows, 1, nil)
	TESTQ(w.columns, w.columns)
	JE(LabelRef("done"))
	var some Op
	if w.size == 64 {
		some = tailMask(w.columns)
	} else {
		some = tailLanes(w.columns)
	}
	w.group(name+"Some", rows, 1, some)
}

func (w *weightedLoop) load(from Mem, some Op, to VecVirtual) {
	switch {
	case some == nil:
		VMOVUPS(from, to)
	case to.Size() == 64:
		VMOVUPS_Z(from, some, to)
	default:
		VMASKMOVPS(from, some, to)
	}
}

func (w *weightedLoop) store(from VecVirtual, some Op, to Mem) {
	switch {
	case some == nil:
		VMOVUPS(from, to)
	case from.Size() == 64:
		VMOVUPS(from, some, to)
	default:
		VMASKMOVPS(from, some, to)
	}
}

var laneNumbers Mem

// laneTable generates the numbers of the lanes of a vector of AVX2.
func laneTable() {
	laneNumbers = GLOBL("laneNumbers", RODATA|NOPTR)
	for lane := range 8 {
		DATA(4*lane, U32(uint32(lane)))
	}
}

// tailLanes is tailMask for a vector of AVX2.
func tailLanes(n GPVirtual) VecVirtual {
	some := YMM()
	VMOVD(n.As32(), some.AsX())
	VPBROADCASTD(some.AsX(), some)
	VPCMPGTD(laneNumbers, some, some)
	return some
}

// columnSums generates a kernel whose lanes are n rows of coefficients. AVX2, which has no vector
// conversion to int64, converts one number after the other.
func columnSums(l level, n int) {
	function(fmt.Sprintf("columnSums%d%s", n, l.name),
		"func(runs, rows []int32, values, a []float32, scale float32, sums []int64)")
	runs, left, rows, values := base("runs"), length("runs"), base("rows"), base("values")
	a, sums := base("a"), base("sums")
	more, i, column := GP64(), GP64(), GP64()
	long, size := l.size == 64, uint64(bits.Len(uint(4*n))-1) // of a line of coefficients
	acc, scale := l.vectors(4*n/l.size), broadcast("scale", l.vector())
	var scaled Mem
	if !long {
		scaled = AllocLocal(4 * n)
	}
	loop("run", left, 2, func() {
		MOVLQSX(Mem{Base: runs}, more)
		MOVLQSX(Mem{Base: runs, Disp: 4}, column)
		SHLQ(Imm(size+1), column)
		for _, v := range acc {
			clearVector(v)
		}
		Label("value")
		MOVLQSX(Mem{Base: rows}, i)
		SHLQ(Imm(size), i)
		v := l.vector()
		VBROADCASTSS(Mem{Base: values}, v)
		for part, sum := range acc {
			VFMADD231PS(Mem{Base: a, Index: i, Scale: 1, Disp: l.size * part}, v, sum)
		}
		add(4, rows, values)
		DECQ(more)
		JNE(LabelRef("value"))

		for part, v := range acc {
			VMULPS(scale, v, v)
			if !long {
				VMOVUPS(v, scaled.Offset(32*part))
				continue
			}
			low, high, half := ZMM(), ZMM(), YMM()
			VCVTPS2QQ(v.AsY(), low)
			VEXTRACTF32X8(Imm(1), v, half)
			VCVTPS2QQ(half, high)
			for i, v := range []VecVirtual{low, high} {
				sum := Mem{Base: sums, Index: column, Scale: 1, Disp: 128*part + 64*i}
				VPADDQ(sum, v, v)
				VMOVDQU64(v, sum)
			}
		}
		if !long {
			for lane := range n {
				integer := GP64()
				VCVTSS2SIQ(scaled.Offset(4*lane), integer)
				ADDQ(integer, Mem{Base: sums, Index: column, Scale: 1, Disp: 8 * lane})
			}
		}
		add(8, runs)
	})
}
