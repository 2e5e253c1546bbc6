package train_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A stream of a table gives the weights of the table, and a model to begin with gives its
// preparation.
func TestStreamOfATable(t *testing.T) {
	dir := t.TempDir()
	base, whole, parts := filepath.Join(dir, "b.npz"), filepath.Join(dir, "w.npz"), filepath.Join(dir,
		"p.npz")
	clitest.Succeed(t, "train", "--data", clitest.Digits, "--learner", "perceptron", "--model", base,
		"--epochs", "1",
		"--quiet")
	for _, how := range [][]string{{"--normalize", "bias,l2"}, {"--from", base}} {
		args := append([]string{"train", "--data", clitest.Digits, "--learner", "pa1", "--no-average",
			"--json"},
			how...)
		clitest.Succeed(t, append(args, "--epochs", "1", "--no-shuffle", "--model", whole)...)
		printed, _ := clitest.Succeed(t, append(args, "--stream", "--model", parts)...)
		if !bytes.Equal(clitest.Member(t, whole, "W.npy"), clitest.Member(t, parts, "W.npy")) {
			t.Errorf("%v: a stream gave other weights than the file", how)
		}
		report := clitest.Decode[train.Report](t, printed)
		if !report.Stream || report.Examples != clitest.Load(t, parts).Meta.Steps*1797 {
			t.Errorf("%v: found %+v, wanted a pass over all examples", how, report)
		}
	}
	printed, said := clitest.Succeed(t, "train", "--data", clitest.Digits, "--learner", "pa1",
		"--stream",
		"--normalize", "l2", "--model", parts)
	if !strings.Contains(printed, "of each example before it was learned from") ||
		!facts.Told(said, "× 64 features 10") {
		t.Errorf("printed %s, said %s", printed, said)
	}
}

func TestStreamUsage(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.npz")
	train := []string{"train", "--data", clitest.Digits, "--model", m}
	clitest.Fail(t, app.ExitUsage, "--classes --stream", append(train, "--classes", "0,1")...)
	stream := append(train, "--stream", "--learner")
	for said, args := range map[string][]string{
		"--validate --stream":            {"pa1", "--validate", "0.2"},
		"--checkpoint --stream":          {"pa1", "--checkpoint", m + "k"},
		"needs once":                     {"softmax"},
		"--max-steps --weights":          {"pa1", "--epochs", "2"},
		"--max-steps --weights --stream": {"pa1", "--weights", "best"},
		"--features -1 1":                {"pa1", "--features", "-1"},
	} {
		clitest.Fail(t, app.ExitUsage, said, append(stream, args...)...)
	}
	clitest.Fail(t, app.ExitFailure, "standardize,bias,l2 statistics", append(stream, "pa1")...)
	clitest.Fail(t, app.ExitFailure, "sizes classes", append(stream, "copa", "--normalize", "l2")...)
}
