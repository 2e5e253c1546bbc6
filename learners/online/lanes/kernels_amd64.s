// The inner loops of package lanes: the same five for groups of 4, 8 and 16 lanes, the last for AVX2
// and for AVX-512. What each function computes is said by its twin in Go, in kernels.go. No function
// reads or writes outside the slices it is given, but for prefetch, which does neither.

//go:build amd64 && !purego

#include "textflag.h"

// func dots4AVX2(x, w *float32, at *[4]int, columns int, acc *[64]float32)
TEXT ·dots4AVX2(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ w+8(FP), DI
	MOVQ at+16(FP), AX
	MOVQ columns+24(FP), CX
	MOVQ acc+32(FP), DX
	MOVQ 0(AX), R12
	LEAQ (SI)(R12*4), R8
	SHLQ $4, R12
	ADDQ DI, R12
	MOVQ 8(AX), R13
	LEAQ (SI)(R13*4), R9
	SHLQ $4, R13
	ADDQ DI, R13
	MOVQ 16(AX), R15
	LEAQ (SI)(R15*4), R10
	SHLQ $4, R15
	ADDQ DI, R15
	MOVQ 24(AX), BX
	LEAQ (SI)(BX*4), R11
	SHLQ $4, BX
	ADDQ DI, BX
	VMOVUPS 0(DX), X0
	VMOVUPS 64(DX), X1
	VMOVUPS 128(DX), X2
	VMOVUPS 192(DX), X3
	XORQ SI, SI
	XORQ DI, DI
	TESTQ CX, CX
	JZ   store

column:
	VBROADCASTSS (R8)(SI*4), X4
	VFMADD231PS (R12)(DI*1), X4, X0
	VBROADCASTSS (R9)(SI*4), X5
	VFMADD231PS (R13)(DI*1), X5, X1
	VBROADCASTSS (R10)(SI*4), X6
	VFMADD231PS (R15)(DI*1), X6, X2
	VBROADCASTSS (R11)(SI*4), X7
	VFMADD231PS (BX)(DI*1), X7, X3
	INCQ SI
	ADDQ $16, DI
	CMPQ SI, CX
	JLT  column

store:
	VMOVUPS X0, 0(DX)
	VMOVUPS X1, 64(DX)
	VMOVUPS X2, 128(DX)
	VMOVUPS X3, 192(DX)
	VZEROUPPER
	RET

// func sparse4AVX2(columns *int32, values *float32, stored int, w *float32, out *[16]float32)
TEXT ·sparse4AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ out+32(FP), DX
	VXORPS X0, X0, X0
	VXORPS X2, X2, X2
	XORQ AX, AX
	MOVQ $256, R9
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	CMPQ R8, R9
	JGE  flush

multiply:
	VBROADCASTSS (DI)(AX*4), X4
	SHLQ $4, R8
	VFMADD231PS (BX)(R8*1), X4, X0
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VADDPS X0, X2, X2
	VMOVUPS X2, 0(DX)
	VZEROUPPER
	RET

// Another chunk; those between would add +0.
flush:
	VADDPS X0, X2, X2
	VXORPS X0, X0, X0
	MOVQ R8, R9
	ORQ  $255, R9
	INCQ R9
	JMP  multiply

// func add4AVX2(x *float32, columns int, w *float32, tau *[16]float32)
TEXT ·add4AVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ columns+8(FP), CX
	MOVQ w+16(FP), DI
	MOVQ tau+24(FP), DX
	VMOVUPS 0(DX), X0
	VXORPS X2, X2, X2
	TESTQ CX, CX
	JZ   done

column:
	VBROADCASTSS (SI), X3
	VMOVUPS (DI), X4
	VFMADD231PS X0, X3, X4
	VADDPS X2, X4, X4
	VMOVUPS X4, (DI)
	ADDQ $4, SI
	ADDQ $16, DI
	DECQ CX
	JNZ  column

done:
	VZEROUPPER
	RET

// func addSparse4AVX2(columns *int32, values *float32, stored int, w *float32, tau *[16]float32)
TEXT ·addSparse4AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ tau+32(FP), DX
	VMOVUPS 0(DX), X0
	VXORPS X2, X2, X2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	SHLQ $4, R8
	VBROADCASTSS (DI)(AX*4), X3
	VMOVUPS (BX)(R8*1), X4
	VFMADD231PS X0, X3, X4
	VADDPS X2, X4, X4
	VMOVUPS X4, (BX)(R8*1)
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VZEROUPPER
	RET

// func dots8AVX2(x, w *float32, at *[4]int, columns int, acc *[64]float32)
TEXT ·dots8AVX2(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ w+8(FP), DI
	MOVQ at+16(FP), AX
	MOVQ columns+24(FP), CX
	MOVQ acc+32(FP), DX
	MOVQ 0(AX), R12
	LEAQ (SI)(R12*4), R8
	SHLQ $5, R12
	ADDQ DI, R12
	MOVQ 8(AX), R13
	LEAQ (SI)(R13*4), R9
	SHLQ $5, R13
	ADDQ DI, R13
	MOVQ 16(AX), R15
	LEAQ (SI)(R15*4), R10
	SHLQ $5, R15
	ADDQ DI, R15
	MOVQ 24(AX), BX
	LEAQ (SI)(BX*4), R11
	SHLQ $5, BX
	ADDQ DI, BX
	VMOVUPS 0(DX), Y0
	VMOVUPS 64(DX), Y1
	VMOVUPS 128(DX), Y2
	VMOVUPS 192(DX), Y3
	XORQ SI, SI
	XORQ DI, DI
	TESTQ CX, CX
	JZ   store

column:
	VBROADCASTSS (R8)(SI*4), Y4
	VFMADD231PS (R12)(DI*1), Y4, Y0
	VBROADCASTSS (R9)(SI*4), Y5
	VFMADD231PS (R13)(DI*1), Y5, Y1
	VBROADCASTSS (R10)(SI*4), Y6
	VFMADD231PS (R15)(DI*1), Y6, Y2
	VBROADCASTSS (R11)(SI*4), Y7
	VFMADD231PS (BX)(DI*1), Y7, Y3
	INCQ SI
	ADDQ $32, DI
	CMPQ SI, CX
	JLT  column

store:
	VMOVUPS Y0, 0(DX)
	VMOVUPS Y1, 64(DX)
	VMOVUPS Y2, 128(DX)
	VMOVUPS Y3, 192(DX)
	VZEROUPPER
	RET

// func sparse8AVX2(columns *int32, values *float32, stored int, w *float32, out *[16]float32)
TEXT ·sparse8AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ out+32(FP), DX
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
	SHLQ $5, R8
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

// func add8AVX2(x *float32, columns int, w *float32, tau *[16]float32)
TEXT ·add8AVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ columns+8(FP), CX
	MOVQ w+16(FP), DI
	MOVQ tau+24(FP), DX
	VMOVUPS 0(DX), Y0
	VXORPS Y2, Y2, Y2
	TESTQ CX, CX
	JZ   done

column:
	VBROADCASTSS (SI), Y3
	VMOVUPS (DI), Y4
	VFMADD231PS Y0, Y3, Y4
	VADDPS Y2, Y4, Y4
	VMOVUPS Y4, (DI)
	ADDQ $4, SI
	ADDQ $32, DI
	DECQ CX
	JNZ  column

done:
	VZEROUPPER
	RET

// func addSparse8AVX2(columns *int32, values *float32, stored int, w *float32, tau *[16]float32)
TEXT ·addSparse8AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ tau+32(FP), DX
	VMOVUPS 0(DX), Y0
	VXORPS Y2, Y2, Y2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	SHLQ $5, R8
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

// func dots16AVX2(x, w *float32, at *[4]int, columns int, acc *[64]float32)
TEXT ·dots16AVX2(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ w+8(FP), DI
	MOVQ at+16(FP), AX
	MOVQ columns+24(FP), CX
	MOVQ acc+32(FP), DX
	MOVQ 0(AX), R12
	LEAQ (SI)(R12*4), R8
	SHLQ $6, R12
	ADDQ DI, R12
	MOVQ 8(AX), R13
	LEAQ (SI)(R13*4), R9
	SHLQ $6, R13
	ADDQ DI, R13
	MOVQ 16(AX), R15
	LEAQ (SI)(R15*4), R10
	SHLQ $6, R15
	ADDQ DI, R15
	MOVQ 24(AX), BX
	LEAQ (SI)(BX*4), R11
	SHLQ $6, BX
	ADDQ DI, BX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VMOVUPS 64(DX), Y2
	VMOVUPS 96(DX), Y3
	VMOVUPS 128(DX), Y4
	VMOVUPS 160(DX), Y5
	VMOVUPS 192(DX), Y6
	VMOVUPS 224(DX), Y7
	XORQ SI, SI
	XORQ DI, DI
	TESTQ CX, CX
	JZ   store

column:
	VBROADCASTSS (R8)(SI*4), Y8
	VFMADD231PS (R12)(DI*1), Y8, Y0
	VFMADD231PS 32(R12)(DI*1), Y8, Y1
	VBROADCASTSS (R9)(SI*4), Y9
	VFMADD231PS (R13)(DI*1), Y9, Y2
	VFMADD231PS 32(R13)(DI*1), Y9, Y3
	VBROADCASTSS (R10)(SI*4), Y10
	VFMADD231PS (R15)(DI*1), Y10, Y4
	VFMADD231PS 32(R15)(DI*1), Y10, Y5
	VBROADCASTSS (R11)(SI*4), Y11
	VFMADD231PS (BX)(DI*1), Y11, Y6
	VFMADD231PS 32(BX)(DI*1), Y11, Y7
	INCQ SI
	ADDQ $64, DI
	CMPQ SI, CX
	JLT  column

store:
	VMOVUPS Y0, 0(DX)
	VMOVUPS Y1, 32(DX)
	VMOVUPS Y2, 64(DX)
	VMOVUPS Y3, 96(DX)
	VMOVUPS Y4, 128(DX)
	VMOVUPS Y5, 160(DX)
	VMOVUPS Y6, 192(DX)
	VMOVUPS Y7, 224(DX)
	VZEROUPPER
	RET

// func sparse16AVX2(columns *int32, values *float32, stored int, w *float32, out *[16]float32)
TEXT ·sparse16AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ out+32(FP), DX
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
	SHLQ $6, R8
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

// func add16AVX2(x *float32, columns int, w *float32, tau *[16]float32)
TEXT ·add16AVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ columns+8(FP), CX
	MOVQ w+16(FP), DI
	MOVQ tau+24(FP), DX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VXORPS Y2, Y2, Y2
	TESTQ CX, CX
	JZ   done

column:
	VBROADCASTSS (SI), Y3
	VMOVUPS (DI), Y4
	VFMADD231PS Y0, Y3, Y4
	VADDPS Y2, Y4, Y4
	VMOVUPS Y4, (DI)
	VMOVUPS 32(DI), Y5
	VFMADD231PS Y1, Y3, Y5
	VADDPS Y2, Y5, Y5
	VMOVUPS Y5, 32(DI)
	ADDQ $4, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  column

done:
	VZEROUPPER
	RET

// func addSparse16AVX2(columns *int32, values *float32, stored int, w *float32, tau *[16]float32)
TEXT ·addSparse16AVX2(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ tau+32(FP), DX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VXORPS Y2, Y2, Y2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	SHLQ $6, R8
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

// func dots16AVX512(x, w *float32, at *[4]int, columns int, acc *[64]float32)
TEXT ·dots16AVX512(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ w+8(FP), DI
	MOVQ at+16(FP), AX
	MOVQ columns+24(FP), CX
	MOVQ acc+32(FP), DX
	MOVQ 0(AX), R12
	LEAQ (SI)(R12*4), R8
	SHLQ $6, R12
	ADDQ DI, R12
	MOVQ 8(AX), R13
	LEAQ (SI)(R13*4), R9
	SHLQ $6, R13
	ADDQ DI, R13
	MOVQ 16(AX), R15
	LEAQ (SI)(R15*4), R10
	SHLQ $6, R15
	ADDQ DI, R15
	MOVQ 24(AX), BX
	LEAQ (SI)(BX*4), R11
	SHLQ $6, BX
	ADDQ DI, BX
	VMOVUPS 0(DX), Z0
	VMOVUPS 64(DX), Z1
	VMOVUPS 128(DX), Z2
	VMOVUPS 192(DX), Z3
	XORQ SI, SI
	XORQ DI, DI
	TESTQ CX, CX
	JZ   store

column:
	VMOVUPS (R12)(DI*1), Z4
	VFMADD231PS.BCST (R8)(SI*4), Z4, Z0
	VMOVUPS (R13)(DI*1), Z5
	VFMADD231PS.BCST (R9)(SI*4), Z5, Z1
	VMOVUPS (R15)(DI*1), Z6
	VFMADD231PS.BCST (R10)(SI*4), Z6, Z2
	VMOVUPS (BX)(DI*1), Z7
	VFMADD231PS.BCST (R11)(SI*4), Z7, Z3
	INCQ SI
	ADDQ $64, DI
	CMPQ SI, CX
	JLT  column

store:
	VMOVUPS Z0, 0(DX)
	VMOVUPS Z1, 64(DX)
	VMOVUPS Z2, 128(DX)
	VMOVUPS Z3, 192(DX)
	VZEROUPPER
	RET

// func sparse16AVX512(columns *int32, values *float32, stored int, w *float32, out *[16]float32)
TEXT ·sparse16AVX512(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ out+32(FP), DX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z2, Z2, Z2
	XORQ AX, AX
	MOVQ $256, R9
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	CMPQ R8, R9
	JGE  flush

multiply:
	VBROADCASTSS (DI)(AX*4), Z4
	SHLQ $6, R8
	VFMADD231PS (BX)(R8*1), Z4, Z0
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VADDPS Z0, Z2, Z2
	VMOVUPS Z2, 0(DX)
	VZEROUPPER
	RET

// Another chunk; those between would add +0.
flush:
	VADDPS Z0, Z2, Z2
	VPXORQ Z0, Z0, Z0
	MOVQ R8, R9
	ORQ  $255, R9
	INCQ R9
	JMP  multiply

// func add16AVX512(x *float32, columns int, w *float32, tau *[16]float32)
TEXT ·add16AVX512(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ columns+8(FP), CX
	MOVQ w+16(FP), DI
	MOVQ tau+24(FP), DX
	VMOVUPS 0(DX), Z0
	VPXORQ Z2, Z2, Z2
	TESTQ CX, CX
	JZ   done

column:
	VBROADCASTSS (SI), Z3
	VMOVUPS (DI), Z4
	VFMADD231PS Z0, Z3, Z4
	VADDPS Z2, Z4, Z4
	VMOVUPS Z4, (DI)
	ADDQ $4, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  column

done:
	VZEROUPPER
	RET

// func addSparse16AVX512(columns *int32, values *float32, stored int, w *float32, tau *[16]float32)
TEXT ·addSparse16AVX512(SB), NOSPLIT, $0-40
	MOVQ columns+0(FP), SI
	MOVQ values+8(FP), DI
	MOVQ stored+16(FP), CX
	MOVQ w+24(FP), BX
	MOVQ tau+32(FP), DX
	VMOVUPS 0(DX), Z0
	VPXORQ Z2, Z2, Z2
	XORQ AX, AX
	TESTQ CX, CX
	JZ   done

value:
	MOVLQSX (SI)(AX*4), R8
	SHLQ $6, R8
	VBROADCASTSS (DI)(AX*4), Z3
	VMOVUPS (BX)(R8*1), Z4
	VFMADD231PS Z0, Z3, Z4
	VADDPS Z2, Z4, Z4
	VMOVUPS Z4, (BX)(R8*1)
	INCQ AX
	CMPQ AX, CX
	JLT  value

done:
	VZEROUPPER
	RET

// func lateAVX2(sums *float64, x *float32, groups int, t float64)
TEXT ·lateAVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ groups+16(FP), CX
	VBROADCASTSD t+24(FP), Y0
	TESTQ CX, CX
	JZ   done

group:
	VCVTPS2PD (SI), Y1
	VMULPD Y0, Y1, Y1
	VADDPD (DI), Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ $16, SI
	ADDQ $32, DI
	DECQ CX
	JNZ  group

done:
	VZEROUPPER
	RET

// func lateAVX512(sums *float64, x *float32, groups int, t float64)
TEXT ·lateAVX512(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ groups+16(FP), CX
	VBROADCASTSD t+24(FP), Z0
	TESTQ CX, CX
	JZ   done

group:
	VCVTPS2PD (SI), Z1
	VMULPD Z0, Z1, Z1
	VADDPD (DI), Z1, Z1
	VMOVUPD Z1, (DI)
	ADDQ $32, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  group

done:
	VZEROUPPER
	RET

// func prefetch(at unsafe.Pointer, lines int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ lines+8(FP), CX
	TESTQ CX, CX
	JZ   done

line:
	PREFETCHT1 (SI)
	ADDQ $64, SI
	DECQ CX
	JNZ  line

done:
	RET
