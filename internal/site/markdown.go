package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/uma-gpu/uma-gpu/internal/docs"
)

// markdown makes a page of a text: links lead to pages of the site, commands to their own.
func (s *site) markdown(p docs.Page) (page, error) {
	made := page{path: htmlOf(p.Path), title: titleOf(p)}
	if s.commands[made.title] == made.path { // a command's page needs no link to itself
		defer func(own string) { s.commands[made.title] = own }(made.path)
		delete(s.commands, made.title)
	}
	var commands []*ast.CodeSpan // become links when nobody walks among them any more
	err := ast.Walk(p.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = s.resolve(p, n.Destination)
		case *ast.Image:
			n.Destination, err = s.resolve(p, n.Destination)
		case *ast.CodeSpan:
			if n.Parent().Kind() != ast.KindLink && s.commandOf(docs.CodeOf(n, p.Text)) != "" {
				commands = append(commands, n)
			}
		case *ast.Heading:
			id, ok := n.AttributeString("id")
			if !ok || n.Level == 1 {
				break
			}
			anchor := "#" + string(id.([]byte))
			if n.Level == 2 {
				made.parts = append(made.parts, link{Title: plain(n, p.Text), To: anchor})
			}
			mark := ast.NewLink()
			mark.Destination = []byte(anchor)
			mark.SetAttributeString("class", "mark")
			mark.AppendChild(mark, ast.NewString([]byte("#")))
			n.AppendChild(n, mark)
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return page{}, err
	}
	for _, n := range commands {
		link := ast.NewLink()
		link.Destination = []byte(relative(made.path, s.commandOf(docs.CodeOf(n, p.Text))))
		n.Parent().ReplaceChild(n.Parent(), n, link)
		link.AppendChild(link, n)
	}
	if first := p.Tree.FirstChild(); first != nil && first.Kind() == ast.KindHeading {
		p.Tree.RemoveChild(p.Tree, first) // the title, which the layout has
	}
	var b bytes.Buffer
	err = s.renderer(made.path).Render(&b, p.Text, p.Tree)
	made.body = template.HTML(b.String())
	return made, err
}

// resolve returns where a link of a page leads in the site. Files that are no pages are copied there.
func (s *site) resolve(p docs.Page, to []byte) ([]byte, error) {
	name, anchor, _ := strings.Cut(string(to), "#")
	if name == "" || strings.Contains(name, ":") {
		return to, nil
	}
	name = path.Join(path.Dir(p.Path), name)
	if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name))); err != nil {
		return nil, fmt.Errorf("%s: a link to %s, which there is not", p.Path, name)
	}
	switch path.Ext(name) {
	case ".md":
		name = htmlOf(name)
	case ".go":
		name = "api/" + path.Dir(name) + ".html"
	default:
		if !slices.Contains(s.files, name) {
			s.files = append(s.files, name)
		}
	}
	if anchor != "" {
		name += "#" + anchor
	}
	return []byte(relative(htmlOf(p.Path), name)), nil
}

// relative is the way from a page to a path, both in the site.
func relative(from, to string) string { return strings.Repeat("../", strings.Count(from, "/")) + to }

// commandOf returns the page of the command that a command line calls, "" if it is of another program.
func (s *site) commandOf(line string) string {
	name, _ := s.cutCommand(line)
	return s.commands[name]
}

// cutCommand cuts the name of a command off a command line: uma-gpu, train, and confusion estimate have pages each.
func (s *site) cutCommand(line string) (name, rest string) {
	words := strings.SplitN(line, " ", 4)
	for n := min(3, len(words)); n > 1; n-- {
		if name := strings.Join(words[:n], " "); s.commands[name] != "" {
			return name, line[len(name):]
		}
	}
	return "", line
}

// titleOf is the heading that a page begins with.
func titleOf(p docs.Page) string {
	if first := p.Tree.FirstChild(); first != nil && first.Kind() == ast.KindHeading {
		return plain(first, p.Text)
	}
	return p.Path
}

// plain is the text below a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
		b.WriteString(plain(c, source))
	}
	return b.String()
}

// renderer renders as Markdown does, but for blocks of code, in which commands are links.
func (s *site) renderer(from string) renderer.Renderer {
	return renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(blocks{s, from}, 1),
		util.Prioritized(extension.NewTableHTMLRenderer(
			extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(html.NewRenderer(), 1000)))
}

// blocks renders blocks of code for a page.
type blocks struct {
	site *site
	from string
}

func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, b.render)
	r.Register(ast.KindFencedCodeBlock, b.render)
}

var beforeCommand = regexp.MustCompile(`(^|[ ])uma-gpu `)

func (b blocks) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	w.WriteString("<pre><code>")
	lines := n.Lines()
	for k := range lines.Len() {
		segment := lines.At(k)
		line := string(segment.Value(source))
		if at := beforeCommand.FindStringIndex(line); at != nil {
			begin := at[1] - len("uma-gpu ")
			if name, rest := b.site.cutCommand(strings.TrimSuffix(line[begin:], "\n")); name != "" {
				html.DefaultWriter.RawWrite(w, []byte(line[:begin]))
				fmt.Fprintf(w, `<a href="%s">%s</a>`, relative(b.from, b.site.commands[name]), name)
				line = rest + "\n"
			}
		}
		html.DefaultWriter.RawWrite(w, []byte(line))
	}
	w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}
