package train_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func TestAutoPreparation(t *testing.T) {
	dense := dataset.Examples{N: 2, D: 2, X: []float32{4, 0, -8, 1}}
	for _, c := range []struct {
		x      dataset.Examples
		kernel bool
		want   string
	}{
		{dense, false, "standardize,bias,l2"},
		{dense, true, "maxabs"},
		{dense.Compressed(), false, "l2"},
		{dense.Compressed(), true, "l2"},
	} {
		d := &dataset.Dataset{Examples: c.x}
		if err := host.Prepare(d, "auto", c.kernel); err != nil {
			t.Fatal(err)
		}
		if got := d.Prepared.Steps.String(); got != c.want {
			t.Errorf("sparse %v, kernel %v: prepared by %s, want %s", c.x.Sparse(), c.kernel, got, c.want)
		}
	}
}
