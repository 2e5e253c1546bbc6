package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// lockedBuffer is written by a command that runs and read by its test.
type lockedBuffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.String()
}

// TestServe: the command says where it listens, answers what predict writes, and ends in order.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	data, at := write(t, dir, "pets.csv", pets), filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", data, "--model", at)
	ctx, cancel := context.WithCancel(t.Context())
	var stderr lockedBuffer
	ended := make(chan int)
	go func() {
		ended <- program.Run(ctx, []string{"serve", "--model", at, "--listen", "127.0.0.1:0", "--drain",
			"1ms"}, io.Discard, &stderr)
	}()
	var url []string
	for url == nil {
		time.Sleep(time.Millisecond)
		url = regexp.MustCompile(`at (http://[^,]+),`).FindStringSubmatch(stderr.String())
		select {
		case code := <-ended:
			t.Fatalf("exit code %d\n%s", code, stderr.String())
		default:
		}
	}
	rows := strings.ReplaceAll(strings.ReplaceAll(pets, ",cat", ""), ",dog", "")
	r, err := http.Post(url[1]+"/v1/predict", "text/csv", strings.NewReader(strings.Replace(rows,
		",kind", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if code := <-ended; code != app.ExitOK || !facts.Told(stderr.String(), "ended") ||
		strings.Contains(stderr.String(), "warning") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	table, _ := succeed(t, "predict", "--model", at, "--data", data, "--proba")
	for line := range strings.Lines(table) {
		_, want, _ := strings.Cut(strings.TrimSpace(line), ",")
		if !strings.HasPrefix(line, "example") && !strings.Contains(string(body), "["+want+"]") {
			t.Errorf("found no %s in %s", want, body)
		}
	}
}

func TestServeUsage(t *testing.T) {
	dir := t.TempDir()
	data, at := write(t, dir, "pets.csv", pets), filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", data, "--model", at)
	fail(t, app.ExitFailure, "nowhere address", "serve", "--model", at, "--listen", "nowhere")
	fail(t, app.ExitUsage, "--max-body", "serve", "--model", at, "--max-body", "0")
	fail(t, app.ExitUsage, "--max-rows 0", "serve", "--model", at, "--max-rows", "0")
	fail(t, app.ExitUsage, "--time-limit 0s", "serve", "--model", at, "--time-limit", "0s")
	fail(t, app.ExitFailure, "none.npz", "serve", "--model", filepath.Join(dir, "none.npz"))
	// It warns of an address that others reach, and then ends, for the context has ended.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	code := program.Run(ctx, []string{"serve", "--model", at, "--listen", ":0", "--drain", "1ms"},
		io.Discard, &stderr)
	if code != app.ExitOK || !facts.Told(stderr.String(), "open machines") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}
