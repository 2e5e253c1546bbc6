//go:build unix

package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

var streamRows = flag.Int("stream-rows", 70000,
	"how many examples TestStreamInLittleMemory sends through a pipe")

// writeRows writes sparse examples of four classes, ten of 50,000 features in each.
func writeRows(to io.Writer, rows int) error {
	w, r := bufio.NewWriterSize(to, 1<<16), rand.New(rand.NewPCG(7, 7))
	var line []byte
	for range rows {
		y := r.IntN(4)
		line = strconv.AppendInt(line[:0], int64(y), 10)
		for j := range 10 {
			at := 5000*j + r.IntN(5000)
			if r.IntN(3) == 0 { // a feature of its class
				at = 5000*j + 10*r.IntN(5) + y
			}
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(at)+1, 10)
			line = append(line, ':', '1'+byte(r.IntN(9)))
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// TestStreamInLittleMemory trains from a pipe: with the weights that the file gives, and the
// memory of a tenth of the examples.
func TestStreamInLittleMemory(t *testing.T) {
	dir := t.TempDir()
	learner := []string{"--learner", "pa1", "--aggressiveness", "0.1", "--quiet", "--device", "cpu"}
	piped := func(rows int, model string) int64 {
		c := processOf(t, "", append([]string{"train", "--data", "-", "--format", "libsvm", "--stream",
			"--features", "50000", "--classes", "0,1,2,3", "--model", model}, learner...)...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		begun, written := time.Now(), writeRows(in, rows)
		if err := in.Close(); err != nil || written != nil {
			t.Fatal(written, err)
		}
		if err := c.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatalf("found %T, wanted what the process used", c.ProcessState.SysUsage())
		}
		t.Logf("%d examples in %.1f s, %d KiB at most", rows, time.Since(begun).Seconds(), usage.Maxrss)
		return int64(usage.Maxrss)
	}
	few, many := filepath.Join(dir, "few.npz"), filepath.Join(dir, "many.npz")
	small, large := piped(*streamRows/10, few), piped(*streamRows, many)
	// The first block, of some 420,000 examples, is the largest.
	if *streamRows >= 5000000 && large > small+small/4 {
		t.Errorf("%d examples took %d KiB, a tenth of them %d", *streamRows, large, small)
	}
	file := filepath.Join(dir, "rows.svm")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeRows(f, *streamRows/10); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole.npz")
	succeed(t, append([]string{"train", "--data", file, "--epochs", "1", "--no-shuffle", "--model",
		whole}, learner...)...)
	if !bytes.Equal(member(t, few, "W.npy"), member(t, whole, "W.npy")) {
		t.Error("the pipe gave other weights than the file")
	}
}
