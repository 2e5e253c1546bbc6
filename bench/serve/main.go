// Command serve measures how many examples a second a model predicts in batches of 1000, as a program does that
// imports the library: what uma-gpu serve is compared with.
//
//	serve -model m.npz -data test.npz -seconds 5 -body body
//
// It prints rows a second, and the microseconds of processors that a row took (of Linux, else 0), and writes one batch as requests of uma-gpu serve, body.json and body.npy, if -body names
// them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

const batch = 1000

func main() {
	path := flag.String("model", "", "model that train wrote: `FILE`")
	data := flag.String("data", "", "at least 1000 dense examples: `FILE`")
	seconds := flag.Float64("seconds", 5, "measure for `N` seconds")
	body := flag.String("body", "", "write requests to `FILE`.json and `FILE`.npy")
	flag.Parse()
	rate, cost, err := run(*path, *data, *body, *seconds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
	fmt.Printf("%.0f %.3f\n", rate, cost)
}

func run(path, data, body string, seconds float64) (rate, cost float64, err error) {
	m, err := model.Load(path)
	if err != nil {
		return 0, 0, err
	}
	ctx, e := context.Background(), simd.New()
	d, err := dataset.Read(ctx, data, m.ReadOptions())
	if err != nil {
		return 0, 0, err
	}
	defer d.Close() // of what was only read: nothing to lose
	if d.N < batch || d.Sparse() {
		return 0, 0, fmt.Errorf("%s: found %d examples, sparse %v, wanted %d dense ones", data, d.N, d.Sparse(), batch)
	}
	x := d.Part(0, batch)
	if body != "" {
		if err := write(body, x); err != nil {
			return 0, 0, err
		}
	}
	start, before, count := time.Now(), processorSeconds(), 0
	for time.Since(start).Seconds() < seconds {
		if _, err := m.Probabilities(ctx, e, x); err != nil {
			return 0, 0, err
		}
		count++
	}
	rows := float64(count * batch)
	return rows / time.Since(start).Seconds(), 1e6 * (processorSeconds() - before) / rows, nil
}

// processorSeconds is what this process took of processors: the fields 14 and 15 of its stat, in ticks, of which
// Linux has 100 a second for programs.
func processorSeconds() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, errUser := strconv.Atoi(fields[11])
	system, errSystem := strconv.Atoi(fields[12])
	if errors.Join(errUser, errSystem) != nil {
		return 0
	}
	return float64(user+system) / 100
}

// write writes the requests that ask about x.
func write(body string, x dataset.Examples) error {
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
	return errors.Join(os.WriteFile(body+".json", text, 0o666), os.WriteFile(body+".npy", array.Bytes(), 0o666))
}
