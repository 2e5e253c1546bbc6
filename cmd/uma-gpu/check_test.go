package main

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/check"
)

func TestConfusionCheck(t *testing.T) {
	noisy, matrix := smallNoisy(t, t.TempDir())
	args := []string{"confusion", "check", "--data", noisy, "--confusion", matrix, "--l2", "0.001",
		"--folds", "2", "--device", "cpu", "--quiet"}
	text, _ := succeed(t, args...)
	for _, want := range []string{
		"The confusion matrix helps", "\nlog-likelihood of a label ", "\nlabels it cannot explain ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	stdout, _ := succeed(t, append(args, "--json")...)
	r := decode[check.Report](t, stdout)
	if r.Verdict != "helps" || r.LogLikelihood.Mean < 0.1 || r.Milder == nil ||
		len(r.Frequencies) != 10 {
		t.Errorf("%+v", r)
	}
	fail(t, app.ExitUsage, "--confusion", "confusion", "check", "--data", noisy)
}
