package train_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
)

// A part of the data may lack a class that the confusion matrix has.
func TestClassWithoutExample(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", "1,2,a\n2,1,a\n8,9,c\n9,8,c\n1,1,a\n9,9,c\n")
	matrix := clitest.Write(t, dir, "C.csv", ",a,b,c\na,.8,.1,.1\nb,.1,.8,.1\nc,.1,.1,.8\n")
	for _, command := range [][]string{{"train", "--model", filepath.Join(dir, "m.npz")},
		{"cv", "--folds", "3"}} {
		stdout, _ := clitest.Succeed(t, append(command, "--data", data, "--confusion", matrix,
			"--json")...)
		if command[0] == "train" {
			r := clitest.Decode[train.Report](t, stdout)
			if !slices.Equal(r.Classes, []string{"a", "b", "c"}) {
				t.Errorf("classes %q, want a, b and c", r.Classes)
			}
		}
	}
}
