package progress_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

func TestTasksAreNestedAndTold(t *testing.T) {
	var lines []string
	hear := func(t *progress.Task, e progress.Event) {
		lines = append(lines, map[progress.Event]string{progress.Began: "begin " + t.Name,
			progress.Moved: fmt.Sprint(t.Name, " ", t.Done()), progress.Ended: "end " + t.Name}[e])
	}
	ctx, folds := progress.Begin(progress.With(t.Context(), hear), progress.Work{Name: "folds",
		Unit: "fold", Total: 2})
	_, learning := progress.Begin(ctx, progress.Work{Name: "learning", Unit: "step"})
	if folds.Parent != nil || learning.Parent != folds {
		t.Error("the tasks are not nested as their contexts are")
	}
	learning.Reach(7)
	learning.Add(2)
	learning.Add(0)
	learning.End()
	learning.End()
	folds.Add(1)
	folds.End()
	want := []string{"begin folds", "begin learning", "learning 7", "learning 9", "end learning",
		"folds 1", "end folds"}
	if !slices.Equal(lines, want) {
		t.Errorf("told %q, want %q", lines, want)
	}
}

func TestNobodyListens(t *testing.T) {
	ctx, task := progress.Begin(t.Context(), progress.Work{Name: "reading"})
	if task != nil || ctx != t.Context() {
		t.Error("a task was begun that nobody hears of")
	}
	if allocated := testing.AllocsPerRun(100, func() {
		_, task := progress.Begin(context.Background(), progress.Work{Name: "reading", Total: 3})
		task.Add(1)
		task.Reach(2)
		task.End()
	}); allocated != 0 {
		t.Errorf("%v allocations, want none", allocated)
	}
}
