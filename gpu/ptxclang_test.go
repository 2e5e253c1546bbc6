//go:build ptx && linux && cgo && !noopencl

package gpu

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
)

var (
	ptxClang = flag.String("ptx", "clang-15", "the clang that compiles the kernels")
	libclc   = flag.String("ptx-library", "/usr/lib/clc", "the folder of libclc, for that")
)

// gpuTarget is a kind of GPU that clang compiles for.
type gpuTarget struct{ triple, processor string }

var (
	nvidia = gpuTarget{"nvptx64--nvidiacl", "-march=sm_80"}
	amd    = gpuTarget{"amdgcn--amdhsa", "-mcpu=gfx90a"}
)

// amdRegisters finds the vector registers of each kernel in assembly for AMD, whose compiler
// assigns them, and the bytes of values that have none.
var amdRegisters = regexp.MustCompile(
	`(?s)\.amdhsa_kernel (\w+)\n.*?; TotalNumVgprs: (\d+)\n; ScratchSize: (\d+)\n`)

// TestPTX, of make ptx, has clang compile each kernel for a GPU of NVIDIA, prints what its inner
// loop is made of, and wants no array of a kernel outside registers. PTX has any number of them; so
// code for a GPU of AMD, which has 512, says how many a kernel takes.
func TestPTX(t *testing.T) {
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	e := &deviceEngine{traits: traits{group: 64, wideGroup: 64, bigGroup: 256, vector: 4}}
	found := 0
	fmt.Println("| kernel | bytes not in registers | fma | loads | of vectors | registers on AMD |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	for _, p := range e.programs() {
		text, macros := strings.Join(p.text(sources), "\n"), compilerOptions(false)+p.macros
		registers := map[string]string{}
		for _, k := range amdRegisters.FindAllStringSubmatch(amd.compile(t, text, macros), -1) {
			if registers[k[1]] = k[2]; k[3] != "0" {
				t.Errorf("%s: %s bytes of values are not in registers on AMD", k[1], k[3])
			}
		}
		for _, k := range ptxKernels(nvidia.compile(t, text, macros)) {
			found++
			name := k.name
			fmt.Printf("| %s | %d | %d | %d | %d | %s |\n",
				name, k.local, k.fma, k.loads, k.vectorLoads, registers[k.name])
			if k.local > 0 {
				t.Errorf("%s: %d bytes of arrays are not in registers", name, k.local)
			}
		}
	}
	if found == 0 {
		t.Error("no kernel found")
	}
}

// compile returns the assembly of a program. It removes the convergent attribute from calls of
// libclc's functions: a GPU's own compiler does not set it there, and it would keep loops with
// calls from being unrolled.
func (g gpuTarget) compile(t *testing.T, program, macros string) string {
	t.Helper()
	in := filepath.Join(t.TempDir(), "program")
	clang := func(to string, options ...string) string {
		options = append(options, "-nogpulib", "-target", g.triple, g.processor, "-O3", "-S", "-o", in+to)
		if text, err := exec.Command(*ptxClang, options...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", *ptxClang, strings.Join(options, " "), err, text)
		}
		text, err := os.ReadFile(in + to)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write := func(to, text string) {
		if err := os.WriteFile(in+to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".cl", program)
	text := clang(".ll", append(strings.Fields(macros), "-emit-llvm", "-Xclang",
		"-disable-llvm-passes", "-Xclang", "-finclude-default-header", "-Xclang",
		"-mlink-builtin-bitcode", "-Xclang", filepath.Join(*libclc, g.triple+".bc"), in+".cl")...)
	write(".ll", strings.ReplaceAll(text, "{ convergent nobuiltin", "{ nobuiltin"))
	return clang(".s", in+".ll")
}
