package predict_test

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/calibrate"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
)

// By noisy labels calibrate makes prediction sets that keep their promise on right ones; predict
// writes them, and eval judges them.
func TestPredictionSets(t *testing.T) {
	dir := clitest.NoisyParts(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	clitest.Succeed(t, "train", "--data", file("train.csv"), "--confusion", file("C.csv"), "--model",
		file("m.npz"))
	stdout, _ := clitest.Succeed(t, "calibrate", "--model", file("m.npz"), "--data", file("held.csv"),
		"--confusion", file("C.csv"), "--sets", "0.95,0.9", "--out", file("sets.npz"), "--json")
	found := clitest.Decode[calibrate.Report](t, stdout).Sets
	if m := clitest.Load(t, file("sets.npz")); len(found) != 2 || found[0].Level != 0.9 ||
		len(m.Meta.Sets) != 2 || !slices.Equal(m.Meta.Sets[1].Thresholds, found[1].Thresholds) {
		t.Fatalf("found %+v, in the model %+v", found, m.Meta.Sets)
	}
	stdout, _ = clitest.Succeed(t, "eval", "--model", file("sets.npz"), "--data", file("test.csv"),
		"--json")
	judged := clitest.Decode[eval.Report](t, stdout).Sets
	for _, s := range judged {
		// 450 examples calibrate, 450 judge: three of their standard errors under 40 % noise.
		if s.Coverage < s.Level-0.1 || s.Size < 0.9 || s.Size > 6 {
			t.Errorf("found %+v", s)
		}
	}
	table, _ := clitest.Succeed(t, "predict", "--model", file("sets.npz"), "--data", file("test.csv"),
		"--sets", "0.9")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for i, row := range rows[1:] {
		if row[2] == "" {
			continue
		}
		set := strings.Split(row[2], "|")
		if size += len(set); !slices.Contains(set, row[1]) {
			t.Errorf("example %d: the class is %s, the set %s", i+1, row[1], row[2])
		}
	}
	if mean := float64(size) / float64(len(rows)-1); mean-judged[0].Size > 1e-9 ||
		judged[0].Size-mean > 1e-9 {
		t.Errorf("predict has sets of %v classes, eval of %v", mean, judged[0].Size)
	}
	clitest.Succeed(t, "calibrate", "--model", file("sets.npz"), "--data", file("held.csv"), "--out",
		file("none.npz"))
	if m := clitest.Load(t, file("none.npz")); m.Meta.Sets != nil {
		t.Errorf("found %+v of another temperature", m.Meta.Sets)
	}
}

func TestPredictionSetsRefused(t *testing.T) {
	dir := t.TempDir()
	m, data := fourPoints(t, dir), clitest.Write(t, dir, "d.csv", "5,0,b\n-5,0,b\n3,1,a\n4,0.5,a\n")
	out := filepath.Join(dir, "out.npz")
	predict := []string{"predict", "--model", m, "--data", data, "--sets"}
	calibrated := []string{"calibrate", "--model", m, "--data", data, "--out", out}
	clitest.Fail(t, app.ExitFailure, m+": level 0.9 calibrate --sets", append(predict, "0.9")...)
	clitest.Fail(t, app.ExitUsage, "--sets 1.5", append(predict, "1.5")...)
	clitest.Fail(t, app.ExitUsage, "--sets 0", append(predict, "0")...)
	clitest.Fail(t, app.ExitUsage, "--probabilities --sets combined", append(predict, "0.9",
		"--probabilities")...)
	clitest.Fail(t, app.ExitUsage, out+".npy --probabilities", append(predict, "0.9", "--out",
		out+".npy")...)
	clitest.Fail(t, app.ExitUsage, `--sets 90`, append(calibrated, "--sets", "0.9,90")...)
	clitest.Fail(t, app.ExitUsage, `--sets NaN`, append(calibrated, "--sets", "NaN")...)
	clitest.Fail(t, app.ExitUsage, "--by-class --sets", append(calibrated, "--by-class")...)
	names := clitest.Write(t, dir, "names.csv", "1,a|b\n2,a|b\n-1,c\n-2,c\n")
	clitest.Succeed(t, "train", "--data", names, "--model", m)
	clitest.Succeed(t, "calibrate", "--model", m, "--data", names, "--sets", "0.5", "--out", out)
	clitest.Fail(t, app.ExitUsage, `"a|b"`, "predict", "--model", out, "--data", names, "--sets",
		"0.5")
}
