package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// typeSize is a type with the methods of it and of what it embeds.
type typeSize struct {
	name    string
	methods int
}

// methodCounts are counts of methods over all packages.
type methodCounts struct {
	unexported int
	single     int // unexported methods that one expression refers to
	largest    []typeSize
}

// measure counts methods by type-checking the source of each package of this module. Calls by
// tests do not count, and neither do calls through an interface.
func measure(packages map[string]*pkg) (c methodCounts, err error) {
	for _, p := range own(packages) {
		if err := measurePackage(p, packages, &c); err != nil {
			return c, err
		}
	}
	slices.SortFunc(c.largest, func(a, b typeSize) int {
		return cmp.Or(b.methods-a.methods, strings.Compare(a.name, b.name))
	})
	c.largest = c.largest[:min(len(c.largest), 5)]
	return c, nil
}

// measurePackage adds one package to the counts.
func measurePackage(p *pkg, packages map[string]*pkg, c *methodCounts) error {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range append(slices.Clone(p.GoFiles), p.CgoFiles...) {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if mapped, ok := p.ImportMap[path]; ok {
			path = mapped
		}
		imported, ok := packages[path]
		if !ok {
			return nil, fmt.Errorf("%s imports %s, which go list did not compile", p.ImportPath, path)
		}
		return os.Open(imported.Export)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup), FakeImportC: true}
	checked, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return err
	}
	calls := map[types.Object]int{}
	for _, used := range info.Uses {
		if f, ok := used.(*types.Func); ok {
			calls[f.Origin()]++
		}
	}
	for _, name := range checked.Scope().Names() {
		named, ok := checked.Scope().Lookup(name).(*types.TypeName)
		if !ok || named.IsAlias() {
			continue
		}
		t, ok := named.Type().(*types.Named)
		if !ok {
			continue
		}
		for m := range t.Methods() {
			if !m.Exported() {
				c.unexported++
				if calls[m] == 1 {
					c.single++
				}
			}
		}
		size := typeSize{name: strings.TrimPrefix(p.ImportPath, module+"/") + "." + name}
		set := types.NewMethodSet(types.NewPointer(t))
		if types.IsInterface(t) {
			set = types.NewMethodSet(t)
		}
		for m := range set.Methods() {
			from := m.Obj().Pkg() // nil for the method of error
			if from != nil && strings.HasPrefix(from.Path(), module) {
				size.methods++
			}
		}
		c.largest = append(c.largest, size)
	}
	return nil
}
