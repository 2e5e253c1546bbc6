package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/docs"
)

//go:embed page.css
var style []byte

//go:embed page.html
var layout string

var pageTemplate = template.Must(template.New("page").Parse(layout))

// chapters are the pages for readers by what one wants to do: each of Markdown has to be in one.
var chapters = []struct {
	heading string
	paths   []string
}{
	{"Begin", []string{"README.md", "docs/start.md", "docs/tutorial.md", "docs/data.md", "docs/training.md",
		"docs/devices.md", "docs/library.md"}},
	{"Label noise", []string{"docs/confusion.md", "docs/learned-confusion.md", "docs/judging.md", "docs/probabilities.md",
		"docs/active.md"}},
	{"Learners", []string{"docs/which.md", "docs/learners.md", "docs/online.md", "docs/svm.md", "docs/kernel.md",
		"docs/kernel-mean.md", "docs/bpm.md", "docs/localisation.md", "docs/weights.md", "docs/weights-table.md"}},
	{"Models in use", []string{"docs/export.md", "docs/serve.md", "docs/scale.md", "docs/performance.md"}},
	{"Trust", []string{"docs/promises.md", "SECURITY.md", "docs/papers.md", "testdata/README.md"}},
	{"Inside", []string{"CONTRIBUTING.md", "docs/layout.md", "RATIONALE.md"}},
}

// page is a page of the site.
type page struct {
	path  string // in the site: docs/learners.html
	title string
	body  template.HTML
	parts []link // its sections
}

// link leads to another page, by its path in the site, or within one, by an anchor.
type link struct {
	Title, To string
	Here      bool
}

// site is what is to be written.
type site struct {
	root     string
	pages    []page
	files    []string          // that pages show or link to, copied as they are
	commands map[string]string // the path of the page of each command: of "uma-gpu train"
	packages map[string]bool   // the folders of packages that have a page
}

// collect makes the pages of the repository at root and of the commands, whose Markdown is in a folder.
func collect(root, manual string) (*site, error) {
	s := &site{root: root, commands: map[string]string{}, packages: map[string]bool{}}
	texts, err := docs.Pages(root)
	if err != nil {
		return nil, err
	}
	commands, err := filepath.Glob(filepath.Join(manual, "*.md")) // sorted
	if err != nil {
		return nil, err
	}
	for _, file := range commands {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(file)
		p := docs.NewPage("commands/"+name, source)
		texts = append(texts, p)
		s.commands[titleOf(p)] = htmlOf(p.Path)
	}
	packages, err := readPackages(root)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		s.packages[p.folder] = true
	}
	for _, p := range texts {
		made, err := s.markdown(p)
		if err != nil {
			return nil, err
		}
		s.pages = append(s.pages, made)
	}
	for _, p := range packages {
		made, err := s.api(p)
		if err != nil {
			return nil, err
		}
		s.pages = append(s.pages, made)
	}
	s.pages = append(s.pages, packageList(packages))
	return s, nil
}

// htmlOf is the path in the site of a page in Markdown.
func htmlOf(markdown string) string {
	if markdown == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(markdown, ".md") + ".html"
}

// write writes all pages and files.
func (s *site) write(out string) error {
	contents, err := s.contents()
	if err != nil {
		return err
	}
	if err := put(out, "style.css", func(w io.Writer) error { _, err := w.Write(style); return err }); err != nil {
		return err
	}
	for _, p := range s.pages {
		up := strings.Repeat("../", strings.Count(p.path, "/"))
		type chapter struct {
			Heading string
			Links   []link
		}
		var all []chapter
		for _, c := range contents {
			here := chapter{Heading: c.heading}
			for _, l := range c.links {
				here.Links = append(here.Links, link{l.Title, up + l.To, l.To == p.path})
			}
			all = append(all, here)
		}
		err := put(out, p.path, func(w io.Writer) error {
			return pageTemplate.Execute(w, map[string]any{
				"Title": p.title, "Up": up, "Body": p.body, "Parts": p.parts, "Chapters": all,
			})
		})
		if err != nil {
			return err
		}
	}
	for _, name := range s.files {
		source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if err := put(out, name, func(w io.Writer) error { _, err := w.Write(source); return err }); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file of the site.
func put(out, name string, fill func(io.Writer) error) (err error) {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return fill(f)
}

// chapter is a part of the table of contents, whose links have paths in the site.
type chapter struct {
	heading string
	links   []link
}

// contents is the table of contents, in which all pages for readers have to be.
func (s *site) contents() (all []chapter, err error) {
	titles := map[string]string{}
	for _, p := range s.pages {
		titles[p.path] = p.title
	}
	listed := map[string]bool{}
	for _, c := range chapters {
		made := chapter{heading: c.heading}
		for _, name := range c.paths {
			to := htmlOf(name)
			title, ok := titles[to]
			if !ok {
				return nil, fmt.Errorf("chapter %s has %s, which there is not", c.heading, name)
			}
			listed[to] = true
			made.links = append(made.links, link{Title: title, To: to})
		}
		all = append(all, made)
	}
	commands := chapter{heading: "Commands"}
	for _, p := range s.pages {
		switch path.Dir(p.path) {
		case "commands":
			if strings.Count(p.title, " ") < 2 { // those of groups are on the page of the group
				commands.links = append(commands.links, link{Title: p.title, To: p.path})
			}
		case ".", "docs", "testdata":
			if !listed[p.path] {
				return nil, fmt.Errorf("%s is in no chapter of internal/site", p.path)
			}
		}
	}
	at := slices.IndexFunc(all, func(c chapter) bool { return c.heading == "Inside" })
	all[at].links = append(all[at].links, link{Title: "The numerics contract", To: "api/host/engine/contract.html"},
		link{Title: "Packages", To: "api/index.html"})
	return append(all, commands), nil
}
