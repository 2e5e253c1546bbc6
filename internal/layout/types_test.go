package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxMethods limits the methods of a type, with the methods of structs of its package that it
// embeds: a field of such a type may change in any of them.
const maxMethods = 20

// aboveMaximum are the types that still have more methods, with their numbers. The list only
// shrinks: split a type instead of adding it, and lower its number when it has fewer.
var aboveMaximum = map[string]int{
	"host/dataset.Dataset": 24,
}

// methodSet is a type of one package.
type methodSet struct {
	methods  int
	embedded []string // types of the same package
}

// TestMethods: no type has more than maxMethods methods, but for the listed ones.
func TestMethods(t *testing.T) {
	packages := map[string]map[string]*methodSet{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "build", "bench"}, d.Name()) {
			return filepath.SkipDir // bench is a module of its own
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if packages[dir] == nil {
			packages[dir] = map[string]*methodSet{}
		}
		return collectTypes(path, packages[dir])
	})
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(aboveMaximum)
	for dir, types := range packages {
		for name := range types {
			n, full := countMethods(name, types), dir+"."+name
			most, listed := aboveMaximum[full]
			delete(left, full)
			switch {
			case !listed && n > maxMethods:
				t.Errorf("%s: got %d methods, want at most %d", full, n, maxMethods)
			case listed && n > most:
				t.Errorf("%s: got %d methods, want at most %d as listed", full, n, most)
			case listed && n < most:
				t.Errorf("%s: got %d methods, listed with %d (lower the number, or remove it from %d on)",
					full, n, most, maxMethods)
			}
		}
	}
	for full := range left {
		t.Errorf("%s: listed, but there is no such type (remove it from the list)", full)
	}
}

// collectTypes adds the types and methods of a file.
func collectTypes(path string, types map[string]*methodSet) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	named := func(name string) *methodSet {
		if types[name] == nil {
			types[name] = &methodSet{}
		}
		return types[name]
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				named(baseName(d.Recv.List[0].Type)).methods++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				body, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range body.Fields.List {
					if base := baseName(f.Type); len(f.Names) == 0 && base != "" {
						owner := named(spec.Name.Name)
						owner.embedded = append(owner.embedded, base)
					}
				}
			}
		}
	}
	return nil
}

// baseName returns the name of a type of the same package, without pointer and parameters.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	}
	return ""
}

// countMethods returns the number of methods of a type and of what it embeds.
func countMethods(name string, types map[string]*methodSet) int {
	set := types[name]
	if set == nil {
		return 0
	}
	n := set.methods
	for _, base := range set.embedded {
		n += countMethods(base, types)
	}
	return n
}
