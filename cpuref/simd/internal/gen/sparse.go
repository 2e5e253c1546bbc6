package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// sparse generates a kernel for n classes, 2 or 8: one multiply-add for a stored
// value, the lanes being classes.
func sparse(n int) {
	TEXT(fmt.Sprintf("sparse%dAVX2", n), NOSPLIT, "func(starts []int64, columns []int32, values, w, out []float32)")
	Pragma("noescape")
	starts, rows := base("starts"), length("starts")
	columns, values, w, out := base("columns"), base("values"), base("w"), base("out")
	k, end, j, limit := GP64(), GP64(), GP64(), GP64()
	vector := XMM
	if n == 8 {
		vector = YMM
	}
	total, acc := vector(), vector()

	DECQ(rows)
	Label("row")
	CMPQ(rows, Imm(0))
	JLE(LabelRef("done"))
	MOVQ(Mem{Base: starts}, k)
	MOVQ(Mem{Base: starts, Disp: 8}, end)
	VXORPS(total, total, total)
	VXORPS(acc, acc, acc)
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
	case 8: // 32 bytes a column
		SHLQ(Imm(2), j)
		VFMADD231PS(at, v, acc)
	}
	INCQ(k)
	CMPQ(k, end)
	JLT(LabelRef("value"))

	Label("store")
	VADDPS(acc, total, total)
	if n == 2 {
		VMOVSD(total.(VecVirtual), Mem{Base: out})
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
	VXORPS(acc, acc, acc)
	MOVQ(j, limit)
	ORQ(U32(chunk-1), limit)
	INCQ(limit)
	JMP(LabelRef("multiply"))

	Label("done")
	VZEROUPPER()
	RET()
}
