package inspect_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/inspect"
	"github.com/uma-gpu/uma-gpu/host/model"
)

const pets = "weight,height,kind\n2,30,cat\n9,60,dog\n3,25,cat\n25,65,dog\n4,31,cat\n12,55,dog\n"

// TestInspect: the command prints the model's numbers by name, largest first, as JSON and as text.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := clitest.Write(t, dir, "pets.csv", pets)
	noise := clitest.Write(t, dir, "C.csv", "noisy\\true,cat,dog\ncat,0.9,0.2\ndog,0.1,0.8\n")
	clitest.Succeed(t, "train", "--data", data, "--confusion", noise, "--model", at("m.npz"), "--seed",
		"7")
	m, err := model.Load(at("m.npz"))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := clitest.Succeed(t, "inspect", "--model", at("m.npz"), "--json")
	r := clitest.Decode[inspect.Inspection](t, out)
	for k, c := range r.Classes {
		w := m.W[k*3 : k*3+3]
		if len(c.Top) != 2 || c.Class != m.Meta.Classes[k] || math.Abs(float64(c.Top[0].Weight)) <
			math.Abs(float64(c.Top[1].Weight)) {
			t.Fatalf("found %+v", c)
		}
		for _, f := range c.Top {
			j := map[string]int{"weight": 0, "height": 1}[f.Feature]
			if f.Weight != w[j] {
				t.Errorf("found %+v, want the weight %v", f, w[j])
			}
		}
		if math.Abs(c.Norm-math.Sqrt(float64(w[0]*w[0]+w[1]*w[1]+w[2]*w[2]))) > 1e-6 {
			t.Errorf("found %+v", c)
		}
	}
	if want := fmt.Sprintf("given, condition number %.4g", m.Meta.Condition); !strings.HasPrefix(
		r.Noise, want) {
		t.Errorf("found the noise %q, want %q", r.Noise, want)
	}
	if r.Provenance.Seed != 7 || r.Provenance.DataSHA256 != m.Meta.DataSHA256 ||
		r.Provenance.Learner != "softmax" {
		t.Errorf("found %+v", r.Provenance)
	}
	text, _ := clitest.Succeed(t, "inspect", "--model", at("m.npz"), "--top", "1")
	for _, want := range []string{"seed 7", m.Meta.DataSHA256, r.Noise,
		r.Classes[0].Top[0].Feature} {
		if !strings.Contains(text, want) {
			t.Errorf("found no %q in\n%s", want, text)
		}
	}
	if other := r.Classes[0].Top[1].Feature; strings.Contains(text, other+" ") {
		t.Errorf("found %q beyond --top 1 in\n%s", other, text)
	}
	clitest.Fail(t, app.ExitUsage, "--top -1", "inspect", "--model", at("m.npz"), "--top", "-1")
}

// TestInspectKernel: what a kernel map mixes has no weights of features.
func TestInspectKernel(t *testing.T) {
	dir := t.TempDir()
	data, at := clitest.Write(t, dir, "pets.csv", pets), filepath.Join(dir, "k.npz")
	clitest.Succeed(t, "train", "--data", data, "--model", at, "--kernel", "rbf", "--components", "2")
	out, _ := clitest.Succeed(t, "inspect", "--model", at, "--json")
	r := clitest.Decode[inspect.Inspection](t, out)
	if r.Kernel.Function.Kind != "rbf" || r.Kernel.Components != 2 || r.Classes[1].Top != nil ||
		r.Classes[1].Norm == 0 {
		t.Errorf("found %s", out)
	}
	if text, _ := clitest.Succeed(t, "inspect", "--model", at); !strings.Contains(text,
		"2 components of 6 landmarks") {
		t.Errorf("found %s", text)
	}
}
