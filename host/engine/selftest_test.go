package engine_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

var update = flag.Bool("update", false, "write the known answers of the self-test anew")

const golden = "selftest.golden"

func TestSelfTestAnswers(t *testing.T) {
	got, err := engine.SelfTestAnswers(cpuref.New())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the known answers are not those of cpuref; if the contract changed, run this test " +
			"with -update")
	}
}
