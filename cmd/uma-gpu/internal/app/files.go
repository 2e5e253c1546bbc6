package app

import (
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// A flag whose value is the name of a file says by its type what the command does
// with the file. checkFiles then protects it; no command has to.
type (
	InputFlag  struct{ *cli.StringFlag }      // a file to read; - is standard input
	InputsFlag struct{ *cli.StringSliceFlag } // files to read
	// a file to write; - is standard output where it is the default
	OutputFlag  struct{ *cli.StringFlag }
	OutputsFlag struct{ *cli.StringSliceFlag } // files to write
)

// Input returns the flag of a file to read.
func Input(into *string, name, usage string) cli.Flag {
	return InputFlag{&cli.StringFlag{Name: name, Usage: usage, Destination: into}}
}

// Output returns the flag of a file to write.
func Output(into *string, name, usage string) cli.Flag {
	return OutputFlag{&cli.StringFlag{Name: name, Usage: usage, Destination: into}}
}

// FileFlag is one of these types.
type FileFlag interface {
	cli.Flag
	Written() bool
	paths(c *cli.Context) []string
}

func (InputFlag) Written() bool   { return false }
func (InputsFlag) Written() bool  { return false }
func (OutputFlag) Written() bool  { return true }
func (OutputsFlag) Written() bool { return true }

func (f InputsFlag) paths(c *cli.Context) []string  { return c.StringSlice(f.Name) }
func (f OutputsFlag) paths(c *cli.Context) []string { return c.StringSlice(f.Name) }
func (f InputFlag) paths(c *cli.Context) []string {
	files, err := DataFiles(c.String(f.Name))
	if err != nil { // which whoever reads them says
		return nil
	}
	return files
}
func (f OutputFlag) paths(c *cli.Context) []string {
	if f.Value == "-" && c.String(f.Name) == "-" {
		return nil
	}
	return []string{c.String(f.Name)}
}

// checkFiles makes sure, before any work, that each file that the flags of a command
// say to write can be written, and that no other flag names the same file.
func checkFiles(c *cli.Context) error {
	type namedFile struct {
		flag    string
		written bool
		path    string
	}
	var files []namedFile
	for _, f := range c.Command.Flags {
		f, ok := f.(FileFlag)
		if !ok {
			continue
		}
		for _, path := range f.paths(c) {
			if path != "" {
				files = append(files, namedFile{f.Names()[0], f.Written(), path})
			}
		}
	}
	for k, a := range files {
		for _, b := range files[:k] {
			out, other := a, b
			if !out.written {
				out, other = b, a
			}
			if MayReplace(out.flag, other.flag) {
				continue
			}
			if out.written && SamePlace(c.App.Reader, out.path, other.path) {
				return Usage("--%s is the same file as --%s, %s; give another name", out.flag, other.flag,
					other.path)
			}
		}
	}
	for _, f := range files {
		if f.written {
			if err := atomicfile.CheckWritable(f.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// MayReplace reports whether the file of flag out may take the place of the one that other
// names: what a training goes on from is read whole, and no longer wanted afterwards.
func MayReplace(out, other string) bool {
	return other == "resume" && (out == "checkpoint" || out == "model")
}

// SamePlace reports whether a file written at path a would take the place of b,
// whatever links lead there. Neither needs to exist.
func SamePlace(stdin io.Reader, a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := stat(stdin, b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	if errA == nil || errB == nil {
		return false
	}
	// Not by cleaned paths: .. after a link leads elsewhere than its text says.
	folderA, nameA := filepath.Split(a)
	folderB, nameB := filepath.Split(b)
	infoA, errA = os.Stat(folderA + ".")
	infoB, errB = os.Stat(folderB + ".")
	return nameA == nameB && errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// stat is os.Stat, of standard input for -.
func stat(stdin io.Reader, path string) (os.FileInfo, error) {
	if in, ok := stdin.(*os.File); ok && path == "-" {
		return in.Stat()
	}
	return os.Stat(path)
}
