package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sparse generates a kernel for n classes, 2, 8 or 16: one multiply-add for a stored
// value, the lanes being classes.
func sparse(n int) {
	level, vector := "AVX2", func() VecVirtual { return XMM() }
	switch n {
	case 8:
		vector = func() VecVirtual { return YMM() }
	case 16:
		level, vector = "AVX512", func() VecVirtual { return ZMM() }
	}
	function(fmt.Sprintf("sparse%d%s", n, level), "func(starts []int64, columns []int32, values, w, out []float32)")
	starts, rows := base("starts"), length("starts")
	columns, values, w, out := base("columns"), base("values"), base("w"), base("out")
	k, end, j, limit := GP64(), GP64(), GP64(), GP64()
	total, acc := vector(), vector()

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
	v := vector()
	VBROADCASTSS(Mem{Base: values, Index: k, Scale: 4}, v)
	at := Mem{Base: w, Index: j, Scale: 8}
	switch n {
	case 2:
		weights := XMM()
		VMOVSD(at, weights)
		VFMADD231PS(weights, v, acc)
	default: // 4·n bytes a column
		SHLQ(Imm(uint64(n/8+1)), j)
		VFMADD231PS(at, v, acc)
	}
	INCQ(k)
	CMPQ(k, end)
	JLT(LabelRef("value"))

	Label("store")
	VADDPS(acc, total, total)
	if n == 2 {
		VMOVSD(total, Mem{Base: out})
	} else {
		VMOVUPS(total, Mem{Base: out})
	}
	ADDQ(Imm(uint64(4*n)), out)
	ADDQ(Imm(8), starts)
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

	end()
}
