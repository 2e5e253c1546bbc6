package umagpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Compute says where a call computes and who listens. The zero value is the processor, and nobody.
type Compute struct {
	// Engine is such as gpu.Open or shard.New return, which the caller closes; nil for the processor.
	// A device is best wrapped by audit.Driver, which finds wrong results, as the command line does.
	Engine *engine.Engine
	// Open returns the engine when its work is known, in place of Engine; the call closes it.
	Open func(host.Work) (*engine.Engine, error)
	// Note receives remarks as they arise, options spelt as flags (see Phrase); nil for none. Results
	// have them too.
	Note  func(Note)
	Phase func(host.Phase)  // is told the phases of a training; nil for none
	Step  func(host.Report) // is told each step of a training; nil for none
}

// Note is a remark for people. Text spells options as flags; Phrase spells them anew.
type Note struct {
	Warning bool   `json:"warning,omitempty"` // likely a mistake
	Code    string `json:"code,omitempty"`    // names some warnings for programs; does not change
	Text    string `json:"text"`
}

// notes collects remarks and passes them on.
type notes struct {
	to  func(Note)
	all []Note
}

func (n *notes) say(format string, args ...any) { n.add(Note{Text: fmt.Sprintf(format, args...)}) }

func (n *notes) warn(format string, args ...any) {
	n.add(Note{Warning: true, Text: fmt.Sprintf(format, args...)})
}

// doubt warns of doubts.
func (n *notes) doubt(all []learners.Doubt) {
	for _, d := range all {
		n.add(Note{Warning: true, Code: d.Code, Text: d.String()})
	}
}

// read tells what making a data set has found. Who has read one of a file knows it.
func (n *notes) read(set *dataset.Dataset) {
	if set.Format == "" {
		n.of(set)
	}
}

// of tells the notes and the warnings of a data set.
func (n *notes) of(set *dataset.Dataset) {
	for _, text := range set.Notes {
		n.say("%s", text)
	}
	for _, text := range set.Warnings {
		n.warn("%s", text)
	}
}

// giveAway warns of a column that alone tells the labels.
func (n *notes) giveAway(set *dataset.Dataset) {
	if column, share := features.GiveAway(set); column != "" {
		n.warn("column %s alone tells %.1f %% of the labels, and no other column nearly as many; if "+
			"it is known only after the label, or made of it, leave it out (%s)", quote.Text(column),
			100*share, quote.Option("ignore-columns", column))
	}
}

// add passes on a note, once.
func (n *notes) add(note Note) {
	if slices.Contains(n.all, note) {
		return
	}
	if n.all = append(n.all, note); n.to != nil {
		n.to(note)
	}
}

// open returns the engine for some work, and what ends its use.
func (c *Compute) open(w func() host.Work) (e *engine.Engine, done func() error, err error) {
	done = func() error { return nil }
	switch {
	case c.Open != nil:
		if e, err = c.Open(w()); err == nil {
			done = e.Close
		}
	case c.Engine != nil:
		e = c.Engine
	default:
		e = simd.New()
	}
	return e, done, err
}

// use calls what needs an engine.
func (c *Compute) use(w func() host.Work, do func(*engine.Engine) error) error {
	e, done, err := c.open(w)
	if err != nil {
		return &Fault{Kind: Device, Cause: err}
	}
	return errors.Join(do(e), done())
}
