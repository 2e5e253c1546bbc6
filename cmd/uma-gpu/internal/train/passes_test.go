package train_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// train --json has what an online learner tells of each pass.
func TestPassesInJSON(t *testing.T) {
	printed, _ := clitest.Succeed(t, "train", "--data", clitest.Digits, "--learner", "copa",
		"--epochs", "3", "--json",
		"--quiet", "--model", filepath.Join(t.TempDir(), "m.npz"))
	var report struct {
		Steps  int
		Passes []map[string]float64
	}
	if err := json.Unmarshal([]byte(printed), &report); err != nil {
		t.Fatal(err)
	}
	if report.Steps != 3 || len(report.Passes) != 3 {
		t.Fatalf("found %d passes of %d steps, wanted 3", len(report.Passes), report.Steps)
	}
	for k, p := range report.Passes {
		if p["step"] != float64(k+1) || p["updates"] == 0 || p["mistakes"] == 0 ||
			p["confusion_risk"] == 0 || p["bound"] <= p["confusion_risk"] {
			t.Errorf("pass %d is %v, wanted its mistakes, updates, risk and a bound above that", k+1, p)
		}
	}
}
