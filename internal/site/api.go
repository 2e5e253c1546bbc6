package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"html/template"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/uma-gpu/uma-gpu/"

// source is a package of this module.
type source struct {
	folder string // from the root: host/model
	*doc.Package
	files *token.FileSet
}

// readPackages reads the packages that programs or other packages import, in the order of their folders.
func readPackages(root string) (all []source, err error) {
	err = filepath.WalkDir(root, func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); folder != root && strings.HasPrefix(name, ".") || name == "testdata" || name == "build" {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(folder, 0)
		if err != nil || p.Name == "main" {
			return nil // no package, or none to import
		}
		name, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		read, err := readPackage(filepath.ToSlash(name), p)
		all = append(all, read)
		return err
	})
	return all, err
}

// readPackage reads a package with its examples.
func readPackage(folder string, p *build.Package) (source, error) {
	s := source{folder: folder, files: token.NewFileSet()}
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(s.files, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return s, err
		}
		files = append(files, f)
	}
	var err error
	s.Package, err = doc.NewFromFiles(s.files, files, module+folder)
	return s, err
}

// packageList is the page that has all packages.
func packageList(all []source) page {
	var b strings.Builder
	b.WriteString("<p>Those below <code>internal</code> are for this module alone.</p>\n<table>\n")
	for _, s := range all {
		fmt.Fprintf(&b, "<tr><td><a href=\"%s.html\"><code>%s</code></a></td><td>%s</td></tr>\n", s.folder, s.folder,
			html.EscapeString(s.Synopsis(s.Doc)))
	}
	b.WriteString("</table>\n")
	return page{path: "api/index.html", title: "Packages", body: template.HTML(b.String())}
}

// api makes the page of a package: what go doc -all prints, with examples.
func (s *site) api(of source) (page, error) {
	made := page{path: "api/" + of.folder + ".html", title: "package " + of.folder}
	w := &apiWriter{source: of, site: s, from: made.path}
	w.headings = of.Printer()
	w.headings.HeadingLevel = 3
	w.headings.DocLinkURL = w.linkOf
	fmt.Fprintf(w, "<pre><code>import &#34;%s&#34;</code></pre>\n", of.ImportPath)
	w.text(of.Doc)
	w.examples(of.Examples)
	w.values("Constants", of.Consts)
	w.values("Variables", of.Vars)
	w.functions(of.Funcs, "")
	for _, t := range of.Types {
		w.part("type "+t.Name, t.Name)
		w.members(t)
		w.declaration(t.Decl)
		w.text(t.Doc)
		w.examples(t.Examples)
		w.values("", t.Consts)
		w.values("", t.Vars)
		w.functions(t.Funcs, "")
		w.functions(t.Methods, t.Name+".")
	}
	made.parts, made.body = w.parts, template.HTML(w.String())
	return made, w.err
}

// apiWriter writes the page of a package.
type apiWriter struct {
	bytes.Buffer
	source
	site     *site
	from     string
	headings *comment.Printer
	parts    []link
	err      error
}

// linkOf leads from [Name] in a comment to where it is explained: within the site if it is of this module.
func (w *apiWriter) linkOf(l *comment.DocLink) string {
	name := l.Name
	if l.Recv != "" {
		name = l.Recv + "." + name
	}
	if l.ImportPath == "" {
		return "#" + name
	}
	folder, own := strings.CutPrefix(l.ImportPath, module)
	if !own || !w.site.packages[folder] {
		return l.DefaultURL("https://pkg.go.dev/")
	}
	to := relative(w.from, path.Join("api", folder)+".html")
	if name != "" {
		to += "#" + name
	}
	return to
}

// part begins what is told of a name.
func (w *apiWriter) part(title, anchor string) {
	fmt.Fprintf(w, "<h2 id=%q>%s<a class=\"mark\" href=\"#%s\">#</a></h2>\n", anchor, html.EscapeString(title), anchor)
	w.parts = append(w.parts, link{Title: title, To: "#" + anchor})
}

func (w *apiWriter) text(comment string) { w.Write(w.headings.HTML(w.Parser().Parse(comment))) }

func (w *apiWriter) declaration(n any) {
	var b bytes.Buffer
	if err := format.Node(&b, w.files, n); err != nil {
		w.err = fmt.Errorf("%s: %w", w.folder, err)
	}
	fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", html.EscapeString(b.String()))
}

// members makes anchors of the fields of a structure and of the methods of an interface, which comments refer to.
func (w *apiWriter) members(t *doc.Type) {
	ast.Inspect(t.Decl, func(n ast.Node) bool {
		var fields *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			fields = n.Fields
		case *ast.InterfaceType:
			fields = n.Methods
		case *ast.TypeSpec, *ast.GenDecl:
			return true
		default:
			return false
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				fmt.Fprintf(w, "<a id=\"%s.%s\"></a>", t.Name, name.Name)
			}
		}
		return false
	})
}

func (w *apiWriter) values(heading string, all []*doc.Value) {
	if heading != "" && len(all) > 0 {
		w.part(heading, strings.ToLower(heading))
	}
	for _, v := range all {
		for _, name := range v.Names {
			fmt.Fprintf(w, "<a id=%q></a>", name)
		}
		w.declaration(v.Decl)
		w.text(v.Doc)
	}
}

func (w *apiWriter) functions(all []*doc.Func, of string) {
	for _, f := range all {
		if of == "" && slices.Contains(w.Funcs, f) {
			w.part("func "+f.Name, f.Name)
		} else {
			fmt.Fprintf(w, "<h3 id=%q>func %s<a class=\"mark\" href=\"#%[1]s\">#</a></h3>\n", of+f.Name, f.Name)
		}
		w.declaration(f.Decl)
		w.text(f.Doc)
		w.examples(f.Examples)
	}
}

func (w *apiWriter) examples(all []*doc.Example) {
	for _, e := range all {
		fmt.Fprintf(w, "<p>Example%s</p>\n", html.EscapeString(strings.TrimSuffix(" "+e.Suffix, " ")))
		w.text(e.Doc)
		w.declaration(e.Code)
	}
}
