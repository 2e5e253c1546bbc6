package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown is the Markdown that pages are written in: with tables, and with an anchor for each
// heading, as code hosts make them.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// docPage is a text in Markdown.
type docPage struct {
	Path string // from the root of the repository, such as docs/learners.md
	Text []byte
	Tree ast.Node // of Text, by markdown
}

// docCommand is a command line that a page shows.
type docCommand struct {
	Line  int      // of the page, from 1
	Text  string   // as a shell takes it, lines that go on joined
	Shown []string // the output that the page shows below, for docMatches; nil if none
}

// docSpan is code within a sentence.
type docSpan struct {
	Line int // of the page, from 1
	Text string
}

// docPages returns the pages of a repository for readers.
func docPages(root string) (all []docPage, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md")) // sorted
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "RATIONALE.md",
		"testdata/README.md"} {
		paths = append(paths, filepath.Join(root, filepath.FromSlash(name)))
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		all = append(all, newDocPage(filepath.ToSlash(name), source))
	}
	return all, nil
}

// newDocPage reads a page.
func newDocPage(path string, source []byte) docPage {
	return docPage{path, source, markdown.Parser().Parse(text.NewReader(source))}
}

// Commands returns the commands of a page in their order: each line of an indented block, of a
// block fenced as sh, and each line behind a "$ " of one fenced as console, whose other lines are
// what the command before them prints. Blocks fenced otherwise show no commands.
func (p docPage) Commands() (all []docCommand, err error) {
	err = ast.Walk(p.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Kind() != ast.KindCodeBlock && n.Kind() != ast.KindFencedCodeBlock {
			return ast.WalkContinue, nil
		}
		prompt := ""
		if fenced, ok := n.(*ast.FencedCodeBlock); ok {
			switch string(fenced.Language(p.Text)) {
			case "console":
				prompt = "$ "
			case "sh":
			default:
				return ast.WalkContinue, nil
			}
		}
		found, err := p.commands(n, prompt)
		all = append(all, found...)
		return ast.WalkContinue, err
	})
	return all, err
}

// commands reads a block of commands, each behind the prompt.
func (p docPage) commands(block ast.Node, prompt string) (all []docCommand, err error) {
	goesOn := false
	lines := block.Lines()
	for k := range lines.Len() {
		segment := lines.At(k)
		line := strings.TrimRight(string(segment.Value(p.Text)), " \n")
		command, isCommand := strings.CutPrefix(line, prompt)
		switch {
		case goesOn:
			all[len(all)-1].Text += " " + strings.TrimSpace(strings.TrimPrefix(line, "> "))
		case line == "" && prompt == "":
		case isCommand:
			all = append(all, docCommand{Line: p.line(segment.Start), Text: command})
		case len(all) == 0:
			return nil, fmt.Errorf("%s:%d: found %q, wanted a command behind %q first", p.Path,
				p.line(segment.Start), line, prompt)
		default:
			all[len(all)-1].Shown = append(all[len(all)-1].Shown, line)
			continue
		}
		if len(all) > 0 {
			last := &all[len(all)-1]
			last.Text, goesOn = strings.CutSuffix(last.Text, `\`)
			last.Text = strings.TrimSpace(last.Text)
		}
	}
	return all, nil
}

// Spans returns the code within the sentences of a page.
func (p docPage) Spans() (all []docSpan) {
	// The walk itself fails nowhere.
	_ = ast.Walk(p.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, ok := n.(*ast.CodeSpan); ok && entering && n.FirstChild() != nil {
			at := n.FirstChild().(*ast.Text).Segment.Start
			all = append(all, docSpan{p.line(at), codeOf(n, p.Text)})
		}
		return ast.WalkContinue, nil
	})
	return all
}

// codeOf returns the text of a code span.
func codeOf(span ast.Node, source []byte) string {
	var b strings.Builder
	for c := span.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// line returns the line of an offset in the page, from 1.
func (p docPage) line(offset int) int { return 1 + bytes.Count(p.Text[:offset], []byte("\n")) }

// docWord is a redirection, a word in quotes, a comment, what joins two calls, or a word.
var docWord = regexp.MustCompile(`[0-9]?[<>]+(?:&[0-9])?|'[^']*'|"[^"]*"|\s#.*|[|;&]+|[^\s|;&<>'"]+`)

// docCalls cuts a command line into the programs that it calls, each with its arguments: words
// without their quotes, the files of < and > left out. It knows no more of shells than pages need.
func docCalls(line string) (all [][]string) {
	all = append(all, nil)
	redirected := false
	for _, w := range docWord.FindAllString(line, -1) {
		last := &all[len(all)-1]
		switch {
		case strings.ContainsAny(w, "<>") && !strings.ContainsAny(w[:1], `'"`):
			redirected = !strings.Contains(w, "&")
		case strings.HasPrefix(strings.TrimSpace(w), "#"):
		case strings.ContainsAny(w[:1], "|;&"):
			all = append(all, nil)
		case redirected:
			redirected = false
		default:
			*last = append(*last, strings.Trim(w, `'"`))
		}
	}
	return slices.DeleteFunc(all, func(call []string) bool { return call == nil })
}

// docMatches reports whether an output is what a page shows. An ellipsis stands for any text
// in a line, and a line of nothing else for any lines.
func docMatches(shown []string, output string) bool {
	var b strings.Builder
	b.WriteString(`^`)
	for _, line := range shown {
		if line == "…" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + ` *\n`)
	}
	b.WriteString(`$`)
	return regexp.MustCompile(b.String()).MatchString(output)
}
