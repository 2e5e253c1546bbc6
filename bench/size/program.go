package main

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walk is a program that is compiled inside the checkout, for the table of commands.
const walk = `package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
)

func main() {
	shared := map[string]bool{"device": true, "json": true, "quiet": true, "request": true}
	commands, flags := 0, len(shared) // which count once
	var add func(list []*cli.Command)
	add = func(list []*cli.Command) {
		for _, c := range list {
			if c.Name == "help" {
				continue
			}
			if add(c.Subcommands); len(c.Subcommands) == 0 {
				commands++
				for _, f := range c.Flags {
					if !shared[f.Names()[0]] {
						flags++
					}
				}
			}
		}
	}
	add(program.New(io.Discard, io.Discard).Commands)
	fmt.Println(commands, flags)
}
`

// slots returns the number of commands, hidden ones too, and the sum of their flags, in which flags
// that commands share count once.
func slots(dir string) (commands, flags int, err error) {
	temporary, err := os.MkdirTemp("", "size")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(temporary)
	folder := filepath.Join(dir, "cmd", "uma-gpu", "internal", "sizewalk")
	overlay, err := withFile(temporary, filepath.Join(folder, "main.go"), walk)
	if err != nil {
		return 0, 0, err
	}
	out, err := run(dir, nil, "go", "run", "-overlay", overlay, folder)
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(string(out), &commands, &flags)
	return commands, flags, err
}

// withFile writes an overlay in which a file of the checkout has a text, and returns its path.
func withFile(temporary, path, text string) (overlay string, err error) {
	source := filepath.Join(temporary, "source.go")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {path: source}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(temporary, "overlay.json")
	return overlay, os.WriteFile(overlay, content, 0o666)
}

// trainingPaths returns, for each learner, the sorted files with statements that a training on the
// processor runs, from a CSV file to the model, and that the command version, which builds the
// table of commands too, does not.
func trainingPaths(dir string, learners []string) (paths [][]string, err error) {
	temporary, err := os.MkdirTemp("", "size")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	program := filepath.Join(temporary, "uma-gpu")
	_, err = run(dir, nil, "go", "build", "-cover", "-coverpkg=./...", "-o", program,
		"./cmd/uma-gpu")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(temporary, "digits.csv")
	_, err = run(temporary, []string{"GOCOVERDIR=" + temporary}, program, "convert", "--quiet",
		"--data", filepath.Join(dir, "testdata", "digits.csv.gz"), "--out", data)
	if err != nil {
		return nil, err
	}
	started, err := covered(dir, program, "version")
	if err != nil {
		return nil, err
	}
	for _, learner := range learners {
		trained, err := covered(dir, program, "train", "--quiet", "--data", data, "--learner", learner,
			"--device", "cpu", "--model", filepath.Join(temporary, "m.npz"))
		if err != nil {
			return nil, err
		}
		for name := range started {
			delete(trained, name)
		}
		paths = append(paths, slices.Sorted(maps.Keys(trained)))
	}
	return paths, nil
}

// covered returns the files with a statement that a run of an instrumented program executes.
func covered(dir, program string, args ...string) (map[string]bool, error) {
	counters, err := os.MkdirTemp("", "size")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(counters)
	if _, err := run(dir, []string{"GOCOVERDIR=" + counters}, program, args...); err != nil {
		return nil, err
	}
	profile := filepath.Join(counters, "profile")
	_, err = run(dir, nil, "go", "tool", "covdata", "textfmt", "-i", counters, "-o", profile)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, counts, ok := strings.Cut(line, ":")
		if ok && name != "mode" && !strings.HasSuffix(counts, " 0\n") {
			files[name] = true
		}
	}
	return files, nil
}

// constrains reports whether a type can only be a type constraint.
func constrains(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// front returns the number of packages that the root package links, itself included, and the size
// of a program that keeps all of its exported functions and types.
func front(dir string, packages map[string]*pkg) (behind int, megabytes float64, err error) {
	out, err := run(dir, nil, "go", "list", "-deps", ".")
	if err != nil {
		return 0, 0, err
	}
	behind = strings.Count(string(out), "\n")
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) }
	root, err := importer.ForCompiler(token.NewFileSet(), "gc", lookup).Import(module)
	if err != nil {
		return 0, 0, err
	}
	var kept strings.Builder
	for _, name := range root.Scope().Names() {
		switch o := root.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() && o.Signature().TypeParams() == nil {
				fmt.Fprintf(&kept, "\tumagpu.%s,\n", name)
			}
		case *types.TypeName:
			t, ok := o.Type().(*types.Named)
			if o.Exported() && ok && t.TypeParams() == nil && !constrains(t) {
				fmt.Fprintf(&kept, "\tnew(umagpu.%s),\n", name)
			}
		}
	}
	temporary, err := os.MkdirTemp("", "size")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(temporary)
	folder := filepath.Join(dir, "internal", "sizefront")
	text := "package main\n\nimport (\n\t\"fmt\"\n\n\tumagpu \"" + module + "\"\n)\n\n" +
		"func main() {\n\tfmt.Println([]any{\n" + kept.String() + "\t})\n}\n"
	overlay, err := withFile(temporary, filepath.Join(folder, "main.go"), text)
	if err != nil {
		return 0, 0, err
	}
	program := filepath.Join(temporary, "front")
	if _, err := run(dir, nil, "go", "build", "-overlay", overlay, "-o", program, folder); err != nil {
		return 0, 0, err
	}
	file, err := os.Stat(program)
	if err != nil {
		return 0, 0, err
	}
	return behind, float64(file.Size()) / 1e6, nil
}
