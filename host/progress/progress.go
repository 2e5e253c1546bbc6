// Package progress says how far long work is: tasks, nested through a context, which count what is
// done and tell a listener. It knows neither clock nor terminal, and costs next to nothing if
// nobody listens.
package progress

import (
	"context"
	"math"
	"sync/atomic"
)

// Event is what has become of a task.
type Event int

// The events of a task.
const (
	Began Event = iota
	Moved       // its count or its estimated error is another
	Ended
)

// Work is what a task has to do.
type Work struct {
	Name  string // reading, for instance
	Unit  string // of what is counted, in the singular: step; Bytes are told by their multiples
	Total int64  // number of units; 0 if only a limit is known, or nothing is counted
	From  int64  // how many are done as it begins, of work that goes on
}

// Bytes is the Work.Unit of files.
const Bytes = "byte"

// Task is work under way. A nil one, which nobody listens to, has methods that do nothing. All
// methods may be called by several goroutines.
type Task struct {
	Work
	Parent *Task // the task that it is a part of; nil for none

	hear     func(*Task, Event)
	done     atomic.Int64
	estimate atomic.Uint64 // bits of the estimated error; 0 until it is known
	stage    atomic.Value  // string
	ended    atomic.Bool
}

type listenerKey struct{}
type taskKey struct{}

// With returns a context whose tasks hear is called with, by the goroutine that does the work, and
// by several at a time.
func With(ctx context.Context, hear func(*Task, Event)) context.Context {
	return context.WithValue(ctx, listenerKey{}, hear)
}

// Begin begins a task, a part of the one that ctx belongs to. Its own parts are begun with the
// context that is returned; without a listener that is ctx, and the task nil. The caller
// ends it.
func Begin(ctx context.Context, w Work) (context.Context, *Task) {
	hear, ok := ctx.Value(listenerKey{}).(func(*Task, Event))
	if !ok {
		return ctx, nil
	}
	t := &Task{Work: w, hear: hear}
	t.done.Store(w.From)
	t.Parent, _ = ctx.Value(taskKey{}).(*Task)
	hear(t, Began)
	return context.WithValue(ctx, taskKey{}, t), t
}

// Add counts n more units as done.
func (t *Task) Add(n int64) {
	if t != nil && n != 0 {
		t.done.Add(n)
		t.hear(t, Moved)
	}
}

// Reach says that n units are done in all.
func (t *Task) Reach(n int64) {
	if t != nil {
		t.done.Store(n)
		t.hear(t, Moved)
	}
}

// Estimate tells the estimated error of what has been found so far.
func (t *Task) Estimate(e float64) {
	if t != nil {
		t.estimate.Store(math.Float64bits(e) + 1)
	}
}

// Enter tells the stage that the task is in, which the next event shows; "" for none.
func (t *Task) Enter(stage string) {
	if t != nil {
		t.stage.Store(stage)
	}
}

// End ends the task. Further calls do nothing.
func (t *Task) End() {
	if t != nil && !t.ended.Swap(true) {
		t.hear(t, Ended)
	}
}

// Done returns how many units are done.
func (t *Task) Done() int64 { return t.done.Load() }

// Stage returns what Enter told last.
func (t *Task) Stage() string {
	stage, _ := t.stage.Load().(string)
	return stage
}

// EstimatedError returns what Estimate told last, and whether it told anything.
func (t *Task) EstimatedError() (float64, bool) {
	bits := t.estimate.Load()
	return math.Float64frombits(bits - 1), bits != 0
}
