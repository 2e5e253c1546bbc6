// Command size prints how large a checkout of this project is, as a table in Markdown.
//
//	size [-training=false] [-files] [DIR]
//
// It builds the program of the checkout, for its flags and for the files that a training passes
// through. DIR is the root of the checkout; it is the folder of the caller if left out.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/uma-gpu/uma-gpu"

func main() {
	training := flag.Bool("training", true, "find the training path, by a build with coverage")
	names := flag.Bool("files", false, "print the files of the training path on stderr")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	if err := print(os.Stdout, dir, *training, *names); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// print measures the checkout and writes the table.
func print(w io.Writer, dir string, training, names bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	packages, err := list(dir)
	if err != nil {
		return err
	}
	code, support, tests, err := lines(dir, linked(packages))
	if err != nil {
		return err
	}
	measured, err := measure(packages)
	if err != nil {
		return err
	}
	commands, flags, err := slots(dir)
	if err != nil {
		return err
	}
	words, err := words(dir)
	if err != nil {
		return err
	}
	behind, megabytes, err := front(dir, packages)
	if err != nil {
		return err
	}
	row := func(name string, format string, values ...any) {
		fmt.Fprintf(w, "| %s | %s |\n", name, fmt.Sprintf(format, values...))
	}
	fmt.Fprint(w, "| measure | value |\n|---|--:|\n")
	row("lines of Go without tests and bench", "%d", code)
	row("of them in packages that tests alone import", "%d", support)
	row("lines of tests", "%d", tests)
	row("packages", "%d", len(own(packages)))
	row("import depth (layers, from 1)", "%d", depth(packages))
	row("commands", "%d", commands)
	row("flag slots", "%d", flags)
	row("unexported methods", "%d", measured.unexported)
	row("unexported methods with one caller", "%d", measured.single)
	for _, t := range measured.largest {
		row("methods of "+t.name, "%d", t.methods)
	}
	if training {
		learners := []string{"softmax", "uma"}
		files, err := trainingPaths(dir, learners)
		if err != nil {
			return err
		}
		for k, learner := range learners {
			row("files that run when "+learner+" trains on a CSV file", "%d", len(files[k]))
			if names {
				fmt.Fprintln(os.Stderr, learner+":\n"+strings.Join(files[k], "\n"))
			}
		}
	}
	row("words of docs and README", "%d", words)
	row("packages behind the root package", "%d", behind)
	row("megabytes of a program that keeps the whole root package", "%.1f", megabytes)
	return nil
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Name, Export string
	GoFiles, CgoFiles             []string
	Imports                       []string
	ImportMap                     map[string]string
	Standard                      bool
}

// list returns the packages of a checkout and all that they import, by path, compiled.
func list(dir string) (map[string]*pkg, error) {
	out, err := run(dir, nil, "go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Name,Export,GoFiles,CgoFiles,Imports,ImportMap,Standard", "./...")
	if err != nil {
		return nil, err
	}
	packages := map[string]*pkg{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		packages[p.ImportPath] = p
	}
}

// own returns the packages of the main module.
func own(packages map[string]*pkg) (found []*pkg) {
	for path, p := range packages {
		if path == module || strings.HasPrefix(path, module+"/") {
			found = append(found, p)
		}
	}
	return found
}

// depth returns the number of packages of this module on the longest chain of imports.
func depth(packages map[string]*pkg) (deepest int) {
	known := map[*pkg]int{}
	var below func(p *pkg) int
	below = func(p *pkg) int {
		if d, ok := known[p]; ok {
			return d
		}
		d := 0
		for _, path := range p.Imports {
			if path == module || strings.HasPrefix(path, module+"/") {
				d = max(d, below(packages[path]))
			}
		}
		known[p] = d + 1
		return d + 1
	}
	for _, p := range own(packages) {
		deepest = max(deepest, below(p))
	}
	return deepest
}

// linked returns, for the folder of each package of the main module, whether a program or the root
// package imports it, by whatever way.
func linked(packages map[string]*pkg) map[string]bool {
	folders := map[string]bool{}
	for _, p := range own(packages) {
		folders[p.Dir] = false
	}
	var mark func(path string)
	mark = func(path string) {
		if p := packages[path]; !p.Standard && !folders[p.Dir] {
			folders[p.Dir] = true
			for _, below := range p.Imports {
				if packages[below] != nil {
					mark(below)
				}
			}
		}
	}
	for _, p := range own(packages) {
		if p.Name == "main" || p.ImportPath == module {
			mark(p.ImportPath)
		}
	}
	return folders
}

// lines counts the lines of the tracked Go files, without bench: of code, support being the part in
// folders that are not linked, and of tests.
func lines(dir string, linked map[string]bool) (code, support, tests int, err error) {
	out, err := run(dir, nil, "git", "ls-files", "*.go")
	if err != nil {
		return 0, 0, 0, err
	}
	for _, name := range strings.Fields(string(out)) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		switch n := bytes.Count(text, []byte("\n")); {
		case err != nil:
			return 0, 0, 0, err
		case strings.HasPrefix(name, "bench/"):
		case strings.HasSuffix(name, "_test.go"):
			tests += n
		default:
			code += n
			if used, known := linked[filepath.Dir(path)]; known && !used {
				support += n
			}
		}
	}
	return code, support, tests, nil
}

// words counts the words of README.md and of the pages in docs.
func words(dir string) (n int, err error) {
	pages, err := filepath.Glob(filepath.Join(dir, "docs", "*.md"))
	if err != nil {
		return 0, err
	}
	for _, name := range append(pages, filepath.Join(dir, "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += len(bytes.Fields(text))
	}
	return n, nil
}

// run returns what a program prints.
func run(dir string, env []string, name string, args ...string) ([]byte, error) {
	var problems bytes.Buffer
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, &problems
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problems.Bytes())
	}
	return out, nil
}
