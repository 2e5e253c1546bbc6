package completion_test

import (
	"os"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/completion"
)

// The scripts exist, and ask for words that the program prints.
func TestCompletion(t *testing.T) {
	for _, shell := range completion.Shells {
		script, _ := clitest.Succeed(t, "completion", shell)
		if !strings.Contains(script, "uma-gpu") {
			t.Errorf("%s: found %q", shell, script)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"--generate-bash-completion", "train"},
		{"confusion --generate-bash-completion", "inject"},
		{"train --da --generate-bash-completion", "--data"},
	} {
		args := os.Args
		os.Args = append([]string{"uma-gpu"}, strings.Fields(c.line)...) // the cli package reads it
		words, _ := clitest.Succeed(t, os.Args[1:]...)
		if os.Args = args; !strings.Contains(words, c.want) {
			t.Errorf("%s: found %q, wanted %s", c.line, words, c.want)
		}
	}
	clitest.Fail(t, app.ExitUsage, `"tcsh"`, "completion", "tcsh")
}
