// The inner loops of expectation propagation, once for AVX2 and once for AVX-512. What each function computes is said
// by its twin in Go, in kernels.go; row is where row from of l begins. No function reads or writes outside what it is
// given: rows padded to a multiple of 8.

//go:build amd64 && !purego

#include "textflag.h"

// v += factor·x, of the columns from SI on; product is written over.
#define ADD(x, factor, product, v) \
	VMULPD (x)(SI*8), factor, product \
	VADDPD product, v, v

// factor = τ·x[CX], in each lane.
#define FACTOR(x, tau, low, factor) \
	VMULSD (x)(CX*8), tau, low \
	VBROADCASTSD low, factor

// func addFourAVX2(row *float64, stride, from, to int, x *[4]*float64, tau *[4]float64)
TEXT ·addFourAVX2(SB), NOSPLIT, $0-48
	MOVQ row+0(FP), DI
	MOVQ stride+8(FP), DX
	SHLQ $3, DX
	MOVQ from+16(FP), CX
	MOVQ to+24(FP), BX
	MOVQ x+32(FP), AX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10
	MOVQ 24(AX), R11
	MOVQ tau+40(FP), AX
	VMOVSD 0(AX), X12
	VMOVSD 8(AX), X13
	VMOVSD 16(AX), X14
	VMOVSD 24(AX), X15

row:
	FACTOR(R8, X12, X4, Y4)
	FACTOR(R9, X13, X5, Y5)
	FACTOR(R10, X14, X6, Y6)
	FACTOR(R11, X15, X7, Y7)
	XORQ SI, SI

column:
	VMOVUPD (DI)(SI*8), Y0
	ADD(R8, Y4, Y8, Y0)
	ADD(R9, Y5, Y9, Y0)
	ADD(R10, Y6, Y10, Y0)
	ADD(R11, Y7, Y11, Y0)
	VMOVUPD Y0, (DI)(SI*8)
	ADDQ $4, SI
	CMPQ SI, CX
	JLE  column

	ADDQ DX, DI
	INCQ CX
	CMPQ CX, BX
	JLT  row

	VZEROUPPER
	RET

// func addFourAVX512(row *float64, stride, from, to int, x *[4]*float64, tau *[4]float64)
TEXT ·addFourAVX512(SB), NOSPLIT, $0-48
	MOVQ row+0(FP), DI
	MOVQ stride+8(FP), DX
	SHLQ $3, DX
	MOVQ from+16(FP), CX
	MOVQ to+24(FP), BX
	MOVQ x+32(FP), AX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10
	MOVQ 24(AX), R11
	MOVQ tau+40(FP), AX
	VMOVSD 0(AX), X12
	VMOVSD 8(AX), X13
	VMOVSD 16(AX), X14
	VMOVSD 24(AX), X15

row:
	FACTOR(R8, X12, X4, Z4)
	FACTOR(R9, X13, X5, Z5)
	FACTOR(R10, X14, X6, Z6)
	FACTOR(R11, X15, X7, Z7)
	XORQ SI, SI

column:
	VMOVUPD (DI)(SI*8), Z0
	ADD(R8, Z4, Z8, Z0)
	ADD(R9, Z5, Z9, Z0)
	ADD(R10, Z6, Z10, Z0)
	ADD(R11, Z7, Z11, Z0)
	VMOVUPD Z0, (DI)(SI*8)
	ADDQ $8, SI
	CMPQ SI, CX
	JLE  column

	ADDQ DX, DI
	INCQ CX
	CMPQ CX, BX
	JLT  row

	VZEROUPPER
	RET

// Of the two functions below, DI: y; SI: row BX of l, whose next is R8, or the same again if there is none; AX: BX+1; CX: d; R11: lengths.
#define NEXT_TWO \
	LEAQ (SI)(DX*1), R8 \
	LEAQ 1(BX), AX \
	CMPQ AX, CX \
	CMOVQEQ SI, R8 \
	XORQ R9, R9 \
	MOVQ DI, R10

// The sums of two rows go on with v of y: times one and the other.
#define BOTH(y, v, one, other, sum, second, p, q) \
	VMOVUPD y, v \
	VMULPD v, one, p \
	VMULPD v, other, q \
	VADDPD p, sum, sum \
	VADDPD q, second, second

// y = (y - sum)·by, which is left in v, and length += v².
#define END(y, length, v, sum, by, p) \
	VMOVUPD y, v \
	VSUBPD sum, v, v \
	VMULPD by, v, v \
	VMOVUPD v, y \
	VMULPD v, v, p \
	VADDPD length, p, p \
	VMOVUPD p, length

// The same, and the sum of the second row goes on with v times other.
#define END_FIRST(y, length, v, sum, by, p, other, second) \
	END(y, length, v, sum, by, p) \
	VMULPD v, other, p \
	VADDPD p, second, second

// func solveAVX2(y *side, l *float64, stride, d int, lengths *side)
TEXT ·solveAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ l+8(FP), SI
	MOVQ stride+16(FP), DX
	SHLQ $3, DX
	MOVQ d+24(FP), CX
	MOVQ lengths+32(FP), R11
	XORQ BX, BX

two:
	NEXT_TWO
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ BX, BX
	JZ   end

column:
	VBROADCASTSD (SI)(R9*8), Y8
	VBROADCASTSD (R8)(R9*8), Y9
	BOTH(0(R10), Y10, Y8, Y9, Y0, Y4, Y11, Y12)
	BOTH(32(R10), Y13, Y8, Y9, Y1, Y5, Y14, Y15)
	BOTH(64(R10), Y10, Y8, Y9, Y2, Y6, Y11, Y12)
	BOTH(96(R10), Y13, Y8, Y9, Y3, Y7, Y14, Y15)
	ADDQ $128, R10
	INCQ R9
	CMPQ R9, BX
	JLT  column

end:
	VBROADCASTSD (SI)(BX*8), Y8
	VBROADCASTSD (R8)(BX*8), Y9
	END_FIRST(0(R10), 0(R11), Y10, Y0, Y8, Y11, Y9, Y4)
	END_FIRST(32(R10), 32(R11), Y10, Y1, Y8, Y11, Y9, Y5)
	END_FIRST(64(R10), 64(R11), Y10, Y2, Y8, Y11, Y9, Y6)
	END_FIRST(96(R10), 96(R11), Y10, Y3, Y8, Y11, Y9, Y7)
	CMPQ AX, CX
	JGE  done
	VBROADCASTSD (R8)(AX*8), Y8
	END(128(R10), 0(R11), Y10, Y4, Y8, Y11)
	END(160(R10), 32(R11), Y10, Y5, Y8, Y11)
	END(192(R10), 64(R11), Y10, Y6, Y8, Y11)
	END(224(R10), 96(R11), Y10, Y7, Y8, Y11)
	LEAQ (SI)(DX*2), SI
	ADDQ $2, BX
	CMPQ BX, CX
	JLT  two

done:
	VZEROUPPER
	RET

// func solveAVX512(y *side, l *float64, stride, d int, lengths *side)
TEXT ·solveAVX512(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ l+8(FP), SI
	MOVQ stride+16(FP), DX
	SHLQ $3, DX
	MOVQ d+24(FP), CX
	MOVQ lengths+32(FP), R11
	XORQ BX, BX

two:
	NEXT_TWO
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	TESTQ BX, BX
	JZ   end

column:
	VBROADCASTSD (SI)(R9*8), Z8
	VBROADCASTSD (R8)(R9*8), Z9
	BOTH(0(R10), Z10, Z8, Z9, Z0, Z2, Z11, Z12)
	BOTH(64(R10), Z13, Z8, Z9, Z1, Z3, Z14, Z15)
	ADDQ $128, R10
	INCQ R9
	CMPQ R9, BX
	JLT  column

end:
	VBROADCASTSD (SI)(BX*8), Z8
	VBROADCASTSD (R8)(BX*8), Z9
	END_FIRST(0(R10), 0(R11), Z10, Z0, Z8, Z11, Z9, Z2)
	END_FIRST(64(R10), 64(R11), Z10, Z1, Z8, Z11, Z9, Z3)
	CMPQ AX, CX
	JGE  done
	VBROADCASTSD (R8)(AX*8), Z8
	END(128(R10), 0(R11), Z10, Z2, Z8, Z11)
	END(192(R10), 64(R11), Z10, Z3, Z8, Z11)
	LEAQ (SI)(DX*2), SI
	ADDQ $2, BX
	CMPQ BX, CX
	JLT  two

done:
	VZEROUPPER
	RET
