// Package worker is the command that runs command lines, and calls functions, for another program.
package worker

import (
	"bytes"
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

// Execute runs a command line, without the program's name.
type Execute func(ctx context.Context, args []string, stdout, stderr io.Writer) error

type Options struct {
	app.Common
	Execute Execute
	Answers io.Writer
}

func New(execute Execute, run func(context.Context, *Options) error) *cli.Command {
	o := &Options{Execute: execute, Answers: os.Stdout}
	return &cli.Command{
		Name:      "worker",
		Hidden:    true,
		Usage:     "run command lines for another program, such as the Python package",
		ArgsUsage: "[FOLDER...]",
		Description: `Reads one JSON object per line from standard input: {"id": 1, "args": ["info", "--data",
"x.csv"]}. It runs the command, in "folder" if given, and answers with a line {"id": 1, "output":
"…", "code": 0}. The code is the exit code of the command, and "error" its message. Lines {"id": 1,
"note": "…"} precede the answer. {"id": 1, "cancel": true} interrupts the running command as Ctrl-C
does.

A "call" in place of "args" names a "function" of package umagpu, such as train, and has its
"request", whose "arrays" lie in the file "memory". The answer has the "result", with arrays alike.

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
	ID     int      `json:"id"`
	Args   []string `json:"args"`
	Folder string   `json:"folder"` // in which the command runs; "" for the folder of the last one
	Cancel bool     `json:"cancel"`
	Call   *call    `json:"call"` // in place of Args
}

// answer ends a request.
type answer struct {
	ID     int    `json:"id"`
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
	Code   int    `json:"code"`

	*reply               // of a call
	Fault  *umagpu.Fault `json:"fault,omitempty"`
}

// note is a line that a command writes on standard error.
type note struct {
	ID      int    `json:"id"`
	Note    string `json:"note"`
	Warning bool   `json:"warning,omitempty"` // of a call
}

// worker runs one command at a time.
type worker struct {
	execute Execute
	answers io.Writer
	folders []string // for files

	lock sync.Mutex // guards answers
}

// Run answers requests until the input ends. Commands cannot read that input.
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
	none, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer none.Close() // nothing is lost
	os.Stdin = none
	stopped := ctx // by a signal
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	w, jobs := &worker{execute: o.Execute, answers: o.Answers, folders: hello.Folders}, make(chan job)
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

// grace is how long a command may continue after the other program has ended.
const grace = 2 * time.Second

// read passes on requests, and cancels commands, until the input ends.
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

// answer runs a command.
func (w *worker) answer(j job) answer {
	defer j.cancel()
	var output bytes.Buffer
	if j.Call != nil {
		return w.called(j)
	}
	var err error
	if j.Folder != "" {
		err = os.Chdir(j.Folder)
	}
	if err == nil {
		err = w.execute(j.ctx, j.Args, &output, notes{w, j.ID})
	}
	a := answer{ID: j.ID, Output: output.String(), Code: app.ExitCode(err)}
	if err != nil {
		a.Error = app.Legible(err.Error())
	}
	return a
}

// called answers a call.
func (w *worker) called(j job) answer {
	a := answer{ID: j.ID}
	said := notes{w, j.ID}
	err := dataset.Guard(func() (err error) {
		a.reply, err = j.Call.run(j.ctx, w.folders, said)
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

// notes passes on what a command writes on standard error.
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
