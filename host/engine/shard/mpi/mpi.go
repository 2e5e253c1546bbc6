//go:build mpi && cgo

package mpi

/*
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>

// What Go cannot see are macros: the world, the types, the operations.
static int uma_init(int *provided) {
	int e = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, provided);
	return e != MPI_SUCCESS ? e : MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}
static int uma_serialized(int provided) { return provided >= MPI_THREAD_SERIALIZED; }
static int uma_rank(int *rank, int *ranks) {
	int e = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	return e != MPI_SUCCESS ? e : MPI_Comm_size(MPI_COMM_WORLD, ranks);
}
// The request and what it writes to lie in C's memory, since MPI keeps pointers to them from call
// to call.
typedef struct { MPI_Request request; long long v[2]; } uma_meeting;
static int uma_meet(uma_meeting *m) {
	return MPI_Iallreduce(MPI_IN_PLACE, m->v, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &m->request);
}
// A rank that waits gives its core away, each time that it has looked: the rank that it waits for
// may want it. MPI's own waiting keeps it, in MPICH always.
static int uma_met(uma_meeting *m, long polls, int *done) {
	for (long k = 0; k < polls; k++) {
		int e = MPI_Test(&m->request, done, MPI_STATUS_IGNORE);
		if (e != MPI_SUCCESS || *done) return e;
		sched_yield();
	}
	return MPI_SUCCESS;
}
// Open MPI's sums and broadcasts that one waits for are twice as fast where they are long, and its
// mpirun has them give cores away where it has started more ranks than there are. Others are begun,
// and uma_met says when they have ended.
#ifdef OPEN_MPI
enum { uma_long = 1 << 16 }; // bytes
#else
enum { uma_long = 0x7fffffff };
#endif
static int uma_all(uma_meeting *m, void *v, int n, MPI_Op op) {
	if (n > uma_long/8) return MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_INT64_T, op, MPI_COMM_WORLD);
	return MPI_Iallreduce(MPI_IN_PLACE, v, n, MPI_INT64_T, op, MPI_COMM_WORLD, &m->request);
}
static int uma_sum(uma_meeting *m, void *v, int n) { return uma_all(m, v, n, MPI_SUM); }
static int uma_max(uma_meeting *m, void *v, int n) { return uma_all(m, v, n, MPI_MAX); }
static int uma_broadcast(uma_meeting *m, void *b, int n, int root) {
	if (n > uma_long) return MPI_Bcast(b, n, MPI_BYTE, root, MPI_COMM_WORLD);
	return MPI_Ibcast(b, n, MPI_BYTE, root, MPI_COMM_WORLD, &m->request);
}
// Signs of life are empty messages, which need no memory until they have arrived.
static int uma_sign(int to, int what) {
	MPI_Request request;
	int e = MPI_Isend(NULL, 0, MPI_BYTE, to, what, MPI_COMM_WORLD, &request);
	return e != MPI_SUCCESS ? e : MPI_Request_free(&request);
}
static int uma_hear(int *from, int *what) {
	MPI_Status s;
	int there = 0, e = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &s);
	if (e != MPI_SUCCESS || !there) return 0;
	*from = s.MPI_SOURCE;
	*what = s.MPI_TAG;
	e = MPI_Recv(NULL, 0, MPI_BYTE, *from, *what, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return e == MPI_SUCCESS;
}
static int uma_text(int code, char *text, int *n) { return MPI_Error_string(code, text, n); }
enum { uma_text_size = MPI_MAX_ERROR_STRING };
static void uma_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
*/
import "C"

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// Built says whether this program is linked with MPI.
const Built = true

// World is all ranks of MPI_COMM_WORLD. It implements shard.Reducer.
type World struct {
	rank, ranks int
	calls       int                  // made so far
	deed        atomic.Pointer[deed] // nil if none is under way
	tell        func(format string, args ...any)
	tasks       chan func() // for the thread that has begun MPI, which makes all calls
	meeting     *C.uma_meeting
	naps        atomic.Int64 // of watch
	heard       []int64      // in which nap each rank gave its last sign; nil before and after MPI
}

var _ shard.Reducer = (*World)(nil)

// Join begins MPI, once in the life of a process. Every rank has to call it. tell is told, for
// people, when ranks wait long for another. On success, the last call is Finish, when nothing has
// failed, or Abort.
func Join(tell func(format string, args ...any)) (*World, error) {
	w := &World{tell: tell, tasks: make(chan func())}
	go func() {
		runtime.LockOSThread() // for good: MPI may keep state by thread
		for task := range w.tasks {
			task()
		}
	}()
	go w.watch()
	err := w.do(func() error {
		w.deed.Store(&deed{what: "begin"})
		defer w.deed.Store(nil)
		var provided C.int
		if err := check("begin", C.uma_init(&provided)); err != nil {
			return err
		}
		if C.uma_serialized(provided) == 0 {
			return fmt.Errorf("mpi: found a library that wants all calls from the first thread, wanted " +
				"MPI_THREAD_SERIALIZED or more")
		}
		w.meeting = (*C.uma_meeting)(C.calloc(1, C.size_t(unsafe.Sizeof(C.uma_meeting{}))))
		var rank, ranks C.int
		err := check("find the rank", C.uma_rank(&rank, &ranks))
		w.rank, w.ranks = int(rank), int(ranks)
		w.heard = make([]int64, ranks)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Patience is how long ranks wait for another before a word is said and the others are asked for a
// sign, and again after that. A rank that owes four signs has stopped. It is read by Join.
var Patience = 30 * time.Second

const (
	nap   = 20 // of them make Patience
	owing = 4 * nap
)

// What ranks say to each other beside the calls that all make.
const (
	question = 1 + iota
	answer
)

// deed is a call of MPI under way.
type deed struct {
	call int
	what string
	n    int
}

// watch says when a call of MPI waits long for other ranks, and answers those while there is none.
// It counts its own sleeps: a clock goes on while a process is stopped.
func (w *World) watch() {
	for last, waited := (*deed)(nil), 0; ; waited++ {
		if now := w.deed.Load(); now == nil || now != last {
			last, waited = now, 0
		}
		if waited > 0 && waited%nap == 0 {
			seconds := (Patience / nap * time.Duration(waited)).Seconds()
			w.tell("rank %d has waited %.3g s for the others in call %d, to %s %d: a rank that does not "+
				"say so has stalled", Launched().Rank, seconds, last.call, last.what, last.n)
		}
		if waited >= 5*owing && last.call == 0 { // where no rank can ask another
			w.tell("rank %d ends all: a rank that has not said that it waits does not begin",
				Launched().Rank)
			os.Exit(1)
		}
		select {
		case w.tasks <- w.listen:
		default: // in a call, which listens itself
		}
		time.Sleep(Patience / nap)
		w.naps.Add(1)
	}
}

// listen notes the signs of other ranks, and answers their questions.
func (w *World) listen() {
	var from, what C.int
	for w.heard != nil && C.uma_hear(&from, &what) != 0 {
		w.heard[from] = w.naps.Load()
		if what == question {
			C.uma_sign(from, answer) // a rank that is gone needs none
		}
	}
}

// ask notes the signs of other ranks, and asks for more if again. It returns an error that names
// ranks that have given none, in a call that began in a nap.
func (w *World) ask(began int64, again bool, what string, n int) error {
	w.listen()
	var silent []int
	for rank, heard := range w.heard {
		if rank == w.rank {
			continue
		}
		if w.naps.Load()-max(began, heard) >= owing {
			silent = append(silent, rank)
		}
		if again {
			C.uma_sign(C.int(rank), question) // a rank that is gone gives no answer
		}
	}
	if silent == nil {
		return nil
	}
	return fmt.Errorf("mpi: rank %s of %d has stopped: no sign of it for %.3g s, in call %d, to %s "+
		"%d; see what has become of its process and its machine, and start all again",
		strings.Trim(fmt.Sprint(silent), "[]"), w.ranks, (Patience * owing / nap).Seconds(), w.calls,
		what, n)
}

// do has the thread of MPI call f.
func (w *World) do(f func() error) error {
	done := make(chan error)
	w.tasks <- func() { done <- f() }
	return <-done
}

// check makes an error of a code of MPI.
func check(what string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.uma_text_size]C.char
	var n C.int
	C.uma_text(code, &text[0], &n)
	return fmt.Errorf("mpi: to %s: %s", what, C.GoStringN(&text[0], n))
}

// Rank implements shard.Reducer.
func (w *World) Rank() (rank, ranks int) { return w.rank, w.ranks }

// piece is how many numbers, or bytes, MPI is given at once: it counts by int.
var piece = 1 << 30

// Sum implements shard.Reducer.
func (w *World) Sum(ctx context.Context, v []int64) error {
	return w.call(ctx, "sum", len(v), 0, func(from, to int, p *runtime.Pinner) C.int {
		p.Pin(&v[from])
		return C.uma_sum(w.meeting, unsafe.Pointer(&v[from]), C.int(to-from))
	})
}

// Max implements shard.Reducer.
func (w *World) Max(ctx context.Context, v []int64) error {
	return w.call(ctx, "find the largest", len(v), 0, func(from, to int, p *runtime.Pinner) C.int {
		p.Pin(&v[from])
		return C.uma_max(w.meeting, unsafe.Pointer(&v[from]), C.int(to-from))
	})
}

// Broadcast implements shard.Reducer.
func (w *World) Broadcast(ctx context.Context, b []byte, root int) error {
	return w.call(ctx, "broadcast", len(b), root, func(from, to int, p *runtime.Pinner) C.int {
		p.Pin(&b[from])
		return C.uma_broadcast(w.meeting, unsafe.Pointer(&b[from]), C.int(to-from), C.int(root))
	})
}

// Barrier implements shard.Reducer.
func (w *World) Barrier(ctx context.Context) error { return w.call(ctx, "meet", 0, 0, nil) }

// call waits until all ranks have come to this call, and has f make it of n numbers or bytes, in
// pieces.
func (w *World) call(ctx context.Context, what string, n, root int, f func(from, to int,
	p *runtime.Pinner) C.int) error {
	return w.do(func() error {
		w.calls++
		w.deed.Store(&deed{w.calls, what, n})
		defer w.deed.Store(nil)
		if err := w.meet(ctx, what, n, root); err != nil {
			return err
		}
		for from := 0; from < n; from += piece {
			var pinned runtime.Pinner
			err := check(what, f(from, min(from+piece, n), &pinned))
			if err == nil {
				// MPI has the memory until the call ends, whatever has become of ctx.
				err = w.await(context.Background(), what, n, time.Hour)
			}
			if err != nil {
				return err // memory that MPI may still write to stays pinned: the process ends
			}
			pinned.Unpin()
		}
		return nil
	})
}

// meet returns when all ranks make this call. MPI itself would wait at full speed, and for ever,
// and take calls that differ for one another's.
func (w *World) meet(ctx context.Context, what string, n, root int) error {
	h := fnv.New64a()
	fmt.Fprint(h, w.calls, what, n, root)
	print := C.longlong(h.Sum64() >> 1)
	w.meeting.v[0], w.meeting.v[1] = print, -print
	if err := check("meet", C.uma_meet(w.meeting)); err != nil {
		return err
	}
	// The first millisecond is for ranks that come soon, and then there is time to sleep.
	if err := w.await(ctx, what, n, time.Millisecond); err != nil {
		return err
	}
	if w.meeting.v[0] != print || w.meeting.v[1] != -print {
		return fmt.Errorf("mpi: rank %d comes to call %d to %s %d, another rank to something else: %w, "+
			"wanted the same program, data and options on all", w.rank, w.calls, what, n, shard.ErrDiffers)
	}
	return nil
}

// await returns when what was begun has ended, or a rank has stopped. It looks on without end for
// as long as busy: of a core that another rank needs, that takes the half.
func (w *World) await(ctx context.Context, what string, n int, busy time.Duration) error {
	polls := C.long(100)
	began := w.naps.Load()
	seen, asked, begin := began, began, time.Now()
	for {
		var met C.int
		if err := check("meet", C.uma_met(w.meeting, polls, &met)); err != nil || met != 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if now := w.naps.Load(); now != seen {
			again := now-asked >= nap
			if seen = now; again {
				asked = now
			}
			if err := w.ask(began, again, what, n); err != nil {
				return err
			}
		}
		if time.Since(begin) > busy {
			polls = 8 // a few, for a library that goes one step further with each
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// Abort implements shard.Reducer: it ends all processes, with the exit code 1.
func (w *World) Abort(err error) {
	w.tell("rank %d of %d ends all: %v", w.rank, w.ranks, err)
	w.Exit(1)
}

// Exit ends all ranks, including this process, without a message.
func (*World) Exit(code int) {
	C.uma_abort(C.int(code)) // whatever the thread of MPI waits for
}

// Finish ends MPI, when all ranks have called it.
func (w *World) Finish() error {
	if err := w.Barrier(context.Background()); err != nil { // which names a rank that has stopped
		return err
	}
	return w.do(func() error {
		w.listen()
		w.heard = nil
		return check("finish", C.MPI_Finalize())
	})
}
