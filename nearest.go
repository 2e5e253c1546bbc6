package umagpu

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// NearestRequest asks which examples are the most similar to some of them.
type NearestRequest struct {
	Data       Data    `json:"data"`
	Rows       []int32 `json:"-" array:"rows"` // examples, from 0
	Neighbours int     `json:"neighbours"`     // of each row, at most 64
	Compute    Compute `json:"-"`
}

// NearestResult has the neighbours of each row, Neighbours or all others if they are fewer, the
// nearest first. Distances are between features in units of their standard deviation, of sparse
// data between directions.
type NearestResult struct {
	Request   NearestRequest `json:"request" array:"-"`
	Index     [][]int32      `json:"-" array:"index"`
	Distances [][]float64    `json:"-" array:"distances"`
	Device    engine.Device  `json:"device"`
}

// Nearest returns the nearest neighbours of some examples among all others.
func Nearest(ctx context.Context, r *NearestRequest) (*NearestResult, error) {
	set, err := r.Data.examples(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	for k, i := range r.Rows {
		if i < 0 || int(i) >= set.N {
			return nil, &Fault{Kind: Invalid, Option: "rows", Row: &k, Got: fmt.Sprint(i),
				Want: fmt.Sprintf("an example from 0 to %d", set.N-1)}
		}
	}
	result := &NearestResult{Request: *r}
	err = r.Compute.use(workOn(set), func(e *engine.Engine) error {
		near, err := neighbours.Among(ctx, e, set, lists.As[int](r.Rows), r.Neighbours)
		if err != nil {
			return err
		}
		for k := range r.Rows {
			result.Index = append(result.Index, near.Index[k*near.K:(k+1)*near.K])
			result.Distances = append(result.Distances, near.Distance[k*near.K:(k+1)*near.K])
		}
		result.Device = e.Device()
		return nil
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Request.Data = r.Data.described()
	return result, nil
}
