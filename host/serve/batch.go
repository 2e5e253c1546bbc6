package serve

import (
	"context"
	"errors"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// batcher predicts the examples of requests that wait at the same time in one call of the engine,
// which uses all that the device has. It does not wait for more to come: a request that is alone
// is predicted at once.
type batcher struct {
	m        *model.Model
	e        engine.Engine
	maxRows  int
	jobs     chan *job
	last     chan struct{} // closed behind the last request
	ended    chan struct{}
	measured *metrics
}

// job is the examples of one request, prepared.
type job struct {
	ctx    context.Context
	x      dataset.Examples
	scores []float32
	err    error
	done   chan struct{}
}

func newBatcher(m *model.Model, e engine.Engine, maxRows, waiting int, measured *metrics) *batcher {
	b := &batcher{m: m, e: e, maxRows: maxRows, jobs: make(chan *job, waiting),
		last: make(chan struct{}), ended: make(chan struct{}), measured: measured}
	go b.run()
	return b
}

var errEnded = errors.New("the server has ended")

// scores returns the scores of prepared examples. A cancelled ctx ends the waiting with ctx's
// error; errEnded is that of who comes after the end.
func (b *batcher) scores(ctx context.Context, x dataset.Examples) ([]float32, error) {
	j := &job{ctx: ctx, x: x, done: make(chan struct{})}
	select {
	case b.jobs <- j:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-j.done:
		return j.scores, j.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-b.ended:
		return nil, errEnded
	}
}

// end ends it behind the call of the engine that is under way. All that was asked before should
// have been answered.
func (b *batcher) end() {
	close(b.last)
	<-b.ended
}

func (b *batcher) run() {
	defer close(b.ended)
	var next *job // that had no room any more
	for {
		first := next
		if next = nil; first == nil {
			select {
			case first = <-b.jobs:
			case <-b.last:
				return
			}
		}
		together, rows := []*job{first}, first.x.N
	collect:
		for {
			select {
			case j := <-b.jobs:
				if rows+j.x.N > b.maxRows || j.x.Sparse() != first.x.Sparse() {
					next = j
					break collect
				}
				together, rows = append(together, j), rows+j.x.N
			default:
				break collect
			}
		}
		b.answer(together)
	}
}

// answer predicts for jobs of one storage. If that fails, each is tried alone: only what is wrong
// gets the error.
func (b *batcher) answer(jobs []*job) {
	waiting := jobs[:0:0]
	for _, j := range jobs {
		if j.ctx.Err() == nil { // else the client is gone
			waiting = append(waiting, j)
		}
	}
	if len(waiting) == 0 {
		return
	}
	start := time.Now()
	x, err := waiting[0].x, error(nil)
	if len(waiting) > 1 {
		var others []dataset.Examples
		for _, j := range waiting[1:] {
			others = append(others, j.x)
		}
		x, err = x.Join(others...)
	}
	var scores []float32
	if err == nil {
		scores, err = b.m.ScoresPrepared(context.Background(), b.e, x)
	}
	b.measured.batch(x.N, time.Since(start))
	if err != nil && len(waiting) > 1 {
		for _, j := range waiting {
			b.answer([]*job{j})
		}
		return
	}
	for _, j := range waiting {
		if j.err = err; err == nil {
			n := j.x.N * b.m.Q
			j.scores, scores = scores[:n:n], scores[n:]
		}
		close(j.done)
	}
}
