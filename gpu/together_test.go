//go:build linux && cgo && !noopencl

package gpu

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Two threads may be the first to ask the drivers: PoCL crashes, or knows no device, if they ask
// at the same time. Each try is a process, as only the first question counts.
func TestFirstQuestionOfTwo(t *testing.T) {
	const variable = "UMA_GPU_TEST_TWO_ASK"
	if os.Getenv(variable) == "" {
		for range 5 {
			c := exec.Command(os.Args[0], "-test.run=^TestFirstQuestionOfTwo$")
			c.Env = append(os.Environ(), variable+"=1")
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
		}
		return
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := Devices(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
