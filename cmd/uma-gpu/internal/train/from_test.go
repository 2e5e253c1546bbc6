package train_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// named writes a table of 90 examples with the named columns; label has the
// class; the values go by the name of their column.
func named(t *testing.T, dir, name string, columns ...string) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, strings.Join(columns, ","))
	for i := range 90 {
		for k, column := range columns {
			if k > 0 {
				text.WriteByte(',')
			}
			class := "red green blue"
			switch column {
			case "label":
				text.WriteString(strings.Fields(class)[i%3])
			default:
				fmt.Fprint(&text, (i*i*7+i*int(column[0]))%31+9*(i%3))
			}
		}
		text.WriteByte('\n')
	}
	return clitest.Write(t, dir, name, text.String())
}

// TestFrom: a training may begin with the weights of a model, for whose features and
// classes it looks by name.
func TestFrom(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	data := named(t, dir, "abc.csv", "a", "b", "c", "label")
	first, want := path("first.npz"), path("want.npz")
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", first, "--max-steps",
		"7",
		"--weights", "last")

	// Of no step, the model is the first one but for what the run says of itself.
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", want,
		"--from", first, "--max-steps", "0")
	if !bytes.Equal(clitest.Member(t, want, "W.npy"), clitest.Member(t, first, "W.npy")) {
		t.Error("with no step the weights are not those to begin with")
	}
	a, b := clitest.Load(t, first).Meta, clitest.Load(t, want).Meta
	if got, want := marshal(t, b.Preparation), marshal(t, a.Preparation); got != want {
		t.Errorf("preparation %s, want %s", got, want)
	}
	w := clitest.Member(t, first, "W.npy")
	sum := sha256.Sum256(w[len(npyfile.Header("<f4", 3, 4)):])
	if b.From != hex.EncodeToString(sum[:]) || a.From != "" || b.Steps != 0 || b.MaxSteps != 0 {
		t.Errorf("from %q and %q, want none and %x; %d steps", a.From, b.From, sum, b.Steps)
	}

	// Last weights, no random numbers: seven steps and thirteen are twenty.
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", want, "--max-steps",
		"20",
		"--weights", "last")
	m := path("m.npz")
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", m,
		"--from", first, "--max-steps", "13", "--weights", "last")
	if !bytes.Equal(clitest.Member(t, m, "W.npy"), clitest.Member(t, want, "W.npy")) {
		t.Error("seven steps and thirteen are not twenty")
	}

	// Columns in another order, one too many, and a first example of another class.
	for _, columns := range []string{"c label b a", "label b x a c"} {
		other := named(t, dir, "other.csv", strings.Fields(columns)...)
		got := path("other.npz")
		_, stderr := clitest.Succeed(t, "train", "--learner", "uma", "--data", other, "--label-column",
			"label",
			"--model", got, "--from", first, "--max-steps", "13", "--weights", "last")
		if !bytes.Equal(clitest.Read(t, got), clitest.Read(t, m)) {
			t.Errorf("columns %s: %s differs\n%s", columns, clitest.Differ(t, got, m), stderr)
		}
		if strings.Contains(columns, "x") && !facts.Told(stderr, "ignored columns") {
			t.Errorf("no word of column x:\n%s", stderr)
		}
	}
	text := strings.SplitAfterN(string(clitest.Read(t, data)), "\n", 3)
	rest := strings.SplitAfterN(text[2], "\n", 2)
	swapped := clitest.Write(t, dir, "swapped.csv", text[0]+rest[0]+text[1]+rest[1])
	clitest.Succeed(t, "train", "--learner", "uma", "--data", swapped, "--model", path("swapped.npz"),
		"--from", first, "--max-steps", "0")
	if !bytes.Equal(clitest.Member(t, path("swapped.npz"), "W.npy"), clitest.Member(t, first,
		"W.npy")) {
		t.Error("another first class changes the weights to begin with")
	}

	// It goes on as well, and remembers where it began.
	k := path("k.npz")
	for _, rule := range []string{"best", "average", "last"} {
		args := []string{"train", "--learner", "uma", "--data", data, "--max-steps", "13", "--weights",
			rule}
		clitest.Succeed(t, with(args, "--model", m, "--from", first, "--checkpoint", k, "--every",
			"8")...)
		clitest.Succeed(t, clitest.Resumed(with(args, "--model", path("on.npz")), k)...)
		if !bytes.Equal(clitest.Read(t, path("on.npz")), clitest.Read(t, m)) {
			t.Errorf("%s, gone on from a checkpoint: %s differs", rule, clitest.Differ(t, path("on.npz"), m))
		}
		// A checkpoint, and a model of kernel PCA, are models to begin with.
		clitest.Succeed(t, with(args, "--model", path("on.npz"), "--from", k)...)
		if got, want := clitest.Load(t, path("on.npz")).Meta.From, clitest.Load(t,
			m).Meta.From; got == want ||
			got == "" {
			t.Errorf("from a checkpoint: %q", got)
		}
	}
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", k,
		"--max-steps", "7", "--kernel", "rbf", "--components", "9")
	clitest.Succeed(t, "train", "--learner", "uma", "--data", data, "--model", m, "--max-steps", "7",
		"--from",
		k)
	for _, name := range []string{"landmarks.npy", "axes.npy", "offset.npy"} {
		if !bytes.Equal(clitest.Member(t, m, name), clitest.Member(t, k, name)) {
			t.Errorf("%s is not that of the model to begin with", name)
		}
	}

	red := strings.ReplaceAll(string(clitest.Read(t, data)), "blue", "violet")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{app.ExitFailure, `"violet"`, []string{"--data", clitest.Write(t, dir, "violet.csv", red)}},
		{app.ExitFailure, `"c"`, []string{"--data", named(t, dir, "ab.csv", "a", "b", "d", "label")}},
		{app.ExitUsage, "--normalize --from", []string{"--normalize", "l2"}},
		{app.ExitUsage, "--kernel --from", []string{"--kernel", "rbf"}},
		{app.ExitUsage, "--gamma", []string{"--gamma", "1"}},
		{app.ExitFailure, "digits.csv.gz", []string{"--from", clitest.Digits}},
	} {
		args := []string{"train", "--learner", "uma", "--data", data, "--model", path("none.npz"),
			"--from", first}
		clitest.Fail(t, c.code, c.want, with(args, c.args...)...)
	}
	clitest.Fail(t, app.ExitUsage, "--match-features --resume --from", "train", "--learner", "uma",
		"--data",
		data, "--model", m, "--match-features", "name")
}
