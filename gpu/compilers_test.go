//go:build compilers && linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
)

// target is a GPU that a compiler of this machine compiles for.
type target struct {
	name    string
	shape   shape
	compile func(t *testing.T, dir, macros string) map[string]figures
}

// figures are what a compiler says of a kernel.
type figures struct {
	registers, spilled, local int
	loop                      loop
}

var targets = []target{
	{"Intel dg2", shape{2, 8}, intel("dg2")},
	{"Intel tgllp", shape{2, 8}, intel("tgllp")},
	{"Intel pvc", shape{4, 16}, intel("pvc")},
	{"AMD gfx90a", shape{8, 0}, amd("gfx90a")},
	{"AMD gfx1100", shape{8, 0}, amd("gfx1100")},
	{"NVIDIA sm_80", shape{8, 0}, nvidia("sm_80")},
	{"NVIDIA sm_90", shape{8, 0}, nvidia("sm_90")},
}

// leastShare is the share of fma, in per cent of the instructions of the inner loop, of kernels in
// the assembly of a maker's GPUs.
var leastShare = map[string]map[string]int{
	"AMD": {"product": 71, "score_64": 71, "weighted_64": 71, "score_16": 60, "weighted_16": 61,
		"score_4": 39}, // of gfx90a an fma is two
	"NVIDIA": {"product": 83, "score_64": 85, "weighted_64": 86, "score_16": 71, "weighted_16": 75,
		"score_4": 50},
}

// TestCompilers, of make gpu-compilers, has the compilers of GPUs compile every program of the form
// for GPUs, and prints what the kernels take. No value may have no register, no compiler may warn,
// and inner loops keep their share of fma.
func TestCompilers(t *testing.T) {
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("| GPU | kernel | registers | spilled | local memory | fma of the inner loop |")
	fmt.Println("|---|---|--:|--:|--:|--:|")
	for _, g := range targets {
		e := &deviceEngine{traits: traits{group: 64, wideGroup: 64, bigGroup: 256, vector: 4,
			shape: g.shape}}
		for _, p := range e.programs() {
			dir := t.TempDir()
			text := strings.Join(p.text(sources), "\n")
			if err := os.WriteFile(filepath.Join(dir, "program.cl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			found := g.compile(t, dir, compilerOptions(false)+p.macros)
			for _, use := range p.kernels {
				f, known := found[use.name]
				if !known {
					continue
				}
				fmt.Printf("| %s | %s | %d | %d | %d | %s |\n", g.name, use.name, f.registers, f.spilled,
					f.local, f.loop)
				if f.spilled > 0 {
					t.Errorf("%s: %s: %d values have no register", g.name, use.name, f.spilled)
				}
				maker, _, _ := strings.Cut(g.name, " ")
				if least := leastShare[maker][use.name]; f.loop.share() < least {
					t.Errorf("%s: %s: %d %% fma, want at least %d", g.name, use.name, f.loop.share(), least)
				}
			}
		}
	}
}

// compiler runs a compiler in a folder, and wants no warning but those that say what it has done.
func compiler(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "warning:") && !intelSpills.MatchString(line) {
			t.Errorf("%s: %s", name, line)
		}
	}
	return string(said)
}

var intelSpills = regexp.MustCompile(
	`kernel (\w+)\s+compiled SIMD\d+ allocated (\d+) regs and spilled around (\d+)`)

// intel returns what compiles for one of Intel's GPUs. The compiler tells of spilled registers
// alone.
func intel(device string) func(*testing.T, string, string) map[string]figures {
	return func(t *testing.T, dir, macros string) map[string]figures {
		said := compiler(t, dir, "ocloc", "compile", "-file", "program.cl", "-device", device, "-options",
			macros, "-out_dir", dir)
		found := map[string]figures{}
		text, err := os.ReadFile(filepath.Join(dir, "program.cl"))
		if err != nil {
			t.Fatal(err)
		}
		for name := range leastShare["AMD"] { // the kernels of tiles
			if strings.Contains(string(text), strings.TrimRight(name, "0123456789")) {
				found[name] = figures{registers: 128}
			}
		}
		for _, k := range intelSpills.FindAllStringSubmatch(said, -1) {
			f := figures{registers: count(k[2]), spilled: count(k[3])}
			found[k[1]] = f
		}
		return found
	}
}

// count reads a number; an empty text is 0.
func count(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// What the assembly for AMD says of a kernel.
var (
	amdRegisters = regexp.MustCompile(`; (?:TotalNumVgprs|NumVgprs): (\d+)\n`)
	amdSpilled   = regexp.MustCompile(`; ScratchSize: (\d+)\n`)
	amdLocal     = regexp.MustCompile(`; LDSByteSize: (\d+) `)
)

// amd returns what compiles for one of AMD's GPUs, by clang.
func amd(processor string) func(*testing.T, string, string) map[string]figures {
	return func(t *testing.T, dir, macros string) map[string]figures {
		text := clang(t, dir, "clang-16", "amdgcn--amdhsa", "-mcpu="+processor, macros)
		found := map[string]figures{}
		for _, kernel := range strings.Split(text, "; -- Begin function ")[1:] {
			name := strings.Fields(kernel)[0]
			says := func(r *regexp.Regexp) (most int) {
				for _, m := range r.FindAllStringSubmatch(kernel, -1) {
					most = max(most, count(m[1]))
				}
				return most
			}
			found[name] = figures{says(amdRegisters), says(amdSpilled), says(amdLocal),
				innerLoop(kernel, amdLabel, amdBranch, amdInstruction)}
		}
		return found
	}
}

var (
	ptxasKernel = regexp.MustCompile(`(?s)Compiling entry function '(\w+)'.*?(\d+) bytes spill stores` +
		`.*?Used (\d+) registers(?:, (\d+) bytes smem)?`)
	sassKernel = regexp.MustCompile(`\.section\s+\.text\.`)
)

// nvidia returns what compiles for one of NVIDIA's GPUs, by clang, ptxas and nvdisasm; nothing
// without these.
func nvidia(arch string) func(*testing.T, string, string) map[string]figures {
	return func(t *testing.T, dir, macros string) map[string]figures {
		if _, err := exec.LookPath("ptxas"); err != nil {
			return nil
		}
		text := clang(t, dir, "clang-15", "nvptx64--nvidiacl", "-march="+min(arch, "sm_86"), macros)
		text = strings.Replace(text, ".target "+min(arch, "sm_86"), ".target "+arch, 1)
		text = regexp.MustCompile(`\.version \d\.\d`).ReplaceAllString(text, ".version 7.8")
		if err := os.WriteFile(filepath.Join(dir, "program.ptx"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said := compiler(t, dir, "ptxas", "-arch="+arch, "-v", "program.ptx", "-o", "program.cubin")
		found := map[string]figures{}
		for _, k := range ptxasKernel.FindAllStringSubmatch(said, -1) {
			found[k[1]] = figures{registers: count(k[3]), spilled: count(k[2]), local: count(k[4])}
		}
		sass := compiler(t, dir, "nvdisasm", "-c", "program.cubin")
		for _, kernel := range sassKernel.Split(sass, -1)[1:] {
			name, _, _ := strings.Cut(kernel, ",")
			if f, known := found[name]; known {
				f.loop = innerLoop(kernel, sassLabel, sassBranch, sassInstruction)
				found[name] = f
			}
		}
		return found
	}
}

// clang returns the assembly of a program. It removes the convergent attribute from calls of
// libclc's functions: a GPU's own compiler does not set it there, and it would keep loops with
// calls from being unrolled. last is the version that assigns registers: libclc belongs to 15, and
// 16 is the first that knows those of gfx1100.
func clang(t *testing.T, dir, last, triple, processor, macros string) string {
	t.Helper()
	run := func(name, to string, options ...string) string {
		compiler(t, dir, name, append(options, "-nogpulib", "-target", triple, processor, "-O3", "-S",
			"-o", to)...)
		text, err := os.ReadFile(filepath.Join(dir, to))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := run("clang-15", "program.ll", append(strings.Fields(macros), "-emit-llvm", "-Xclang",
		"-disable-llvm-passes", "-Xclang", "-finclude-default-header", "-Xclang",
		"-mlink-builtin-bitcode", "-Xclang", "/usr/lib/clc/"+triple+".bc", "program.cl")...)
	text = strings.ReplaceAll(text, "{ convergent nobuiltin", "{ nobuiltin")
	if err := os.WriteFile(filepath.Join(dir, "program.ll"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(last, "program.s", "program.ll")
}

// leastFMA is how many fma are in the loop that an inner loop is: a step of 4 × 4 sums, or of 8 × 8
// in pairs.
const leastFMA = 16

// loop is the inner loop of a kernel, in instructions; the zero value if none is known.
type loop struct{ fma, all int }

func (l loop) share() int { return 100 * l.fma / max(1, l.all) }

func (l loop) String() string {
	if l.all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d (%d %%)", l.fma, l.all, l.share())
}

// Labels, branches to labels, and instructions in assembly.
var (
	amdLabel        = regexp.MustCompile(`^(\.LBB\w+):`)
	amdBranch       = regexp.MustCompile(`^\ts_c?branch\w* (\.LBB\w+)`)
	amdInstruction  = regexp.MustCompile(`^\t([a-z]\w+)`)
	sassLabel       = regexp.MustCompile(`^(\.L_x_\d+):`)
	sassBranch      = regexp.MustCompile("BRA.*`\\((\\.L_x_\\d+)\\)")
	sassInstruction = regexp.MustCompile(`\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w+)`)
	isFMA           = regexp.MustCompile(`^(FFMA|v_(pk_|dual_)?fma)`)
)

// innerLoop finds the loop with the largest share of fma among those with one for each sum of an
// item.
func innerLoop(text string, label, branch, instruction *regexp.Regexp) (best loop) {
	lines, labels := strings.Split(text, "\n"), map[string]int{}
	for n, line := range lines {
		if at := label.FindStringSubmatch(line); at != nil {
			labels[at[1]] = n
		}
		to := branch.FindStringSubmatch(line)
		if to == nil {
			continue
		}
		from, before := labels[to[1]]
		if !before {
			continue
		}
		l := loop{}
		for _, inside := range lines[from : n+1] {
			if is := instruction.FindStringSubmatch(inside); is != nil {
				l.all++
				if isFMA.MatchString(is[1]) {
					l.fma++
				}
			}
		}
		if l.fma >= leastFMA && l.share() > best.share() {
			best = l
		}
	}
	return best
}
