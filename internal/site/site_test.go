package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSite makes the site of this repository: each link leads somewhere, and no page needs a script, a style of its
// own or anything from elsewhere.
func TestSite(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "uma-gpu"), filepath.Join(dir, "site")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/uma-gpu").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	n, err := makeSite("../..", program, out)
	if err != nil {
		t.Fatal(err)
	}
	if n < 120 {
		t.Errorf("found %d pages, wanted those of docs/, of commands and of packages", n)
	}
	pages := 0
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		for _, never := range []string{"<script", " style=", "<style", `src="http`, `rel="stylesheet" href="http`} {
			if strings.Contains(string(text), never) {
				t.Errorf("%s has %s", path, never)
			}
		}
		for _, always := range []string{"<h1>", `name="viewport"`, `aria-current="page"`} {
			listed := !strings.Contains(path, "api") && !strings.Contains(path, "commands")
			if listed && !strings.Contains(string(text), always) {
				t.Errorf("%s has no %s", path, always)
			}
		}
		return err
	})
	if err != nil || pages != n {
		t.Errorf("%d pages are there of %d: %v", pages, n, err)
	}
	for page, want := range map[string]string{
		"docs/tutorial.html":              `uma-gpu-confusion-estimate.html">uma-gpu confusion estimate</a>`,
		"index.html":                      `<a href="commands/uma-gpu-learners.html"><code>uma-gpu learners</code></a>`,
		"api/host/model.html":             `<h2 id="Model">type Model`,
		"api/host/engine/contract.html":   `subnormal inputs`,
		"commands/uma-gpu-train.html":     `<code>--confusion FILE</code>`,
		"docs/weights.html":               `<a href="../RATIONALE.html">RATIONALE.md</a>`,
		"docs/kernel.html":                `<img src="../docs/banana.png" alt="Regions of banana">`,
		"api/host/confusion.html":         `Example`,
		"commands/uma-gpu-issues.html":    `labels`,
		"commands/uma-gpu-confusion.html": `<a href="../commands/uma-gpu-confusion-estimate.html">`,
	} {
		text, err := os.ReadFile(filepath.Join(out, page))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s: %v", page, want, err)
		}
	}
}

// Links that lead nowhere are all named.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.html":       `<a id="x" href="docs/a.html#y"></a><a href="https://e.org"></a><a href="docs/a.html#z"></a>`,
		"docs/a.html":      `<h2 id="y">y</h2><a href="../index.html#x"></a><img src="gone.png"><a href="/index.html"></a>`,
		"docs/b.html":      `<a href="#nowhere">f</a> <a href="file:///etc/passwd">g</a> <a href="picture.png">h</a>`,
		"docs/picture.png": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := check(dir)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"index.html links to docs/a.html#z", "docs/a.html links to gone.png",
		"docs/a.html links to /index.html", "docs/b.html links to #nowhere", "docs/b.html links to file:///etc/passwd"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 5 {
		t.Errorf("%d links, wanted 5: %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.html"), []byte(`<a id="p"></a><a id="p"></a>`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(dir); err == nil || !strings.Contains(err.Error(), "has the anchor p twice") {
		t.Errorf("an anchor that is there twice: %v", err)
	}
}
