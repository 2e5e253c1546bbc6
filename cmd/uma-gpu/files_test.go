package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
)

// noFiles are the flags with text for a value that is not the name of a file.
var noFiles = strings.Fields(`
	audit classes clean-by confusion-axes counts decimal device dir every format fractions gamma grid header
	id-column ignore-columns inverse kernel label-column landmarks listen
	match-features max-alloc max-body memory-limit method normalize normalize-components sampler separator
	session sets shares show storage strategy synthetic text to trust try
	weights x-name y-name judge pictures categories missing unseen candidates
	unknown-label weight-column`)

// eachCommand calls f for each command that does something, with its words.
func eachCommand(f func(words []string, c *cli.Command)) {
	var walk func(words []string, list []*cli.Command)
	walk = func(words []string, list []*cli.Command) {
		for _, c := range list {
			words := append(slices.Clone(words), c.Name)
			if len(c.Subcommands) == 0 {
				f(words, c)
			}
			walk(words, c.Subcommands)
		}
	}
	walk(nil, program.New(io.Discard, io.Discard).Commands)
}

// A flag that names a file is an inputFlag, an outputFlag or an outputsFlag, else
// nothing protects the file.
func TestFileFlagsAreDeclared(t *testing.T) {
	found, outputs := 0, 0
	learner := app.FlagNames(new(training.Learner).Flags(nil))
	eachCommand(func(words []string, c *cli.Command) {
		for _, f := range c.Flags {
			if f, ok := f.(app.FileFlag); ok {
				found++
				if f.Written() {
					outputs++
				}
				continue
			}
			doc, ok := f.(cli.DocGenerationFlag)
			if !ok || !doc.TakesValue() {
				continue
			}
			number := true // no file is named by a flag that is read as a number
			switch f.(type) {
			case app.CountFlag, *cli.Int64Flag, *cli.UintFlag, *cli.Uint64Flag,
				*cli.Float64Flag,
				*cli.DurationFlag:
			default:
				number = false
			}
			of := slices.Contains(learner, f.Names()[0]) // a learner's parameters are no files
			if !number && !of && !slices.Contains(noFiles, f.Names()[0]) || strings.Contains(doc.GetUsage(), "FILE`") {
				t.Errorf("%s --%s: make it an inputFlag, outputFlag or outputsFlag if it names a file, else list it in noFiles",
					strings.Join(words, " "), f.Names()[0])
			}
		}
	})
	if found < 20 || outputs < 8 {
		t.Errorf("found %d flags that name files, %d of them written: the search is wrong", found, outputs)
	}
}

// Whatever two flags of a command name one file, and however: if one of them writes
// it, nothing happens.
func TestFilesAreProtected(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(path("sub"), 0o777), os.Mkdir(path("sub/deep"), 0o777), os.Symlink(path("sub/deep"), path("link")),
		os.WriteFile(path("old.csv"), []byte("1,2,a\n"), 0o666), os.Symlink("old.csv", path("soft.csv")),
		os.Link(path("old.csv"), path("hard.csv")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	before := names(t, dir)
	pairs := [][2]string{
		{"old.csv", "old.csv"}, {"old.csv", "./old.csv"}, {path("old.csv"), "old.csv"}, {"sub/../old.csv", "old.csv"},
		{"soft.csv", "old.csv"}, {"hard.csv", "old.csv"}, {"soft.csv", "hard.csv"}, {"link/../../old.csv", "old.csv"},
		{"new.csv", "new.csv"}, {"new.csv", "./new.csv"}, {path("new.csv"), "new.csv"}, {"sub/../new.csv", "new.csv"},
		{"link/new.csv", "sub/deep/new.csv"}, {"link/../../new.csv", "new.csv"},
	}
	tried, flags := 0, 0
	eachCommand(func(words []string, c *cli.Command) {
		for _, a := range c.Flags {
			for _, b := range c.Flags {
				a, ok1 := a.(app.FileFlag)
				b, ok2 := b.(app.FileFlag)
				if !ok1 || !ok2 || !a.Written() {
					continue
				}
				if _, many := a.(app.FilesFlag); a.Names()[0] == b.Names()[0] && !many ||
					app.MayReplace(a.Names()[0], b.Names()[0]) {
					continue
				}
				flags++
				for k, p := range pairs {
					if later(k, flags, 4) {
						continue
					}
					for k := range 2 {
						tried++
						fail(t, app.ExitUsage, "same file",
							append(slices.Clone(words), "--"+a.Names()[0], p[k], "--"+b.Names()[0], p[1-k])...)
					}
				}
			}
		}
	})
	if tried < 400 {
		t.Errorf("tried only %d pairs", tried)
	}
	if text := string(read(t, "old.csv")); text != "1,2,a\n" || !slices.Equal(names(t, dir), before) {
		t.Errorf("found %q and the files %q, want %q", text, names(t, dir), before)
	}
}

// Files of their own are not taken for one.
func TestFilesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, err := range []error{
		os.Mkdir("sub", 0o777), os.Mkdir("sub/deep", 0o777), os.Symlink("sub/deep", "link"),
		os.WriteFile("old.csv", []byte("1,2,a\n3,4,b\n"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// By its text link/../new.csv is new.csv.
	succeed(t, "confusion", "inject", "--pairwise", "0.5", "--data", "old.csv",
		"--out", "new.csv", "--write-confusion", "link/../new.csv")
	if got := names(t, "sub"); !slices.Equal(got, []string{"deep", "new.csv"}) {
		t.Errorf("found %q", got)
	}
	succeed(t, "split", "--counts", "1,1", "--data", "old.csv", "--out", "part.csv", "--out", "sub/part.csv")
}
