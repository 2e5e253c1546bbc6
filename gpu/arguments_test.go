//go:build linux && cgo && !noopencl

package gpu

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
)

var (
	kernelHead = regexp.MustCompile(`(?s)void (?:NAME\((\w+), CLASSES\)|(\w+))\(([^{};]*?)\)\s*\{`)
	kernelType = regexp.MustCompile(`(\w+) (\*?)(?:restrict )?\w+$`)
)

// parameters returns the types of the parameters of each kernel, by file and name; kernels that are
// there for CPUs and for GPUs have several.
func parameters(t *testing.T) map[string][][]string {
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][][]string{}
	for k, text := range sources {
		for _, head := range kernelHead.FindAllStringSubmatch(text, -1) {
			var types []string
			for p := range strings.SplitSeq(head[3], ",") {
				name := kernelType.FindStringSubmatch(strings.TrimSpace(p))
				if name == nil {
					t.Fatalf("%s: parameter %q of %s", kernels.Names[k], p, head[1]+head[2])
				}
				types = append(types, name[1]+name[2])
			}
			name := kernels.Names[k] + " " + head[1] + head[2]
			found[name] = append(found[name], types)
		}
	}
	return found
}

// typesOf returns the types that kernels call the fields of a struct.
func typesOf(args reflect.Type) (types []string) {
	names := map[reflect.Type]string{
		reflect.TypeFor[*buffer[float32]](): "float*", reflect.TypeFor[*buffer[int32]](): "int*",
		reflect.TypeFor[*buffer[uint8]](): "uchar*", reflect.TypeFor[*buffer[int64]](): "long*",
		reflect.TypeFor[int]():  "int",
		reflect.TypeFor[bool](): "int", reflect.TypeFor[float32](): "float",
		reflect.TypeFor[uint64](): "ulong",
	}
	for f := range args.NumField() {
		if field := args.Field(f); field.Type.Kind() == reflect.Struct {
			types = append(types, typesOf(field.Type)...)
		} else {
			types = append(types, names[field.Type])
		}
	}
	return types
}

// TestArguments: each struct of arguments has the types of its kernel's parameters.
func TestArguments(t *testing.T) {
	found := parameters(t)
	for kernel, args := range map[string]any{
		"score.cl score_": scoreArgs{}, "sparse.cl score_sparse": scoreSparseArgs{},
		"region.cl predict": predictArgs{}, "region.cl assign": assignArgs{},
		"sums.cl move_sums": moveSumsArgs{},
		"add.cl add_ranges": addRangesArgs{}, "sparse.cl move_sums_sparse": moveSumsSparseArgs{},
		"add.cl clear_sums": clearSumsArgs{}, "update.cl update_vectors": updateVectorsArgs{},
		"update.cl norms": normsArgs{}, "residual.cl residuals": residualsArgs{},
		"weighted.cl weighted": weightedArgs{}, "weighted.cl weighted_": weightedArgs{},
		"weightedsparse.cl weighted_sparse": weightedSparseArgs{},
		"project.cl product":                productArgs{}, "project.cl squares": squaresArgs{},
		"projectsparse.cl product_sparse": productSparseArgs{},
		"projectsparse.cl squares_sparse": squaresSparseArgs{}, "probe.cl probe": probeArgs{},
		"trees.cl histogram": histogramArgs{}, "trees.cl split_count": splitCountArgs{},
		"trees.cl split_move": splitMoveArgs{}, "trees.cl add_tree": addTreeArgs{},
	} {
		want := typesOf(reflect.TypeOf(args))
		if found[kernel] == nil {
			t.Errorf("%s: no such kernel", kernel)
		}
		for _, got := range found[kernel] {
			if !slices.Equal(got, want) {
				t.Errorf("%s takes %v, its struct has %v", kernel, got, want)
			}
		}
	}
	if _, err := layOutArgs(struct{ N int }{1 << 40}); err == nil {
		t.Error("a number of more than 32 bits is an argument")
	}
	if _, err := layOutArgs(struct{ N int64 }{1}); err == nil {
		t.Error("an int64 is an argument")
	}
}
