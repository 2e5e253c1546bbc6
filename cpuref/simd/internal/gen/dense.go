package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows addresses the 16 rows of a block: row l + 4·i lies at
// first[l] + {0, 4s, 8s, 12s}[i], where s is the length of a row in bytes.
type rows struct {
	first [4]GPVirtual
	s, s3 GPVirtual
}

func (r rows) at(row int) Mem {
	m := Mem{Base: r.first[row%4]}
	switch row / 4 {
	case 1:
		return m.Idx(r.s, 4)
	case 2:
		return m.Idx(r.s, 8)
	case 3:
		return m.Idx(r.s3, 4)
	}
	return m
}

func (r rows) advance(by Op) {
	for _, p := range r.first {
		ADDQ(by, p)
	}
}

// arithmetic is what the dense kernels do differently.
type arithmetic struct {
	acc   []VecVirtual
	group func(r rows, w GPVirtual) // multiplies four columns of all rows; their weights lie at w
	begin func(t, scores GPVirtual) // a block of scores: zeros, t being free
	flush func(t, scores GPVirtual) // adds acc to them
	end   func(t, scores GPVirtual)
}

// byExamples is arithmetic whose lanes are examples, with accumulators of n classes.
func byExamples(n int, acc func(c int) []VecVirtual, group func(r rows, w GPVirtual)) arithmetic {
	a := arithmetic{group: group, end: func(t, scores GPVirtual) {}}
	for c := range n {
		a.acc = append(a.acc, acc(c)...)
	}
	a.begin = func(t, scores GPVirtual) {
		for c := range n {
			line(t, scores, c)
			clearLine(t)
		}
	}
	a.flush = func(t, scores GPVirtual) {
		comment("All are added before any is stored, because a class may be there twice.")
		for c := range n {
			line(t, scores, c)
			for i, v := range acc(c) {
				VADDPS(Mem{Base: t, Disp: 32 * i}, v, v)
			}
		}
		for c := range n {
			line(t, scores, c)
			for i, v := range acc(c) {
				VMOVUPS(v, Mem{Base: t, Disp: 32 * i})
			}
		}
	}
	return a
}

// byClasses generates a kernel whose lanes are classes, some vectors of them: a value of an example
// is multiplied where it lies, and nothing is turned but the scores at the end.
func byClasses(vectors int) {
	acc := avx512.vectors(lanes) // of each row
	var totals Mem
	at := func(i int) Mem { return totals.Offset(4 * lanes * i) }
	n, some := lanes*vectors, lanes/vectors
	dense(fmt.Sprintf("dense%dAVX512", n), n, some, func() arithmetic {
		totals = AllocLocal(4 * lanes * lanes)
		return arithmetic{
			acc: acc,
			group: func(r rows, w GPVirtual) {
				for j := range 4 {
					weights := avx512.vectors(vectors)
					for i, v := range weights {
						VMOVUPS(Mem{Base: w, Disp: 4 * (n*j + lanes*i)}, v)
					}
					for row := range some {
						m := r.at(row)
						m.Disp = 4 * j
						if vectors == 1 {
							VFMADD231PS_BCST(m, weights[0], acc[row])
							continue
						}
						x := ZMM()
						VBROADCASTSS(m, x)
						for i, v := range weights {
							VFMADD231PS(x, v, acc[some*i+row])
						}
					}
				}
			},
			begin: func(_, _ GPVirtual) {
				zero := avx512.zeros(1)[0]
				for i := range acc {
					VMOVUPS(zero, at(i))
				}
			},
			flush: func(_, _ GPVirtual) {
				for i, v := range acc {
					VADDPS(at(i), v, v)
					VMOVUPS(v, at(i))
				}
			},
			end: func(t, scores GPVirtual) {
				for c, v := range turn(acc) {
					line(t, scores, c)
					if vectors == 1 {
						VMOVUPS(v, Mem{Base: t})
						continue
					}
					VMOVUPS(v.AsY(), Mem{Base: t})
					line(t, scores, lanes+c)
					VEXTRACTF32X8(Imm(1), v, Mem{Base: t})
				}
			},
		}
	})
}

// turn generates the columns of 16 vectors, which are its rows, in place and in one register more.
func turn(v []VecVirtual) []VecVirtual {
	v = append(slices.Clone(v), avx512.vector())
	// both replaces vectors a and b by the low and the high part of them.
	both := func(a, b int, low, high func(a, b, to VecVirtual)) {
		high(v[b], v[a], v[lanes])
		low(v[b], v[a], v[a])
		v[b], v[lanes] = v[lanes], v[b]
	}
	single := func(a, b int) {
		both(a, b, func(a, b, to VecVirtual) { VUNPCKLPS(a, b, to) }, func(a, b, to VecVirtual) { VUNPCKHPS(a, b, to) })
	}
	double := func(a, b int) {
		both(a, b, func(a, b, to VecVirtual) { VUNPCKLPD(a, b, to) }, func(a, b, to VecVirtual) { VUNPCKHPD(a, b, to) })
	}
	parts := func(a, b int) { // of 128 bits: even ones of both, and odd ones
		both(a, b, func(a, b, to VecVirtual) { VSHUFF32X4(Imm(0x88), a, b, to) },
			func(a, b, to VecVirtual) { VSHUFF32X4(Imm(0xdd), a, b, to) })
	}
	for i := 0; i < lanes; i += 4 { // columns 0, 2, 1, 3 and every fourth after them, of four rows
		single(i, i+1)
		single(i+2, i+3)
		double(i, i+2)
		double(i+1, i+3)
	}
	columns := make([]VecVirtual, lanes)
	for k, j := range []int{0, 2, 1, 3} {
		parts(k, k+4)
		parts(k+8, k+12)
		parts(k, k+8)
		parts(k+4, k+12)
		columns[j], columns[j+8], columns[j+4], columns[j+12] = v[k], v[k+8], v[k+4], v[k+12]
	}
	return columns
}

// dense generates a kernel for n classes, which multiplies some rows of a block at once: all, or
// half of them.
//
// Where an example is owned by a lane, four columns of 16 rows have to be
// transposed: the rows l, l+4, l+8, l+12 are brought into the four 128-bit parts
// of a vector from memory, which costs no shuffle, and the parts are transposed
// all at once by two rounds of unpacking.
//
// Rows of a block follow each other in memory, but the loop reads many of them at
// once, which is more than processors foresee. So the loop fetches ahead in the
// order of memory.
func dense(name string, n, some int, arithmetic func() arithmetic) {
	TEXT(name, 0, "func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step, "+
		"ahead, rate int)")
	Pragma("noescape")
	var r rows
	r.first[0] = base("x")
	r.s, r.s3 = value("d"), GP64()
	SHLQ(Imm(2), r.s)
	LEAQ(Mem{Base: r.s, Index: r.s, Scale: 2}, r.s3)
	for l := 1; l < 4; l++ {
		r.first[l] = GP64()
		LEAQ(Mem{Base: r.first[l-1], Index: r.s, Scale: 1}, r.first[l])
	}
	scores := base("scores")
	a := arithmetic()
	blocks := address(Param("blocks"))
	w, left, now, back, ahead, t := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	fetched, rate := address(Param("ahead")), value("rate") // for a group
	ADDQ(r.first[0], fetched)
	if some < lanes {
		comment("Half blocks.")
		SHLQ(Imm(1), blocks)
		SHRQ(Imm(1), rate)
	}

	Label("block")
	CMPQ(blocks, Imm(0))
	JE(LabelRef("done"))
	Load(Param("w").Base(), w)
	comment("Groups of four columns; the last one ends with the row and so may begin back bytes too early, where w is 0.")
	MOVQ(r.s, back)
	NEGQ(back)
	ANDQ(Imm(15), back)
	LEAQ(Mem{Base: r.s, Index: back, Scale: 1}, left)
	SHRQ(Imm(4), left)
	MOVQ(fetched, ahead)
	a.begin(t, scores)

	Label("chunk")
	for _, v := range a.acc {
		clearVector(v)
	}
	MOVQ(U32(chunk/4), now)
	CMPQ(left, now)
	CMOVQLT(left, now)
	SUBQ(now, left)
	JNE(LabelRef("groups"))
	comment("The last chunk: its last group apart, if it begins too early.")
	TESTQ(back, back)
	JE(LabelRef("groups"))
	DECQ(now)
	JE(LabelRef("last"))

	Label("groups")
	for i := range some / 4 {
		PREFETCHT1(Mem{Base: ahead, Disp: 64 * i})
	}
	a.group(r, w)
	r.advance(Imm(16))
	ADDQ(rate, ahead)
	ADDQ(U32(uint32(16*n)), w)
	DECQ(now)
	JNE(LabelRef("groups"))

	TESTQ(left, left)
	JNE(LabelRef("flush"))
	TESTQ(back, back)
	JE(LabelRef("flush"))
	Label("last")
	NEGQ(back)
	r.advance(back)
	XORQ(back, back)
	MOVQ(U32(1), now)
	JMP(LabelRef("groups"))

	Label("flush")
	a.flush(t, scores)
	TESTQ(left, left)
	JNE(LabelRef("chunk"))
	a.end(t, scores)

	comment("The last group may have fetched too much.")
	MOVQ(rate, t)
	IMULQ(r.s, t)
	SHRQ(Imm(4), t)
	ADDQ(t, fetched)
	comment("The pointers stand at the next row.")
	if some == lanes {
		LEAQ(Mem{Base: r.s3, Index: r.s3, Scale: 4}, t)
		r.advance(t)
		Load(Param("step"), t)
		LEAQ(Mem{Base: scores, Index: t, Scale: 4}, scores)
	} else {
		LEAQ(Mem{Base: r.s3, Index: r.s, Scale: 4}, t)
		r.advance(t)
		add(4*some, scores)
		BTQ(Imm(0), blocks)
		JCC(LabelRef("next"))
		Load(Param("step"), t)
		LEAQ(Mem{Base: scores, Index: t, Scale: 4, Disp: -4 * lanes}, scores)
		Label("next")
	}
	DECQ(blocks)
	JMP(LabelRef("block"))

	finish()
}

// line sets t to the line of scores of class c in the current block.
func line(t, scores GPVirtual, c int) {
	Load(Param("lines").Base(), t)
	MOVQ(Mem{Base: t, Disp: 8 * c}, t)
	LEAQ(Mem{Base: scores, Index: t, Scale: 4}, t)
}

// clearLine zeroes the line at t.
func clearLine(t GPVirtual) {
	z := avx2.zeros(1)[0]
	VMOVUPS(z, Mem{Base: t})
	VMOVUPS(z, Mem{Base: t, Disp: 32})
}

// column generates column j of four rows, from the pairs of them in u.
func (l level) column(u [4]VecVirtual, j int) VecVirtual {
	column := l.vector()
	if j%2 == 0 {
		VUNPCKLPD(u[2+j/2], u[j/2], column)
	} else {
		VUNPCKHPD(u[2+j/2], u[j/2], column)
	}
	return column
}

// pair generates the values of two rows in turns, low ones and high ones.
func (l level) pair(a, b VecVirtual) (low, high VecVirtual) {
	low, high = l.vector(), l.vector()
	VUNPCKLPS(b, a, low)
	VUNPCKHPS(b, a, high)
	return low, high
}

func dense512(n int) {
	acc := avx512.vectors(n)
	var part [4]OpmaskVirtual // of the 128-bit parts of a vector
	dense(fmt.Sprintf("dense%dAVX512", n), n, lanes, func() arithmetic {
		for i := 1; i < 4; i++ {
			bits := GP32()
			part[i] = K()
			MOVL(U32(0xf<<(4*i)), bits)
			KMOVW(bits, part[i])
		}
		return byExamples(n, func(c int) []VecVirtual { return acc[c : c+1] }, func(r rows, w GPVirtual) {
			var v, u [4]VecVirtual
			for l := range 4 {
				v[l] = ZMM()
				VBROADCASTF32X4(r.at(l), v[l])
				for i := 1; i < 4; i++ {
					VBROADCASTF32X4(r.at(l+4*i), part[i], v[l])
				}
			}
			for i := range 2 {
				u[2*i], u[2*i+1] = avx512.pair(v[2*i], v[2*i+1])
			}
			for j := range 4 {
				column := avx512.column(u, j)
				for c := range n {
					VFMADD231PS_BCST(Mem{Base: w, Disp: 4 * (j*n + c)}, column, acc[c])
				}
			}
		})
	})
}

func denseAVX2(n int) {
	acc := avx2.vectors(2 * n) // rows 0..7 and 8..15
	dense(fmt.Sprintf("dense%dAVX2", n), n, lanes, func() arithmetic {
		return byExamples(n, func(c int) []VecVirtual { return acc[2*c : 2*c+2] }, func(r rows, w GPVirtual) {
			for half := range 2 {
				var u [4]VecVirtual
				for i := range 2 {
					v := avx2.vectors(2)
					for l := range 2 {
						VBROADCASTF128(r.at(8*half+2*i+l), v[l])
						VINSERTF128(Imm(1), r.at(8*half+2*i+l+4), v[l], v[l])
					}
					u[2*i], u[2*i+1] = avx2.pair(v[0], v[1])
				}
				for j := range 4 {
					column := avx2.column(u, j)
					for c := range n {
						weight := YMM()
						VBROADCASTSS(Mem{Base: w, Disp: 4 * (j*n + c)}, weight)
						VFMADD231PS(weight, column, acc[2*c+half])
					}
				}
			}
		})
	})
}

const sparseSignature = "func(starts []int64, columns []int32, values, w []float32, n int, out []float32)"

// sparseAVX2 generates a kernel for 8 classes: one multiply-add for a stored value, the lanes being
// classes.
func sparseAVX2() {
	function("sparse8AVX2", sparseSignature)
	starts, rows := base("starts"), length("starts")
	columns, values, w, out := base("columns"), base("values"), base("w"), base("out")
	k, end, j, limit := GP64(), GP64(), GP64(), GP64()
	total, acc := YMM(), YMM()

	DECQ(rows)
	Label("row")
	CMPQ(rows, Imm(0))
	JLE(LabelRef("done"))
	MOVQ(Mem{Base: starts}, k)
	MOVQ(Mem{Base: starts, Disp: 8}, end)
	clearVector(total)
	clearVector(acc)
	MOVQ(U32(chunk), limit)
	CMPQ(k, end)
	JGE(LabelRef("store"))

	Label("value")
	MOVLQSX(Mem{Base: columns, Index: k, Scale: 4}, j)
	CMPQ(j, limit)
	JGE(LabelRef("flush"))
	Label("multiply")
	v := YMM()
	VBROADCASTSS(Mem{Base: values, Index: k, Scale: 4}, v)
	SHLQ(Imm(2), j) // 32 bytes a column
	VFMADD231PS(Mem{Base: w, Index: j, Scale: 8}, v, acc)
	INCQ(k)
	CMPQ(k, end)
	JLT(LabelRef("value"))

	Label("store")
	VADDPS(acc, total, total)
	VMOVUPS(total, Mem{Base: out})
	add(32, out)
	add(8, starts)
	DECQ(rows)
	JMP(LabelRef("row"))

	comment("Another chunk; those between would add +0.")
	Label("flush")
	VADDPS(acc, total, total)
	clearVector(acc)
	MOVQ(j, limit)
	ORQ(U32(chunk-1), limit)
	INCQ(limit)
	JMP(LabelRef("multiply"))

	finish()
}

// sparse512 generates a kernel for as many classes as some vectors hold, or fewer of the last.
// Where chunks end cannot be foreseen, so nothing branches there: a mask says that a value is the
// first of another chunk.
func sparse512(vectors int) {
	function(fmt.Sprintf("sparse%dAVX512", lanes*vectors), sparseSignature)
	starts, rows := base("starts"), length("starts")
	columns, values, w, out := base("columns"), base("values"), base("w"), base("out")
	k, end, j, before, other, most := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	total, acc := avx512.vectors(vectors), avx512.vectors(vectors)
	zero := avx512.zeros(1)[0]
	size := value("n")
	SUBQ(Imm(uint64(lanes*(vectors-1))), size)
	some := tailMask(size)
	Load(Param("n"), size)
	SHLQ(Imm(2), size)
	// each does something with the memory of n classes and its mask.
	each := func(m Mem, do func(i int, m Mem, some Op)) {
		for i := range vectors {
			all := Op(some)
			if i < vectors-1 {
				all = nil
			}
			do(i, m.Offset(4*lanes*i), all)
		}
	}
	MOVQ(U32(chunk-1), most)

	DECQ(rows)
	Label("row")
	CMPQ(rows, Imm(0))
	JLE(LabelRef("done"))
	MOVQ(Mem{Base: starts}, k)
	MOVQ(Mem{Base: starts, Disp: 8}, end)
	for i := range acc {
		clearVector(total[i])
		clearVector(acc[i])
	}
	XORQ(before, before)
	CMPQ(k, end)
	JGE(LabelRef("store"))

	Label("value")
	comment("Weights lie anywhere, so they are fetched some values before their use.")
	LEAQ(Mem{Base: k, Disp: 48}, j)
	CMPQ(j, address(Param("columns").Len()))
	CMOVQGE(k, j)
	MOVLQSX(Mem{Base: columns, Index: j, Scale: 4}, j)
	IMULQ(size, j)
	each(Mem{Base: w, Index: j, Scale: 1}, func(_ int, m Mem, _ Op) { PREFETCHT0(m) })
	MOVLQSX(Mem{Base: columns, Index: k, Scale: 4}, j)
	XORQ(j, before)
	CMPQ(most, before)
	SBBL(other.As32(), other.As32())
	MOVQ(j, before)
	IMULQ(size, j)
	first, v := K(), ZMM()
	KMOVW(other.As32(), first)
	VBROADCASTSS(Mem{Base: values, Index: k, Scale: 4}, v)
	each(Mem{Base: w, Index: j, Scale: 1}, func(i int, m Mem, some Op) {
		VADDPS(acc[i], total[i], first, total[i])
		VMOVAPS(zero, first, acc[i])
		if some == nil {
			VFMADD231PS(m, v, acc[i])
		} else {
			VFMADD231PS(m, v, some, acc[i])
		}
	})
	INCQ(k)
	CMPQ(k, end)
	JLT(LabelRef("value"))

	Label("store")
	each(Mem{Base: out}, func(i int, m Mem, some Op) {
		VADDPS(acc[i], total[i], total[i])
		if some == nil {
			VMOVUPS(total[i], m)
		} else {
			VMOVUPS(total[i], some, m)
		}
	})
	ADDQ(size, out)
	add(8, starts)
	DECQ(rows)
	JMP(LabelRef("row"))
	finish()
}
