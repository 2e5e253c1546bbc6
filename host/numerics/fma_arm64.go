package numerics

// fused says that FMA is one instruction, inlined.
const fused = true

// FMA returns a·b + c rounded once to float32 (ties to even), as the fma function of OpenCL does:
// Go's compiler makes one instruction of it, FMADDS. The conversion has it take this product, were
// c one too.
func FMA(a, b, c float32) float32 { return a*b + float32(c) }

var nearly1 float32 = 1 + 0x1p-12 // no constant, whose product the compiler would know

func init() {
	if FMA(nearly1, nearly1, -1) != 0x1p-11+0x1p-24 {
		panic("numerics: this Go compiler rounds products before it adds: build with Go from go.dev")
	}
}
