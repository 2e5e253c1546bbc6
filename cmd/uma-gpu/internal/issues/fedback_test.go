package issues_test

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// Issues that somebody has checked go back into an estimate as they are: rows count from 1 in both,
// and ids come first. A table whose rows count from 0 is refused.
func TestIssuesFedBack(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var right, named strings.Builder
	rows, err := csv.NewReader(strings.NewReader(digitsText(t, 300))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	named.WriteString("key," + strings.Repeat("x,", 64) + "label\n")
	for i, row := range rows {
		right.WriteString(row[64] + "\n")
		row[64] = strconv.Itoa((int(row[64][0]-'0') + i%3/2) % 10) // one of three is the next digit
		named.WriteString("u" + strconv.Itoa(1000-i) + "," + strings.Join(row, ",") + "\n")
	}
	var noisy []string
	for _, row := range rows {
		noisy = append(noisy, row[64])
	}
	truth := strings.Fields(right.String())
	data := clitest.Write(t, dir, "noisy.csv", named.String())
	for _, with := range [][]string{{"--ignore-columns", "key"}, {"--id-column", "key"}} {
		reading := append([]string{"--data", data}, with...)
		clitest.Succeed(t, append([]string{"issues", "--out", path("issues.csv"), "--confusion",
			pairwiseThird(t, dir)}, reading...)...)
		issues, err := csv.NewReader(strings.NewReader(string(clitest.Read(t,
			path("issues.csv"))))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var checked, shifted strings.Builder
		first := 0 // the line that shows that rows are shifted: the one before row 1, or a wrong label
		for k, row := range issues {
			right := "label"
			if k > 0 {
				i, err := strconv.Atoi(row[0])
				if err != nil {
					t.Fatal(err)
				}
				if right = ""; k < 100 {
					right = truth[i-1]
				}
				if with[0] == "--id-column" && row[1] != "u"+strconv.Itoa(1001-i) {
					t.Errorf("row %d has id %s", i, row[1])
				}
			}
			checked.WriteString(strings.Join(append(row, right), ",") + "\n")
			if k > 0 && right != "" {
				i, _ := strconv.Atoi(row[0])
				column := slices.Index(issues[0], "given_label")
				if first == 0 && (i == 1 || noisy[i-2] != row[column]) {
					first = k + 1
				}
				row[0] = strconv.Itoa(i - 1)
				if with[0] == "--id-column" {
					row[1] = "u" + strconv.Itoa(1002-i)
				}
			}
			shifted.WriteString(strings.Join(append(row, right), ",") + "\n")
		}
		estimate := append([]string{"confusion", "estimate", "--method", "confident-joint",
			"--folds", "2"}, reading...)
		clitest.Succeed(t, append(estimate, "--clean", clitest.Write(t, dir, "checked.csv",
			checked.String()))...)
		clitest.Fail(t, 1, "shifted.csv:"+strconv.Itoa(first), append(estimate, "--clean",
			clitest.Write(t, dir,
				"shifted.csv", shifted.String()))...)
	}
}

// digitsText returns the first clitest.Digits, a line each.
func digitsText(t *testing.T, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "d.csv")
	clitest.Succeed(t, "split", "--data", clitest.Digits, "--counts", strconv.Itoa(n), "--out", file)
	return string(clitest.Read(t, file))
}

// pairwiseThird writes the confusion matrix that takes one digit in three for the next.
func pairwiseThird(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for p := range 10 {
		for q := range 10 {
			v := "0"
			switch {
			case p == q:
				v = "0.67"
			case p == (q+1)%10:
				v = "0.33"
			}
			b.WriteString(strings.Repeat(",", min(q, 1)) + v)
		}
		b.WriteString("\n")
	}
	return clitest.Write(t, dir, "C.csv", b.String())
}
