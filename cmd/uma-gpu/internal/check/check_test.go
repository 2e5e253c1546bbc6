package check_test

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/check"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

func TestConfusionCheck(t *testing.T) {
	noisy, matrix := clitest.SmallNoisy(t, t.TempDir())
	args := []string{"confusion", "check", "--data", noisy, "--confusion", matrix, "--l2", "0.001",
		"--folds", "2", "--device", "cpu", "--quiet"}
	text, _ := clitest.Succeed(t, args...)
	for _, want := range []string{
		"The confusion matrix helps", "\ngain in log-likelihood of a label ", "\nunexplained labels ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	stdout, _ := clitest.Succeed(t, append(args, "--json")...)
	r := clitest.Decode[check.Report](t, stdout)
	if r.Verdict != "helps" || r.LogLikelihood.Mean < 0.1 {
		t.Errorf("%+v", r)
	}
	clitest.Fail(t, app.ExitUsage, "--confusion", "confusion", "check", "--data", noisy)
}
