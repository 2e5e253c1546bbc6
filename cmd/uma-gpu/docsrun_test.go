package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	runDocs = flag.Bool("docs", false,
		"run the commands of all pages of the documentation, not those of a few alone")
	docsData = flag.String("docs-data", "", "folder of data sets, for the commands that need them")
)

// runAlways are the pages whose commands each test run runs: what a new user tries first.
var runAlways = map[string]bool{"README.md": true, "docs/start.md": true, "docs/tutorial.md": true}

// notRun says why no test runs a command, and which those are.
var notRun = []struct {
	what *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^(sudo )?make |^go build -tags mpi|^mpirun|^env/bin/pip|^python3 -m venv`), "a target of its own: whether it is there is tested"},
	{regexp.MustCompile(`^go (get|env|mod|test)`), "fetches or tests this project, or changes settings"},
	{regexp.MustCompile(`^(sudo )?apt|^for deb|root/usr`), "fetches packages: testdata/make-testdata.sh, whose results have hashes"},
}

// slow are the commands that each test run leaves to make docs.
var slow = regexp.MustCompile(`--gamma search|papers fig1a`)

// written finds the files that a command writes for those after it.
var written = regexp.MustCompile(`(?:--(?:out|model|picture|write-[a-z]+)|>) ?(\S+)`)

// ofData are the commands that are run where -docs-data names a folder of data sets, for which
// pages say DATA.
var ofData = regexp.MustCompile(`\bDATA\b`)

// shorter has what would take long done with less of it.
var shorter = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`--runs \d+`), "--runs 2"},
	{regexp.MustCompile(`(build/papers (fig1b|table1|kernel-mean-uci)) `), "$1 --runs 2 "},
	{regexp.MustCompile(`(build/papers table1)`), "$1 --sets digits"},
	{regexp.MustCompile(`--examples \d+`), "--examples 5000"},
	{regexp.MustCompile(`--(atoms|landmarks) \d+`), "--$1 70"},
	{regexp.MustCompile(`^make run\b`), "sh testdata/demo.sh build/uma-gpu cpu"},
}

// TestDocs has a shell run the commands of pages, in their order, each page's in a folder of its
// own, and compares what they print with what the page shows. make docs has all pages.
func TestDocs(t *testing.T) {
	common, script := filepath.Join(t.TempDir(), "scene"), scene
	if *runDocs {
		script = scenery
	}
	makeScene(t, common, script)
	met, all := map[string]bool{}, 0
	pages := pagesOfDocs(t)
	for _, p := range pages {
		if !*runDocs && !runAlways[p.Path] {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "page")
			if out, err := exec.Command("cp", "-a", common, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			runPage(t, p, newShell(t, dir), met)
			all++
		})
	}
	for _, n := range notRun {
		if all == len(pages) && !met[n.why] {
			t.Errorf("no page has a command like %v any more, left out because: %s", n.what, n.why)
		}
	}
}

// runPage runs the commands of a page, and marks the reasons for commands that it leaves out.
func runPage(t *testing.T, p docPage, s shell, met map[string]bool) {
	commands, err := p.Commands()
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{} // files that commands would have made that are not run
	for _, c := range commands {
		text := s.shortened(c.Text)
		if why := leftOut(text, missing); why != "" {
			met[why] = true
			for _, file := range written.FindAllStringSubmatch(c.Text, -1) {
				_, err := os.Stat(filepath.Join(s.dir, file[1]))
				missing[file[1]] = err != nil
			}
			t.Logf("not run: %s: %s", c.Text, why)
			continue
		}
		begin := time.Now()
		output, err := s.run(t, text)
		if took := time.Since(begin); took > 5*time.Second {
			t.Logf("%.0f s: %s", took.Seconds(), c.Text)
		}
		if err != nil {
			t.Fatalf("%s:%d: %s: %v\n%s", p.Path, c.Line, c.Text, err, output)
		}
		if c.Shown != nil && !docMatches(c.Shown, output) {
			t.Errorf("%s:%d: %s\nprints\n%swhere the page shows\n%s", p.Path, c.Line, c.Text, output,
				strings.Join(c.Shown, "\n"))
		}
	}
	for _, name := range names(t, filepath.Join(s.dir, "docs")) {
		made, kept := read(t, filepath.Join(s.dir, "docs", name)), read(t, filepath.Join(root, "docs",
			name))
		if !bytes.Equal(made, kept) {
			t.Errorf("docs/%s is not the picture that the commands of %s make", name, p.Path)
		}
	}
}

// leftOut returns why a command is not run, "" if it is.
func leftOut(command string, missing map[string]bool) string {
	for _, n := range notRun {
		if n.what.MatchString(command) {
			return n.why
		}
	}
	if slow.MatchString(command) && !*runDocs {
		return "takes long: make docs"
	}
	if ofData.MatchString(command) {
		return "needs data sets: make docs DATA=DIR"
	}
	for _, word := range strings.Fields(command) {
		if missing[word] {
			return word + " was not made"
		}
	}
	return ""
}

// A shell runs commands in a folder as a reader of the documentation would, who has the repository
// there, and the program in PATH.
type shell struct {
	dir string
	env []string

	repository string
}

// newShell gives a folder what a reader has there.
func newShell(t *testing.T, dir string) shell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	links := map[string]string{filepath.Join(bin, "uma-gpu"): self, filepath.Join(dir, "build",
		"uma-gpu"): self}
	for _, name := range []string{"testdata", "bench"} {
		links[filepath.Join(dir, name)] = filepath.Join(repository, name)
	}
	for _, folder := range []string{"build", "docs"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	// Some pages use two OpenCL devices; POCL_DEVICES sets the number that PoCL has.
	env := append(os.Environ(), runVariable+"=1", "POCL_DEVICES=pthread pthread",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return shell{dir, env, repository}
}

// shortened is a command with less of what takes long, and with the names of what a reader has.
func (s shell) shortened(command string) string {
	if *docsData != "" {
		command = ofData.ReplaceAllLiteralString(command, *docsData)
	}
	for _, short := range shorter {
		command = short.what.ReplaceAllString(command, short.with)
	}
	return strings.ReplaceAll(command, "build/papers ",
		"go build -C "+s.repository+`/bench -o "$PWD/build/papers" ./papers && build/papers `)
}

// run runs a command and returns what it prints, on both streams.
func (s shell) run(t *testing.T, command string) (output string, err error) {
	c := exec.CommandContext(t.Context(), "sh", "-ec", command)
	c.Dir, c.Env = s.dir, s.env
	both, err := c.CombinedOutput()
	return string(both), err
}
