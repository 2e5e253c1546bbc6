package file

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// BadExamples is the error of a file with several bad examples, which Read gives
// if Options.MaxErrors lets it look beyond the first. Errs are in the order of
// the file; errors.Is and errors.As look at each.
type BadExamples struct {
	Errs []error
	// Stopped says that reading ended at the last of Errs, so that there may be
	// more; else the file was read to its end.
	Stopped bool
}

// Error lists every error on a line of its own.
func (e *BadExamples) Error() string {
	var b strings.Builder
	for _, err := range e.Errs {
		b.WriteString(err.Error())
		b.WriteByte('\n')
	}
	if e.Stopped {
		fmt.Fprintf(&b, "found %d bad examples and stopped; there may be more", len(e.Errs))
	} else {
		fmt.Fprintf(&b, "found %d bad examples in all", len(e.Errs))
	}
	return b.String()
}

// Unwrap returns the single errors.
func (e *BadExamples) Unwrap() []error { return e.Errs }

// faults decides what becomes of bad examples: end at the first, list some, or
// pass over them.
type faults struct {
	most    int  // errors to list before reading ends, at least 1
	skip    bool // pass over bad examples
	errs    []error
	skipped dataset.Skipped
}

// defaultListed is how many errors Skipped keeps unless MaxErrors says more.
const defaultListed = 10

func newFaults(o Options) faults { return faults{most: max(1, o.MaxErrors), skip: o.SkipBad} }

// listed is how many errors of skipped examples are kept.
func (f *faults) listed() int { return max(f.most, defaultListed) }

// reject takes the error of one bad example and its place. It returns nil if
// reading goes on, else the error that ends it.
func (f *faults) reject(err error, place int) error {
	if f.skip {
		f.skipped.At = append(f.skipped.At, place)
		if len(f.skipped.First) < f.listed() {
			f.skipped.First = append(f.skipped.First, err)
		}
		return nil
	}
	f.errs = append(f.errs, err)
	if len(f.errs) < f.most {
		return nil
	}
	if f.most == 1 {
		return err
	}
	return &BadExamples{Errs: f.errs, Stopped: true}
}

// end returns the error of a file that was read to its end.
func (f *faults) end() error {
	switch len(f.errs) {
	case 0:
		return nil
	case 1:
		return f.errs[0]
	}
	return &BadExamples{Errs: f.errs}
}

// fatal returns the error of a file that cannot be read further because of err,
// together with what was wrong before.
func (f *faults) fatal(err error) error {
	if len(f.errs) == 0 {
		return err
	}
	return &BadExamples{Errs: append(f.errs, err), Stopped: true}
}

// missingFile is the error of a data file that does not exist. The system's words
// for it would only repeat ours.
type missingFile struct {
	path  string
	cause error
}

func (e *missingFile) Error() string { return e.path + ": no such data file; check the path" }
func (e *missingFile) Unwrap() error { return e.cause }
