package layout

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw docs/layout.md anew")

// folder is a package of this module.
type folder struct {
	path    string // without the module's
	purpose string // the first sentence of its documentation, without its name
	imports []string
	layer   int // above those of all that it imports; 0 if that is none
}

// folders reads the packages of this module as go list sees them.
func folders(t *testing.T) map[string]*folder {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Name,Imports", module+"...")
	// one drawing for all builds
	list.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*folder{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Name string
			Imports               []string
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(p.ImportPath, module)
		f := &folder{path: drawn(path), layer: -1}
		for _, i := range p.Imports {
			if own, ok := strings.CutPrefix(i, module); ok {
				f.imports = append(f.imports, drawn(own))
			}
		}
		if f.purpose, err = purpose(p.Dir, p.Name, filepath.Base(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if f.path == anyLearner {
			f.purpose, f.imports = "is a learner of the list that `uma-gpu learners` prints",
				allowed("learners")
		}
		slices.Sort(f.imports)
		f.imports = slices.Compact(f.imports)
		all[f.path] = f
	}
	for _, f := range all {
		place(f, all)
	}
	return all
}

// anyLearner stands in the drawing for the package of each learner, so that a new one changes
// its folder and the catalog, and no page.
const anyLearner = "learners/NAME"

// drawn returns the name in the drawing of a package.
func drawn(path string) string {
	name, ok := strings.CutPrefix(path, "learners/")
	if !ok || name == "catalog" {
		return path
	}
	return anyLearner
}

// allowed returns what the rule of a prefix allows.
func allowed(prefix string) []string {
	for _, r := range rules {
		if r.prefix == prefix {
			return slices.Clone(r.allowed)
		}
	}
	return nil
}

// place finds the layer of f.
func place(f *folder, all map[string]*folder) int {
	if f.layer < 0 {
		f.layer = 0
		for _, i := range f.imports {
			f.layer = max(f.layer, place(all[i], all)+1)
		}
	}
	return f.layer
}

// purpose returns the first sentence of the documentation of a package, without its name.
func purpose(dir, name, base string) (string, error) {
	text, err := packageDoc(dir)
	if err != nil {
		return "", err
	}
	sentence := new(doc.Package).Synopsis(text)
	kind := "Package " + name
	if name == "main" {
		kind = "Command " + base
	}
	rest, ok := strings.CutPrefix(sentence, kind+" ")
	if !ok || !strings.HasSuffix(rest, ".") && !strings.HasSuffix(rest, ":") {
		return "", fmt.Errorf("found the documentation %q, wanted a sentence that begins with %s",
			sentence, kind)
	}
	return strings.TrimRight(rest, ".:"), nil
}

// packageDoc returns the comment before the package clause of the file that has one.
func packageDoc(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if f.Doc != nil {
			return f.Doc.Text(), nil
		}
	}
	return "", errors.New("found no documentation, wanted a sentence that says which code belongs " +
		"here")
}

// drawing returns the text of docs/layout.md.
func drawing(all map[string]*folder) string {
	layers := [][]string{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		f := all[path]
		for len(layers) <= f.layer {
			layers = append(layers, nil)
		}
		layers[f.layer] = append(layers[f.layer], path)
	}
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("```\n")
	for k := len(layers) - 1; k >= 0; k-- {
		line := fmt.Sprintf("%2d ", k)
		for _, path := range layers[k] {
			if len(line)+len(path) > 96 {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = "   "
			}
			line += " " + path + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("```\n\n")
	b.WriteString(between)
	for k := len(layers) - 1; k >= 0; k-- {
		for _, path := range layers[k] {
			f := all[path]
			imports := "nothing"
			if len(f.imports) > 0 {
				imports = strings.Join(f.imports, ", ")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", path, f.purpose, imports)
		}
	}
	return b.String()
}

const head = `# Which package does a line of code belong to?

A package imports only packages of lower layers. Its layer is one more than the highest layer that
it imports. [internal/layout](../internal/layout/layout_test.go) lists what each package may import,
and why. Its test draws this page with ` + "`-update`" + `, and fails when the page is out of date.

`

const between = `The first sentence of each package's documentation, and what the package imports:

| package | it | imports |
|---|---|---|
`

// TestDrawing: docs/layout.md shows the imports as they are, and each package says in a
// sentence what it is for.
func TestDrawing(t *testing.T) {
	all := folders(t)
	if len(all) < 30 {
		t.Fatalf("go list knows only %d packages", len(all))
	}
	const path = "../../docs/layout.md"
	want := drawing(all)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/layout.md is not what the packages import and say (%v); "+
			"run go test ./internal/layout -run Drawing -update, and look at what changes", err)
	}
}
