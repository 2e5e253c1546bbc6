// Package progress reports the progress of long work: tasks, nested through a context, count what
// is done and notify a listener. It knows neither clock nor terminal, and costs almost nothing
// without a listener.
package progress

import (
	"context"
	"sync/atomic"
)

// Event is what happened to a task.
type Event int

// The events of a task.
const (
	Began Event = iota
	Moved       // its count or its stage changed
	Ended
)

// Work describes a task.
type Work struct {
	Name  string // reading, for instance
	Unit  string // what is counted, in the singular: step; Bytes are printed as KiB, MiB, …
	Total int64  // number of units; 0 if it is unknown, or nothing is counted
	From  int64  // units that are done when it begins, for resumed work
}

// Bytes is the Work.Unit of files.
const Bytes = "byte"

// Task is work in progress. The methods of a nil Task do nothing. All methods may be called by
// several goroutines.
type Task struct {
	Work
	Parent *Task // the task that contains it; nil for none

	hear  func(*Task, Event)
	done  atomic.Int64
	stage atomic.Value // string
	ended atomic.Bool
}

type listenerKey struct{}
type taskKey struct{}

// With returns a context whose tasks call hear with their events, from the goroutines that do the
// work, possibly at the same time.
func With(ctx context.Context, hear func(*Task, Event)) context.Context {
	return context.WithValue(ctx, listenerKey{}, hear)
}

// Begin begins a task inside the task of ctx. The returned context is for its own subtasks. Without
// a listener it returns ctx and nil. The caller ends the task.
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

// Add counts n more units.
func (t *Task) Add(n int64) {
	if t != nil && n != 0 {
		t.done.Add(n)
		t.hear(t, Moved)
	}
}

// Reach sets the number of units that are done.
func (t *Task) Reach(n int64) {
	if t != nil {
		t.done.Store(n)
		t.hear(t, Moved)
	}
}

// Enter sets the stage of the task, which the next event shows; "" for none.
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

// Done returns the number of units that are done.
func (t *Task) Done() int64 { return t.done.Load() }

// Stage returns the stage that Enter set last.
func (t *Task) Stage() string {
	stage, _ := t.stage.Load().(string)
	return stage
}
