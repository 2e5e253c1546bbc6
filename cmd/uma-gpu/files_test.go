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
)

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

// A flag whose usage names a FILE is a FileFlag or FilesFlag, else nothing protects the file.
func TestFileFlagsAreDeclared(t *testing.T) {
	eachCommand(func(words []string, c *cli.Command) {
		for _, f := range c.Flags {
			_, one := f.(app.FileFlag)
			_, many := f.(app.FilesFlag)
			_, request := f.(app.RequestFlag)
			doc, ok := f.(cli.DocGenerationFlag)
			if ok && !one && !many && !request && strings.Contains(doc.GetUsage(), "FILE`") {
				t.Errorf("%s --%s names a FILE, and is %T", strings.Join(words, " "), f.Names()[0], f)
			}
		}
	})
}

// fileFlag says whether the file of a flag, if it is of files, is read or written, and whether there
// may be many.
func fileFlag(f cli.Flag) (use string, many bool) {
	written := false
	switch f := f.(type) {
	case app.FileFlag:
		written = f.Written
	case app.FilesFlag:
		written, many = f.Written, true
	default:
		return "", false
	}
	if written {
		return "written", many
	}
	return "read", many
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
				written, many := fileFlag(a)
				other, _ := fileFlag(b)
				first, second := a.Names()[0], b.Names()[0]
				if other == "" || written != "written" || first == second && !many ||
					second == "resume" && (first == "checkpoint" || first == "model") {
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
							append(slices.Clone(words), "--"+first, p[k], "--"+second, p[1-k])...)
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
