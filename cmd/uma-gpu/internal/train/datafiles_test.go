package train_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestDataFiles: parts of a set, by a pattern or a list, train the model of one file; nothing
// replaces a part.
func TestDataFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	clitest.Succeed(t, "convert", "--data", clitest.Digits, "--out", path("whole.csv"))
	text, err := os.ReadFile(path("whole.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for name, part := range map[string][]string{"p-1.csv": lines[:500], "p-2.csv": lines[500:501],
		"p-3.csv": lines[501:], "a,b.csv": lines} {
		if err := os.WriteFile(path(name), []byte(strings.Join(part, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := func(data string) string {
		out := path("m.npz")
		clitest.Succeed(t, "train", "--data", data, "--learner", "uma", "--max-steps", "5", "--model",
			out)
		bytes, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes)
	}
	want := model(path("whole.csv"))
	list := path("p-1.csv") + "," + path("p-2.csv") + "," + path("p-3.csv")
	for _, data := range []string{path("p-*.csv"), list, path("a,b.csv"), path("p-[123].csv")} {
		if model(data) != want {
			t.Errorf("%s: another model than that of one file", data)
		}
	}
	if got := model(path("p-3.csv") + "," + path("p-2.csv")); got == want {
		t.Error("some of the parts have the model of all")
	}
	_, stderr := clitest.Succeed(t, "info", "--data", path("p-*.csv"))
	if !facts.Told(stderr, "p-*.csv 1797 examples") {
		t.Errorf("info: %s", stderr)
	}
	clitest.Fail(t, app.ExitFailure, "matches pattern", "info", "--data", path("q-*.csv"))
	clitest.Fail(t, app.ExitFailure, "invalid pattern", "info", "--data", path("p-[.csv"))
	clitest.Fail(t, app.ExitFailure, "p-9.csv", "info", "--data", path("p-1.csv")+","+path("p-9.csv"))
	clitest.Fail(t, app.ExitUsage, "same file", "convert", "--data", path("p-*.csv"), "--out",
		path("p-2.csv"))
}
