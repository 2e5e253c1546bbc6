package app_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// TestProgressOnATerminal draws on a pseudo-terminal of 60 columns, whose other end sees what a
// user would.
func TestProgressOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := app.NewMeter(tty)
	now := time.Unix(1e9, 0)
	m.Now, m.Last = func() time.Time { return now }, now
	_, task := progress.Begin(progress.With(t.Context(), m.Hear), progress.Work{Name: "learning",
		Unit: "step", Total: 10})
	now = now.Add(time.Second)
	task.Reach(5)
	fmt.Fprintln(m, "a note")
	now = now.Add(time.Second)
	task.Reach(6)
	task.End()
	fmt.Fprintln(m, "the end.")
	tty.Close()
	var seen []byte
	for b := make([]byte, 1024); !strings.Contains(string(seen), "end."); {
		k, err := screen.Read(b)
		if seen = append(seen, b[:k]...); err != nil && err != io.EOF {
			break
		}
	}
	want := "\r\x1b[Klearning: step 5/10, 50 %, 1s left" +
		"\r\x1b[Ka note\r\n" +
		"\r\x1b[Klearning: step 6/10, 60 %, 1s left" +
		"\r\x1b[Kthe end.\r\n"
	if string(seen) != want {
		t.Errorf("the terminal saw %q, want %q", seen, want)
	}
}
