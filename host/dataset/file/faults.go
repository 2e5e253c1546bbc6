package file

import (
	"fmt"
	"strings"
)

// BadExamples is the error of several bad examples, in the order of the file (Options.MaxErrors).
type BadExamples struct {
	Errs []error
	// Stopped says that reading ended at the last of Errs.
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

// faults decides what becomes of bad examples: end, list, or pass over.
type faults struct {
	most    int  // errors to list before reading ends, at least 1
	skip    bool // pass over bad examples
	limited bool // but not more than one in ten
	errs    []error
	// of examples that were passed over: all places, and the first errors
	skippedAt   []int
	skippedErrs []error
}

// defaultListed is how many errors Skipped keeps unless MaxErrors says more.
const defaultListed = 10

func newFaults(o Options) faults {
	return faults{most: max(1, o.MaxErrors), skip: o.SkipBad || o.SkipFew || o.lenient(),
		limited: !o.SkipBad}
}

// passedOver returns the errors of bad examples that were passed over, if they are too many of seen
// ones.
func (f *faults) passedOver(seen int) error {
	switch bad := len(f.skippedAt); {
	case !f.limited || 10*bad <= seen:
		return nil
	case f.most == 1 || bad == 1:
		return f.skippedErrs[0]
	default:
		return &BadExamples{Errs: f.skippedErrs[:min(bad, f.most)], Stopped: bad > f.most}
	}
}

// listed is how many errors of skipped examples are kept.
func (f *faults) listed() int { return max(f.most, defaultListed) }

// reject takes the error of a bad example; it returns the error that ends reading, if any.
func (f *faults) reject(err error, place int) error {
	if f.skip {
		f.skippedAt = append(f.skippedAt, place)
		if len(f.skippedErrs) < f.listed() {
			f.skippedErrs = append(f.skippedErrs, err)
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

// fatal returns err, together with what was wrong before.
func (f *faults) fatal(err error) error {
	if len(f.errs) == 0 {
		return err
	}
	return &BadExamples{Errs: append(f.errs, err), Stopped: true}
}
