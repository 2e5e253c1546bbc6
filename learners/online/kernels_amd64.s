// The inner loops of package online for AVX2: groups of 8 and of 16 lanes, and sums. What each
// function computes is said by its twin in Go, in kernels.go. No function reads or writes outside the
// slices it is given.

//go:build amd64 && !purego

#include "textflag.h"

// func dots8(columns *int32, values *float32, stored int, w *float32, stride int, out *float32)
TEXT ·dots8(SB), NOSPLIT, $0-48
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ stride+32(FP), R10
	MOVQ out+40(FP), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y2, Y2, Y2
	XORQ AX, AX
	MOVQ $256, R9
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	CMPQ R8, R9
	JGE  flush

multiply:
	VBROADCASTSS (DI)(AX*4), Y4
	IMULQ R10, R8
	VFMADD231PS (BX)(R8*1), Y4, Y0
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VADDPS Y0, Y2, Y2
	VMOVUPS Y2, 0(DX)
	VZEROUPPER
	RET

// Another chunk; those between would add +0.
flush:
	VADDPS Y0, Y2, Y2
	VXORPS Y0, Y0, Y0
	MOVQ R8, R9
	ORQ  $255, R9
	INCQ R9
	JMP  multiply

// func add8(columns *int32, values *float32, stored int, w *float32, stride int, tau *float32)
TEXT ·add8(SB), NOSPLIT, $0-48
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ stride+32(FP), R10
	MOVQ tau+40(FP), DX
	VMOVUPS 0(DX), Y0
	VXORPS Y2, Y2, Y2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	IMULQ R10, R8
	VBROADCASTSS (DI)(AX*4), Y3
	VMOVUPS (BX)(R8*1), Y4
	VFMADD231PS Y0, Y3, Y4
	VADDPS Y2, Y4, Y4
	VMOVUPS Y4, (BX)(R8*1)
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VZEROUPPER
	RET

// func dots16(columns *int32, values *float32, stored int, w *float32, stride int, out *float32)
TEXT ·dots16(SB), NOSPLIT, $0-48
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ stride+32(FP), R10
	MOVQ out+40(FP), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y2, Y2, Y2
	VXORPS Y1, Y1, Y1
	VXORPS Y3, Y3, Y3
	XORQ AX, AX
	MOVQ $256, R9
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	CMPQ R8, R9
	JGE  flush

multiply:
	VBROADCASTSS (DI)(AX*4), Y4
	IMULQ R10, R8
	VFMADD231PS (BX)(R8*1), Y4, Y0
	VFMADD231PS 32(BX)(R8*1), Y4, Y1
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VADDPS Y0, Y2, Y2
	VMOVUPS Y2, 0(DX)
	VADDPS Y1, Y3, Y3
	VMOVUPS Y3, 32(DX)
	VZEROUPPER
	RET

// Another chunk; those between would add +0.
flush:
	VADDPS Y0, Y2, Y2
	VXORPS Y0, Y0, Y0
	VADDPS Y1, Y3, Y3
	VXORPS Y1, Y1, Y1
	MOVQ R8, R9
	ORQ  $255, R9
	INCQ R9
	JMP  multiply

// func add16(columns *int32, values *float32, stored int, w *float32, stride int, tau *float32)
TEXT ·add16(SB), NOSPLIT, $0-48
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ stride+32(FP), R10
	MOVQ tau+40(FP), DX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VXORPS Y2, Y2, Y2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	IMULQ R10, R8
	VBROADCASTSS (DI)(AX*4), Y3
	VMOVUPS (BX)(R8*1), Y4
	VFMADD231PS Y0, Y3, Y4
	VADDPS Y2, Y4, Y4
	VMOVUPS Y4, (BX)(R8*1)
	VMOVUPS 32(BX)(R8*1), Y5
	VFMADD231PS Y1, Y3, Y5
	VADDPS Y2, Y5, Y5
	VMOVUPS Y5, 32(BX)(R8*1)
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VZEROUPPER
	RET

// func late4(columns *int32, values *float32, stored int, sums, by *float64, lanes int)
TEXT ·late4(SB), NOSPLIT, $0-48
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ sums+24(FP), BX
	MOVQ by+32(FP), DX
	MOVQ lanes+40(FP), R10
	MOVQ R10, R12
	SHLQ $3, R12
	SHRQ $2, R10
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	IMULQ R12, R8
	ADDQ BX, R8
	VXORPS X4, X4, X4
	VCVTSS2SD (DI)(AX*4), X4, X4
	VBROADCASTSD X4, Y4
	MOVQ DX, R9
	MOVQ R10, R11

four:
	VMULPD (R9), Y4, Y5
	VADDPD (R8), Y5, Y5
	VMOVUPD Y5, (R8)
	ADDQ $32, R9
	ADDQ $32, R8
	DECQ R11
	JNZ  four
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VZEROUPPER
	RET
