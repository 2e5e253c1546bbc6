//go:build unix

// Command library prints how many rows a second the library predicts, for bench/serve.sh.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

const batch = 1000 // rows

func main() {
	path := flag.String("model", "", "model that train wrote: `FILE` (required)")
	data := flag.String("data", "", "at least 1000 dense examples: `FILE` (required)")
	seconds := flag.Float64("seconds", 5, "measure for `N` seconds")
	body := flag.String("body", "", "write requests to `FILE`.json and `FILE`.npy")
	flag.Parse()
	if err := predict(context.Background(), *path, *data, *seconds, *body); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// predict prints how many rows a second a model predicts in batches of 1000, as a program does
// that imports the library, and the microseconds of processors that a row takes. With body it
// writes a batch as requests of uma-gpu serve, body.json and body.npy.
func predict(ctx context.Context, path, data string, seconds float64, body string) error {
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	e := simd.New()
	d, err := file.Read(ctx, data, m.ReadOptions())
	if err != nil {
		return err
	}
	defer d.Close() // nothing to lose: it was only read
	if d.N < batch || d.Sparse() {
		return fmt.Errorf("%s: found %d examples, sparse %v, wanted %d dense ones", data, d.N,
			d.Sparse(), batch)
	}
	x := d.Part(0, batch)
	if body != "" {
		if err := writeRequests(body, x); err != nil {
			return err
		}
	}
	start, before, count := time.Now(), processorSeconds(), 0
	for time.Since(start).Seconds() < seconds {
		if _, err := m.Probabilities(ctx, e, x); err != nil {
			return err
		}
		count++
	}
	rows := float64(count * batch)
	fmt.Printf("%.0f %.3f\n", rows/time.Since(start).Seconds(),
		1e6*(processorSeconds()-before)/rows)
	return nil
}

func writeRequests(body string, x dataset.Examples) error {
	rows := make([][]float32, x.N)
	for i := range rows {
		rows[i] = x.Row(i)
	}
	text, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		return err
	}
	array := bytes.NewBuffer(npyfile.Header("<f4", x.N, x.D))
	npyfile.Write(array, x.X) // a Buffer takes all
	return errors.Join(os.WriteFile(body+".json", text, 0o666), os.WriteFile(body+".npy",
		array.Bytes(), 0o666))
}

// processorSeconds returns the processor time that this process has taken, on all cores: what
// else the machine does hardly shows in it.
func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
