// Package parallel shares out work among the processors: the only place that starts
// goroutines for speed, and asks how many there may be.
//
// Who takes which piece, and how many take part, must not show in any result: each piece
// of work has results of its own, or adds integers, or the caller puts the results of the
// pieces together in an order of its own.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers returns how many workers n items are worth if each is to have grain of them at
// least: from 1 to the number of processors. The answer changes at any time, since Go
// follows the limits of a container while a program runs: an operation asks once.
func Workers(n, grain int) int { return max(1, min(runtime.GOMAXPROCS(0), n/grain)) }

// Tasks calls f for the tasks 0..n-1, in any order, several at a time.
func Tasks(n int, f func(task int)) {
	Share(Workers(n, 1), n, func(_, task int) { f(task) })
}

// Ranges calls f for consecutive ranges that cover 0..n-1, several at a time: one for each
// processor, but of grain items at least.
func Ranges(n, grain int, f func(from, to int)) {
	Cut(n, Workers(n, grain), func(_, from, to int) { f(from, to) })
}

// Cut cuts 0..n-1 into parts consecutive ranges and calls f for each, several at a time.
// part is the range's number in their order, from 0.
func Cut(n, parts int, f func(part, from, to int)) {
	Share(parts, parts, func(_, part int) { f(part, part*n/parts, (part+1)*n/parts) })
}

// Share calls f for the tasks 0..n-1: each worker, counted from 0, takes the next one
// when it has done its last: what belongs to a worker needs no lock. It returns when all are
// done. The caller is worker 0, and with one worker the tasks are done in order.
//
// If f panics, no further task is begun, and Share panics when those under way are done:
// with one worker as f did, else with a *Panic. Where memory cannot be read the workers panic too,
// and the caller if it has said so (debug.SetPanicOnFault).
func Share(workers, n int, f func(worker, task int)) {
	if workers = min(workers, n); workers <= 1 {
		for task := range n {
			f(0, task)
		}
		return
	}
	var (
		next   atomic.Int64
		failed atomic.Pointer[Panic]
		wg     sync.WaitGroup
	)
	work := func(worker int) {
		defer func() {
			if value := recover(); value != nil {
				failed.CompareAndSwap(nil, &Panic{value, debug.Stack()})
				next.Store(int64(n))
			}
		}()
		for task := int(next.Add(1)) - 1; task < n; task = int(next.Add(1)) - 1 {
			f(worker, task)
		}
	}
	for worker := 1; worker < workers; worker++ {
		wg.Go(func() {
			debug.SetPanicOnFault(true) // memory may be a file that somebody shortens
			work(worker)
		})
	}
	work(0)
	wg.Wait()
	if p := failed.Load(); p != nil {
		panic(p)
	}
}

// Panic is what a task panicked with, and where: the stack of its goroutine is gone when
// the caller panics.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nin a task:\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error, such as a runtime.Error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// BlockSums returns f(from, to) of each block of rows of n rows, the last of fewer, in order: sums
// whose bits do not depend on the number of processors.
func BlockSums(n, rows int, f func(from, to int) float64) []float64 {
	const grain = 1024 // rows that it is worth a processor to add
	sums := make([]float64, (n+rows-1)/rows)
	Ranges(len(sums), max(1, grain/rows), func(from, to int) {
		for k := from; k < to; k++ {
			sums[k] = f(k*rows, min((k+1)*rows, n))
		}
	})
	return sums
}
