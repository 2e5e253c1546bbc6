// Package worker is the command that calls functions for another program.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

type Options struct {
	app.Common
	Answers io.Writer
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := &Options{Answers: os.Stdout}
	return &cli.Command{
		Name:      "worker",
		Hidden:    true,
		Usage:     "call functions for another program, such as the Python package",
		ArgsUsage: "[FOLDER...]",
		Description: `Reads one JSON object per line from standard input: {"id": 1, "call": …}. The call names a
"function" of package umagpu, such as train, and has its "request", whose "arrays" lie in the file
"memory". The answer is a line {"id": 1, "code": 0, "result": …} with arrays alike. The code is the
exit code of a command that fails so, and "error" its message. Lines {"id": 1, "note": "…"} precede
the answer. {"id": 1, "cancel": true} interrupts the running call as Ctrl-C does.

The first line written has the version and a new folder in each FOLDER for files of the other
program. The worker ends with its input, and then removes these folders.`,
		Action: app.Action(o, run),
	}
}

// greeting is the first line of a worker.
type greeting struct {
	Version string   `json:"version"`
	Process int      `json:"process"`
	Folders []string `json:"folders"`
}

// request is a line of input.
type request struct {
	ID     int             `json:"id"`
	Cancel bool            `json:"cancel"`
	Call   json.RawMessage `json:"call"`
}

// answer ends a request.
type answer struct {
	ID    int    `json:"id"`
	Error string `json:"error,omitempty"`
	Code  int    `json:"code"`

	*reply
	Fault *umagpu.Fault `json:"fault,omitempty"`
}

// note is what a call remarks.
type note struct {
	ID      int    `json:"id"`
	Note    string `json:"note"`
	Warning bool   `json:"warning,omitempty"`
}

// worker answers one call at a time.
type worker struct {
	answers io.Writer
	folders []string // for files

	lock sync.Mutex // guards answers
}

// Run answers requests until the input ends.
func Run(ctx context.Context, o *Options) (err error) {
	hello := greeting{app.Version, os.Getpid(), []string{}}
	remove := func() (err error) {
		for _, folder := range hello.Folders {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, in := range o.Args {
		folder, none := os.MkdirTemp(in, "uma-gpu-")
		if none != nil { // such as a full /dev/shm
			err = none
			continue
		}
		hello.Folders = append(hello.Folders, folder)
	}
	if len(o.Args) > 0 && len(hello.Folders) == 0 {
		return fmt.Errorf("worker: no folder for files: %w", err)
	}
	stopped := ctx // by a signal
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	w, jobs := &worker{answers: o.Answers, folders: hello.Folders}, make(chan job)
	if err := w.say(hello); err != nil {
		return err
	}
	go func() {
		defer gone()
		w.read(ctx, o.In, jobs)
	}()
	for {
		select {
		case <-ctx.Done():
			return app.Interrupted(stopped)
		case j := <-jobs:
			// A long step does not keep the folders of a program that is gone.
			late := context.AfterFunc(ctx, func() {
				time.Sleep(grace)
				remove() // the process ends here
				os.Exit(app.ExitInterrupted)
			})
			a := w.answer(j)
			if late(); ctx.Err() != nil { // what was learned so far is no answer
				return app.Interrupted(stopped)
			}
			if err := w.say(a); err != nil {
				return err // the other program is gone
			}
		}
	}
}

// grace is how long a call may continue after the other program has ended.
const grace = 2 * time.Second

// read passes on requests, and cancels calls, until the input ends.
func (w *worker) read(ctx context.Context, in io.Reader, jobs chan<- job) {
	var last job // begun or not
	for lines := json.NewDecoder(in); ; {
		var r request
		var text json.RawMessage
		err := lines.Decode(&text)
		if err == nil {
			err = wire.Strict(text, &r)
		}
		if err != nil {
			if err != io.EOF {
				w.say(answer{Error: "worker: request: " + err.Error(), Code: app.ExitUsage})
			}
			return
		}
		if r.Cancel { // the last request: its program waits for the answer
			if last.cancel != nil {
				last.cancel()
			}
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		last = job{r, ctx, cancel}
		select {
		case jobs <- last:
		case <-ctx.Done():
			return
		}
	}
}

// job is a request and the context in which it runs, which a cancel ends.
type job struct {
	request
	ctx    context.Context
	cancel context.CancelFunc
}

// answer answers a call.
func (w *worker) answer(j job) answer {
	defer j.cancel()
	a := answer{ID: j.ID}
	said := notes{w, j.ID}
	err := dataset.Guard(func() (err error) {
		var c call
		if j.Call == nil {
			return app.Usage("worker: found a request without a call")
		}
		if err := wire.Strict(j.Call, &c); err != nil {
			return undecoded(err)
		}
		a.reply, err = c.run(j.ctx, w.folders, said)
		return err
	})
	if err == nil {
		return a
	}
	a.Code, a.Error = app.ExitCode(err), app.Legible(err.Error())
	if errors.As(err, &a.Fault) {
		a.Error = app.Legible(a.Fault.Phrase(umagpu.SpellPython, 0))
	}
	return a
}

func (w *worker) say(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	_, err = w.answers.Write(append(line, '\n'))
	return err
}

// notes passes on what a call remarks.
type notes struct {
	w  *worker
	id int
}

func (n notes) Write(b []byte) (int, error) {
	return len(b), n.w.say(note{ID: n.id, Note: string(b)})
}

// say passes on what a call remarks, in the words of Python.
func (n notes) say(said umagpu.Note) {
	n.w.say(note{n.id, app.Legible(umagpu.Phrase(said.Text, umagpu.SpellPython)), said.Warning})
}
