package layout

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/uma-gpu/uma-gpu/"

// rules bans imports. A package falls under the first rule whose prefix fits;
// it may import the listed packages of this module and no others.
var rules = []struct {
	prefix  string
	allowed []string // prefixes; "" in a rule's place means all
	reason  string
}{
	{"host/numerics", nil, "the arithmetic of the contract rests on nothing"},
	{"host/dataset/file", []string{"host/dataset", "host/dataset/features", "internal/"},
		"knows formats; what is read is plain examples, and features are made next door"},
	{"host/dataset/features", []string{"host/dataset", "host/numerics", "internal/"},
		"functions of plain examples and columns, which know no file"},
	{"host/dataset", []string{"host/progress", "internal/"},
		"a leaf: examples know neither files nor engines nor models"},
	{"host/confusion", []string{"host/confusion", "host/dataset", "host/numerics", "internal/"},
		"a leaf, with its rooms"},
	{"host/judge/metric", nil, "a leaf"},
	{"host/judge/sets", []string{"host/confusion", "host/judge/metric", "host/numerics"},
		"probabilities and labels alone"},
	{"host/judge", []string{"host/confusion", "host/dataset", "host/engine", "host/model",
		"host/numerics", "learners"},
		"judges what others have learned, and trains nothing"},
	{"host/fit", []string{"learners", "host/confusion", "host/dataset", "host/engine",
		"host/numerics"}, "runs learners, and searches over the fits of one"},
	{"host/progress", nil,
		"a leaf: counts of work that is done, whatever it is, without clock and terminal"},
	{"host/ensemble", []string{"host/dataset", "host/engine", "host/numerics", "internal/"},
		"what trees predict, whoever grew them"},
	{"host/model", []string{"host/dataset", "host/kernel", "host/engine", "host/kernel/pca",
		"host/numerics", "host/judge/sets", "host/ensemble", "internal/"},
		"knows what was prepared and mapped, not who trained; engines by their interface alone"},
	{"host/exchange", []string{"host/model", "host/dataset", "host/kernel", "host/engine",
		"host/ensemble",
		"host/engine/contract"},
		"reads and writes what a model is; who trained it, and on what engine, is in the model"},
	{"host/engine/contract", nil, "a text that all others refer to"},
	{"host/engine/shard/mpi", []string{"host/engine/shard"},
		"a way to join ranks, which knows nothing of examples"},
	{"host/engine/shard", []string{"host/dataset", "host/engine", "host/numerics"},
		"combines any drivers, and must name none"},
	{"host/engine/audit", []string{"host/dataset", "host/engine"},
		"compares any drivers, and must name none"},
	{"host/engine/everyengine", []string{"cpuref", "gpu", "host/engine"},
		"names all engines, so tests alone import it"},
	{"host/engine/enginetest", []string{"cpuref", "host/dataset", "host/engine", "host/kernel",
		"host/numerics"}, "compares any engine with the one that defines the results"},
	{"host/engine", []string{"host/dataset", "host/kernel", "host/numerics", "host/engine"},
		"the shell must not know a driver"},
	{"host/kernel/fitting", []string{"host/kernel", "host/numerics", "host/engine", "host/dataset", "learners"},
		"fits on any engine through its interface, and chooses landmarks; the loop hands it the way to " +
			"learn"},
	{"host/kernel/means", []string{"host/kernel", "host/engine", "host/dataset", "host/numerics"},
		"means on any engine through its interface; must not name one, and knows no noise"},
	{"host/kernel/pca", []string{"host/kernel", "host/engine", "host/dataset", "host/numerics"},
		"fits on any engine through its interface and must not name one"},
	{"host/kernel", []string{"host/numerics"}, "a leaf: functions of three numbers"},
	{"cpuref/simd", []string{"cpuref", "host/engine", "host/dataset", "host/kernel", "host/numerics"},
		"a driver knows the contract, the loops that define it, and nothing above"},
	{"cpuref", []string{"host/engine", "host/dataset", "host/kernel", "host/numerics"},
		"a driver knows the contract and nothing above it"},
	{"gpu/kernels", nil, "a text, which is in builds without OpenCL too"},
	{"gpu", []string{"gpu/kernels", "internal/osfile", "host/engine", "host/dataset", "host/kernel", "host/numerics"},
		"a driver knows the contract and nothing above it"},
	{"learners", []string{"learners", "host/engine", "host/confusion", "host/dataset",
		"host/ensemble", "host/judge/metric", "host/kernel", "host/numerics", "internal/wire"},
		"a learner runs on any engine and must not name one"},
	{"host/neighbours", []string{"host/dataset", "host/engine", "host/kernel", "host/numerics",
		"internal/parallel"},
		"asks an engine for inner products, and chooses among them"},
	{"host/clean", []string{"host", "learners"},
		"has several learners say what labels are wrong, through the loop"},
	{"host/active", []string{"host"},
		"asks through the loop, of any learner on any engine"},
	{"host/report", []string{"host/judge", "host/judge/metric", "host/model"},
		"shows what others found, and computes nothing but pictures of it"},
	{"host/synth", nil, "a leaf: makes data for tests and measurements"},
	{"host", []string{"learners", "host/"},
		"the loop runs any learner, which the catalog names, on any engine, which nobody names here"},
	{"internal/", []string{"internal/"}, "leaves: nothing here imports host"},
	{"github.com/uma-gpu/uma-gpu", []string{"cpuref/simd", "host", "learners"},
		"the front door: one default engine, and none that wants OpenCL"},
	{"cmd/uma-gpu", []string{""}, "wiring: the one place that names both engines"},
}

// foreign says who alone may import packages of other modules.
var foreign = map[string][]string{
	"github.com/uma-gpu/uma-gpu":    {"cmd/uma-gpu"}, // the front door
	"github.com/jgillich/go-opencl": {"gpu"},
	// /cpu tells the instructions that the system allows; /unix has files without names.
	"golang.org/x/sys":         {"cpuref/simd", "internal/osfile", "learners/online"},
	"github.com/urfave/cli/v2": {"cmd/uma-gpu"},
	// Manual pages, as the cli package makes them.
	"github.com/cpuguy83/go-md2man": {"cmd/uma-gpu"},
	"golang.org/x/term":             {"cmd/uma-gpu"},
	"pgregory.net/rapid":            {"cmd/uma-gpu"}, // of tests
	"golang.org/x/text":             {"host/dataset/features", "host/dataset/file"},
	"gonum.org/v1/gonum":            {"host/confusion", "host/kernel/pca", "host/judge/metric"},
	"github.com/klauspost/compress": {"host/dataset/file"},
	// The encoding of ONNX.
	"google.golang.org/protobuf":       {"host/exchange"},
	"github.com/parquet-go/parquet-go": {"host/dataset/file"},
	"github.com/xuri/excelize/v2":      {"host/dataset/file"},
}

// mechanics are what every package may import: how work is shared out, how far it is, what memory
// is left, how options are spelt and what package slices lacks, without a word of the trade.
var mechanics = []string{"internal/parallel", "internal/memory", "internal/quote",
	"internal/lists", "host/progress"}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}",
		module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(packages) < 10 {
		t.Fatalf("go list knows only %d packages", len(packages))
	}
	for _, line := range packages {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		for _, imported := range fields[1:] {
			if own, ok := strings.CutPrefix(imported, module); ok {
				judgeOwn(t, pkg, own)
			} else {
				judgeForeign(t, pkg, imported)
			}
		}
		judgeOwn(t, pkg, "")
	}
}

// judgeOwn judges one import of this module; "" only looks for a rule.
func judgeOwn(t *testing.T, pkg, imported string) {
	for _, r := range rules {
		if !within(pkg, r.prefix) {
			continue
		}
		if imported == "" {
			return
		}
		for _, a := range slices.Concat(r.allowed, mechanics) {
			if r.prefix == "internal/" && within(a, "host") {
				continue
			}
			if a == "" || within(imported, a) {
				return
			}
		}
		t.Errorf("%s imports %s, which it must not: %s", pkg, imported, r.reason)
		return
	}
	t.Errorf("no rule for package %s: say in internal/layout what it may import", pkg)
}

func judgeForeign(t *testing.T, pkg, imported string) {
	for root, users := range foreign {
		if !within(imported, root) {
			continue
		}
		for _, u := range users {
			if within(pkg, u) {
				return
			}
		}
		t.Errorf("%s imports %s, which is for %v alone", pkg, imported, users)
	}
	if strings.Contains(strings.Split(imported, "/")[0], ".") {
		for root := range foreign {
			if within(imported, root) {
				return
			}
		}
		t.Errorf("%s imports %s: a new dependency wants an entry in internal/layout", pkg, imported)
	}
}

func within(path, prefix string) bool {
	return path == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(path,
		strings.TrimSuffix(prefix, "/")+"/")
}
