package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// interfaces are the interfaces of package engine. A struct that embeds one also passes on a method
// that is added later: a struct that verifies would not verify it.
var interfaces = []string{"Engine", "Scorer", "Cells"}

// embedded returns where the structs of a file embed an interface of package engine.
func embedded(name string, src any) (found []token.Position, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := file.Name.Name == "engine"
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			if len(f.Names) > 0 {
				continue
			}
			var named *ast.Ident
			switch t := f.Type.(type) {
			case *ast.SelectorExpr:
				if p, ok := t.X.(*ast.Ident); ok && p.Name == "engine" {
					named = t.Sel
				}
			case *ast.Ident:
				if local {
					named = t
				}
			}
			if named != nil && slices.Contains(interfaces, named.Name) {
				found = append(found, files.Position(f.Pos()))
			}
		}
		return true
	})
	return found, nil
}

func TestWrappersSpellEveryMethod(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		checked++
		found, err := embedded(path, nil)
		for _, at := range found {
			t.Errorf("%s: a struct embeds an interface of package engine; "+
				"spell its methods, so that a new one cannot pass unseen", at)
		}
		return err
	})
	if err != nil || checked < 100 {
		t.Errorf("read %d files: %v", checked, err)
	}
}

func TestWrappersAreFound(t *testing.T) {
	const src = `package p
		import "x/engine"
		type a struct { engine.Engine }
		type b struct { n int; engine.Cells }
		type c struct { e engine.Engine; engine.Weights }
		type d interface { engine.Scorer }
		func f() { type e struct { engine.Scorer } }`
	found, err := embedded("p.go", src)
	if err != nil || len(found) != 3 || found[0].Line != 3 || found[1].Line != 4 ||
		found[2].Line != 7 {
		t.Errorf("found %v, %v", found, err)
	}
}
