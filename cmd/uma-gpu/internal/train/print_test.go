package train

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

func TestStepLine(t *testing.T) {
	r := host.Report{Step: 3, EstimatedError: 0.25, Fields: []learners.Field{
		{Name: "pair", Value: engine.Pair{P: 0, Q: 1}}, {Name: "‖z‖", Value: 0.5},
		{Name: "moved", Value: 3},
	}}
	got := stepLine(r, []string{"cat", "a very long class name"})
	want := `step 3: predicted "cat" to true "a very long class name", ` +
		"‖z‖ 0.5, moved 3, estimated error 0.2500\n"
	if got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
