package umagpu

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Kind is a kind of Fault.
type Kind string

// The kinds.
const (
	Invalid  Kind = "invalid"  // a value outside its range, or of another shape than others ask for
	Conflict Kind = "conflict" // options that exclude each other, or one that needs another
	Unfit    Kind = "unfit"    // data, labels or a model that a call cannot use
	Memory   Kind = "memory"   // too little of it, here or on the device
	Device   Kind = "device"   // no such device, or one that failed
	Ended    Kind = "ended"    // the context ended
)

// Fault is the error of every function of this package. Interfaces phrase it in their own terms:
// Option names a field of the request by its JSON name (max_steps), which Error spells as Go does
// (MaxSteps), the command as a flag (--max-steps) and Python as a keyword.
type Fault struct {
	Kind   Kind   `json:"kind"`
	Option string `json:"option,omitempty"` // "" where no single field is at fault
	Where  string `json:"where,omitempty"`  // such as class "a"
	Row    *int   `json:"row,omitempty"`    // of the data, from 0
	Got    string `json:"got,omitempty"`
	Want   string `json:"want,omitempty"`
	Advice string `json:"advice,omitempty"`
	Cause  error  `json:"-"` // says all, in place of Got, Want and Advice
}

// Error returns the fault in the terms of Go.
func (f *Fault) Error() string { return f.Phrase(SpellGo, 0) }

// Unwrap returns the cause, which may be nil.
func (f *Fault) Unwrap() error { return f.Cause }

// Phrase returns the fault as an interface shows it: spell spells options, and rows are counted
// from first.
func (f *Fault) Phrase(spell Spelling, first int) string {
	var where []string
	if f.Option != "" {
		where = append(where, spell(f.Option, ""))
	}
	if f.Row != nil {
		where = append(where, fmt.Sprintf("row %d", *f.Row+first))
	}
	if f.Where != "" {
		where = append(where, f.Where)
	}
	text := ""
	if f.Cause != nil {
		text = f.Cause.Error()
	} else {
		text = "got " + f.Got
		if f.Want != "" {
			text += ", want " + f.Want
		}
		if f.Advice != "" {
			text += "; " + f.Advice
		}
	}
	return Phrase(strings.Join(append(where, text), ": "), spell)
}

// Spelling spells an option, given by its JSON name, and a value of it; "" for none.
type Spelling func(option, value string) string

// SpellGo spells options as fields: MaxSteps = 8.
func SpellGo(option, value string) string {
	name := ""
	if option == "confusion_axes" {
		option = "confusion.Axes"
	}
	for word := range strings.SplitSeq(option, "_") {
		name += strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
	}
	if value != "" {
		name += fmt.Sprintf(" = %q", value)
	}
	return name
}

// SpellFlag spells options as the command line does: --max-steps=8.
func SpellFlag(option, value string) string {
	if value != "" {
		return quote.Option(strings.ReplaceAll(option, "_", "-"), value)
	}
	return quote.Option(strings.ReplaceAll(option, "_", "-"))
}

// SpellPython spells options as keywords: max_steps=8, text="title".
func SpellPython(option, value string) string {
	if value == "" {
		return option
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return option + "=" + value
	}
	return fmt.Sprintf("%s=%q", option, value)
}

// Phrase returns a text of the packages below, such as a Note, with its options spelt anew.
func Phrase(text string, spell Spelling) string {
	return quote.Options(text, func(flag, value string) string {
		return spell(strings.ReplaceAll(flag, "-", "_"), value)
	})
}

// fault returns err, which came from the packages below, as a Fault; nil if it is nil.
func fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if known := (*Fault)(nil); errors.As(err, &known) {
		return err
	}
	if beyond, is := errors.AsType[*features.UnfiniteError](err); is {
		return &Fault{Kind: Invalid, Option: "data", Row: &beyond.Row,
			Where:  fmt.Sprintf("column %d of the features, from 0", beyond.Column),
			Got:    fmt.Sprintf("a value that %s makes %v", beyond.Steps, beyond.Value),
			Want:   "one within the range of float32",
			Advice: "rescale the column, or prepare by other steps"}
	}
	kind, option := Unfit, ""
	switch {
	case errors.As(err, new(*confusion.InseparableError)):
		option = "confusion"
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		kind = Ended
	case errors.Is(err, memory.ErrBudget), errors.Is(err, engine.ErrMemory):
		kind = Memory
	}
	return &Fault{Kind: kind, Option: option, Cause: err}
}

// invalid returns the fault of an option's value.
func invalid(option, got, want string) *Fault {
	return &Fault{Kind: Invalid, Option: option, Got: got, Want: want}
}

// conflict returns the fault of options that do not go together.
func conflict(option, got, want string) *Fault {
	return &Fault{Kind: Conflict, Option: option, Got: got, Want: want}
}
