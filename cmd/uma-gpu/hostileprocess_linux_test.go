//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// surrounded is one process that finds around itself what it should not.
type surrounded struct {
	name   string
	prefix string // shell text in front of the command line, which is "$0" "$@"; see program
	line   string // of whole, whose result it should have
	args   []string
	made   string // the file that it writes, "" if none
	may    fate
	says   []string // the message has one of these, if it fails
	unseen bool     // what it prints is lost, or other than usual
	mute   bool     // and so is its message
	during func(*os.Process)
	after  func() error // cleans up
}

// fate is what may become of a process.
type fate int

const (
	either  fate = iota // it fails, or has the right result
	refused             // it fails
	right               // it has the right result
	stopped             // by a signal: it says so, or has the right result, or had not begun
)

// result is what a command line prints and writes when nothing is wrong.
type result struct {
	stdout string
	file   []byte
}

// wordsOf returns the command line of a line of whole, and the file that it writes, "" if none.
func wordsOf(line string) (words []string, made string) {
	words = strings.Fields(line)
	for k, word := range words {
		if strings.HasPrefix(word, "OUT.") {
			made = "new" + word[3:]
			words[k] = made
		}
	}
	return words, made
}

// resultOf runs a line of whole where nothing is wrong.
func resultOf(t *testing.T, line string) result {
	t.Helper()
	words, made := wordsOf(line)
	stdout, _ := succeed(t, words...)
	r := result{stdout: timeless(stdout)}
	if made != "" {
		r.file = read(t, made)
		if err := os.Remove(made); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// What a process may take: of the processor, and of a clock on a machine that has much else to do.
const (
	mostBusy = 10 * time.Second
	mostTime = time.Minute
)

// judge runs the process in the folder dir: within ten seconds of the processor's time it ends,
// with an exit code of uma-gpu's own, which is not 0 unless the result is as it should be; it says
// why, and leaves nothing.
func (s surrounded) judge(t *testing.T, dir string, want result) {
	t.Helper()
	before := names(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), mostTime)
	defer cancel()
	var stdout, stderr bytes.Buffer
	p := processOf(t, s.prefix, s.args...)
	p.Stdout, p.Stderr = &stdout, &stderr
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.WaitDelay = time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	group := -p.Process.Pid
	// or it has just ended
	hanging := context.AfterFunc(ctx, func() { syscall.Kill(group, syscall.SIGKILL) })
	if s.during != nil {
		s.during(p.Process)
	}
	err := p.Wait()
	hung := !hanging() || p.ProcessState.UserTime()+p.ProcessState.SystemTime() > mostBusy
	syscall.Kill(group, syscall.SIGKILL) // what holds the other end of a pipe; mostly nothing
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	if s.after != nil {
		if err := s.after(); err != nil {
			t.Fatal(err)
		}
	}
	if bad := s.wrong(p.ProcessState, hung, stdout.String(), stderr.String(), want); bad != "" {
		t.Errorf("%s: uma-gpu %.300s: %s\n%.1500s", s.name, strings.Join(s.args, " "), bad,
			stderr.String())
	}
	if s.made != "" {
		s.judgeFile(t, want.file)
	}
	after := names(t, dir)
	for _, name := range after {
		if !slices.Contains(before, name) {
			t.Errorf("%s: uma-gpu %.300s: left %s", s.name, strings.Join(s.args, " "), name)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(after) < len(before) {
		t.Errorf("%s: uma-gpu %.300s: of %q it left %q", s.name, strings.Join(s.args, " "), before, after)
	}
}

// judgeFile looks at what is where the file should be written, which is the whole file or none; a
// training that a signal ended leaves what it had learned, which is a model too.
func (s surrounded) judgeFile(t *testing.T, want []byte) {
	t.Helper()
	raw, err := os.ReadFile(s.made)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, want) && (s.line != "long" || s.args[0] == "train") {
		code, _, stderr := command("inspect", "--model", s.made)
		if s.may != stopped || s.args[0] != "train" || code != app.ExitOK {
			t.Errorf("%s: uma-gpu %.300s: left half a file, or another\n%s", s.name, strings.Join(s.args,
				" "), stderr)
		}
	}
	if err := os.Remove(s.made); err != nil {
		t.Fatal(err)
	}
}

// wrong says what is wrong with what became of a process, "" if nothing is.
func (s surrounded) wrong(state *os.ProcessState, hung bool, stdout, stderr string,
	want result) string {
	code := state.ExitCode()
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case hung:
		return "did not end"
	case status.Signaled() && s.may == stopped && stderr == "" && stdout == "":
		return "" // before there was anybody to hear the signal
	case code == 127 && s.may == either && strings.Contains(stderr, "while loading shared libraries"):
		return "" // the system could not begin it
	case status.Signaled():
		return fmt.Sprintf("ended by signal %v", status.Signal())
	case strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic") ||
		strings.Contains(stderr, "runtime error") || strings.Contains(stderr, "fatal error"):
		return "a trace in the message"
	case strings.ContainsFunc(stderr, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}):
		return fmt.Sprintf("control characters in %q", stderr)
	case code == app.ExitOK && s.may == refused:
		return "taken"
	case code == app.ExitOK && !s.unseen && timeless(stdout) != want.stdout:
		return fmt.Sprintf("taken, with another result:\n%s\nwanted\n%s", stdout, want.stdout)
	case code == app.ExitOK && s.made != "":
		if _, err := os.Stat(s.made); err != nil {
			return fmt.Sprintf("taken, without a file (%v)", err)
		}
		return ""
	case code == app.ExitOK:
		return ""
	case s.may == right:
		return fmt.Sprintf("exit code %d", code)
	case s.mute:
		return ""
	case code == app.ExitInterrupted && s.may == stopped:
		if strings.Contains(stderr, "uma-gpu: interrupted") {
			return ""
		}
		return "interrupted without a word"
	case !slices.Contains([]int{app.ExitFailure, app.ExitUsage, app.ExitNoDevice, app.ExitMemory,
		app.ExitInterrupted}, code):
		return fmt.Sprintf("exit code %d", code)
	case !strings.Contains(stderr, "uma-gpu: "):
		return fmt.Sprintf("exit code %d without a word", code)
	case (s.says != nil || s.may == stopped) &&
		!slices.ContainsFunc(s.says, func(w string) bool { return strings.Contains(stderr, w) }):
		return fmt.Sprintf("exit code %d, and none of %q said", code, s.says)
	}
	return ""
}
