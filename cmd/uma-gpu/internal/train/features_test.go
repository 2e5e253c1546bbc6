package train_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// shuffled are 90 examples of the features a, b and c; only b tells the class,
// and an id that is no feature.
type shuffled struct {
	C     float32 `parquet:"c"`
	ID    string  `parquet:"id"`
	Label string  `parquet:"label"`
	A     float32 `parquet:"a"`
	B     float32 `parquet:"b"`
}

func shuffledRows() []shuffled {
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([]shuffled, 90)
	for i := range rows {
		q := i % 3
		rows[i] = shuffled{
			A: float32(rng.IntN(9)), B: float32(10*q + rng.IntN(3)), C: float32(rng.IntN(9)),
			ID: fmt.Sprintf("id %d", i), Label: []string{"x", "y", "z"}[q],
		}
	}
	return rows
}

// table writes rows as text, the fields in the order of the names.
func (r shuffled) text(names ...string) string {
	var fields []string
	for _, name := range names {
		fields = append(fields, map[string]string{
			"a": fmt.Sprint(r.A), "b": fmt.Sprint(r.B), "c": fmt.Sprint(r.C), "id": r.ID,
			"label": r.Label}[name])
	}
	return strings.Join(fields, ",") + "\n"
}

// Probable mistakes in the data are warnings, which --quiet does not silence, and appear in the
// description.
func TestWarningsOfData(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i, r := range shuffledRows() {
		fmt.Fprintf(&text, "%d,%s", i, r.text("a", "b", "label"))
	}
	data := clitest.Write(t, dir, "data.csv", text.String())
	const want = "data.csv column 1 ignore-columns=1"
	m := filepath.Join(dir, "m.npz")
	if _, stderr := clitest.Succeed(t, "train", "--quiet", "--data", data, "--model",
		m); !facts.Told(stderr,
		want) || !strings.HasPrefix(stderr, "warning: ") {
		t.Errorf("stderr is\n%s", stderr)
	}
	if _, stderr := clitest.Succeed(t, "info", "--data", data); !facts.Told(stderr, want) {
		t.Errorf("no warning in\n%s", stderr)
	}
	stdout, _ := clitest.Succeed(t, "info", "--data", data, "--json")
	if i := clitest.Decode[dataset.Info](t, stdout); len(i.Warnings) != 1 || !facts.Told(i.Warnings[0],
		want) {
		t.Errorf("warnings %q", i.Warnings)
	}
	if _, stderr := clitest.Succeed(t, "train", "--quiet", "--data", data, "--model", m,
		"--ignore-columns",
		"1"); stderr != "" {
		t.Errorf("without the column stderr is\n%s", stderr)
	}
	if _, stderr := clitest.Succeed(t, "eval", "--quiet", "--data", data, "--model", m,
		"--ignore-columns",
		"1"); stderr != "" {
		t.Errorf("of eval stderr is\n%s", stderr)
	}
}
