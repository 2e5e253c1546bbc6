package main

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// anchors returns the anchors of the headings of a page.
func anchors(p docPage) map[string]bool {
	found := map[string]bool{}
	_ = ast.Walk(p.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if id, ok := n.AttributeString("id"); ok && entering {
			found[string(id.([]byte))] = true
		}
		return ast.WalkContinue, nil
	})
	return found
}

// brokenLinks returns the links and pictures of pages that lead to no file below root or to no
// heading. It follows no link to other sites.
func brokenLinks(root string, pages []docPage) (broken []string) {
	headings := map[string]map[string]bool{}
	for _, p := range pages {
		headings[p.Path] = anchors(p)
	}
	for _, p := range pages {
		_ = ast.Walk(p.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			link := ""
			switch n := n.(type) {
			case *ast.Link:
				link = string(n.Destination)
			case *ast.Image:
				link = string(n.Destination)
			}
			u, err := url.Parse(link)
			if !entering || link == "" || err == nil && (u.Scheme != "" || u.Host != "") {
				return ast.WalkContinue, nil
			}
			to := p.Path
			if err == nil && u.Path != "" {
				to = path.Join(path.Dir(p.Path), u.Path)
			}
			_, missing := os.Stat(filepath.Join(root, to))
			if err != nil || missing != nil && headings[to] == nil || u.Fragment != "" &&
				!headings[to][u.Fragment] {
				broken = append(broken, p.Path+" links to "+link)
			}
			return ast.WalkContinue, nil
		})
	}
	return broken
}

// TestLinks follows each link of the documentation.
func TestDocsLinks(t *testing.T) {
	pages, err := docPages(root)
	if err != nil {
		t.Fatal(err)
	}
	if broken := brokenLinks(root, pages); broken != nil {
		t.Errorf("broken links:\n%s", strings.Join(broken, "\n"))
	}
	bad := newDocPage("docs/x.md",
		[]byte("# A b\n\n[a](#a-b) [b](#c) [c](../README.md) [d](no.md) ![e](no.png)"+
			" [f](https://e.org) [g](weights.md#no)\n"))
	want := []string{"docs/x.md links to #c", "docs/x.md links to no.md", "docs/x.md links to no.png",
		"docs/x.md links to weights.md#no"}
	if broken := brokenLinks(root, append(pages, bad)); !reflect.DeepEqual(broken, want) {
		t.Errorf("found %q, want %q", broken, want)
	}
}

// TestSiteHasEveryPage: the home page of the site lists each page of docs/ once, its links lead
// somewhere, its commands are ones that there are, and code is wrapped instead of cut.
func TestSiteHasEveryPage(t *testing.T) {
	site := filepath.Join(root, "packaging", "site")
	source, err := os.ReadFile(filepath.Join(site, "index.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if n := strings.Count(string(source), "\n"+name+"\n"); n != 1 {
			t.Errorf("the home page lists %s %d times, wanted once", name, n)
		}
	}
	home := newDocPage("docs/index.md", source)
	if broken := brokenLinks(root, []docPage{home}); broken != nil {
		t.Errorf("broken links: %q", broken)
	}
	commands, err := home.Commands()
	if err != nil || len(commands) < 3 {
		t.Fatalf("%d commands, %v", len(commands), err)
	}
	for _, c := range commands {
		for _, call := range docCalls(c.Text) {
			if problem := judgeCall(t, call); problem != "" {
				t.Errorf("%s: %s", c.Text, problem)
			}
		}
	}
	style, err := os.ReadFile(filepath.Join(site, "site.css"))
	if err != nil || !strings.Contains(string(style), "white-space: pre-wrap") {
		t.Errorf("the style cuts code: %v", err)
	}
}

const docExample = "# A\n\nSay `uma-gpu\ntrain`, and:\n\n    make a\n    make b \\\n      c\n\ntext\n\n" +
	"```console\n$ one --x \\\n> y\n1\n\n2\n$ two\n```\n\n```\n11 drawn\n```\n\n```sh\nthree\n```\n"

// What pages show as commands is found with its line and its output, and nothing else is.
func TestDocsCommands(t *testing.T) {
	p := newDocPage("a.md", []byte(docExample))
	got, err := p.Commands()
	if err != nil {
		t.Fatal(err)
	}
	want := []docCommand{
		{6, "make a", nil}, {7, "make b c", nil}, {13, "one --x y", []string{"1", "", "2"}}, {18, "two",
			nil},
		{26, "three", nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found  %v\nwanted %v", got, want)
	}
	if spans := p.Spans(); !reflect.DeepEqual(spans, []docSpan{{3, "uma-gpu train"}}) {
		t.Errorf("spans %v", spans)
	}
	_, err = newDocPage("b.md", []byte("```console\n1\n```\n")).Commands()
	if err == nil || !strings.Contains(err.Error(), `b.md:2: found "1"`) {
		t.Errorf("an output without a command: %v", err)
	}
}

func TestDocsCalls(t *testing.T) {
	got := docCalls(`zcat a*.gz 2>&1 | uma-gpu train --try "a {b|c}" --x 'y > z' >out.txt # as said`)
	want := [][]string{{"zcat", "a*.gz"}, {"uma-gpu", "train", "--try", "a {b|c}", "--x", "y > z"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found  %q\nwanted %q", got, want)
	}
}

func TestDocsMatches(t *testing.T) {
	output := "steps  34\nseconds 0.3\na\nb\nend\n"
	for shown, want := range map[string]bool{
		"steps  34|seconds …|…|end": true, "…": true, "…|end": true, "steps  34": false,
		"steps  35|…": false,
		"…|a|end":     false, "steps  34|…|end|…": true,
	} {
		if got := docMatches(strings.Split(shown, "|"), output); got != want {
			t.Errorf("%s: %v", shown, got)
		}
	}
}
