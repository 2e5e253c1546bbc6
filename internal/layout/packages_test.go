package layout

import (
	"encoding/json"
	"errors"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxDepth limits how many packages of this module lie on one path of imports: eight below the
// front door, the door, one that commands share, a command, the table of commands, and the program.
const maxDepth = 13

// TestPackages: each package says in its first sentence what belongs in it, and imports are not
// deeper than maxDepth.
func TestPackages(t *testing.T) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Name,Imports", module+"...")
	list.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
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
		imports[p.ImportPath] = p.Imports
		if err := checkDoc(p.Dir, p.Name, filepath.Base(p.ImportPath)); err != nil {
			t.Errorf("%s: %v", p.ImportPath, err)
		}
	}
	deepest, depths := "", map[string]int{}
	for pkg := range imports {
		if depth(pkg, imports, depths) > depths[deepest] {
			deepest = pkg
		}
	}
	t.Logf("%d packages, imports %d deep", len(imports), depths[deepest])
	if depths[deepest] > maxDepth {
		t.Errorf("imports are %d deep at %s, want at most %d", depths[deepest], deepest, maxDepth)
	}
}

// depth returns the number of packages of this module on the longest path of imports from pkg.
func depth(pkg string, imports map[string][]string, known map[string]int) int {
	if known[pkg] == 0 {
		deepest := 0
		for _, i := range imports[pkg] {
			if _, own := imports[i]; own {
				deepest = max(deepest, depth(i, imports, known))
			}
		}
		known[pkg] = deepest + 1
	}
	return known[pkg]
}

// checkDoc returns an error unless the package's documentation begins with a sentence about it.
func checkDoc(dir, name, base string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if f.Doc == nil {
			continue
		}
		want := "Package " + name + " "
		if name == "main" {
			want = "Command " + base + " "
		}
		if sentence := new(doc.Package).Synopsis(f.Doc.Text()); !strings.HasPrefix(sentence, want) {
			return errors.New("the documentation begins with " + sentence + "; want " + want + "…")
		}
		return nil
	}
	return errors.New("no package documentation; want a sentence that says which code belongs here")
}
