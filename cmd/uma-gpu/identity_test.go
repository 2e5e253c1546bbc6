package main

import (
	"errors"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestIdentities: each rank says which rank has another program, another contract or other data
// than rank 0.
func TestIdentities(t *testing.T) {
	same := device.Identity{1 << 62, 2, -3}
	for _, c := range []struct {
		odd  device.Identity
		want string
	}{
		{same, ""},
		{device.Identity{5, 2, -3}, "rank 1 program rank 0"},
		{device.Identity{1 << 62, 3, -3}, "rank 1 contract rank 0"},
		{device.Identity{1 << 62, 2, 3}, "rank 1 data rank 0"},
	} {
		var all sync.WaitGroup
		for rank, r := range shard.NewGroup(3) {
			all.Go(func() {
				mine := same
				if rank == 1 {
					mine = c.odd
				}
				err := device.CompareIdentities(r, mine)
				if c.want == "" && err == nil {
					return
				}
				if !errors.Is(err, shard.ErrDiffers) || !facts.Told(err, c.want) {
					t.Errorf("rank %d of %v: found %v, wanted %q", rank, c.odd, err, c.want)
				}
			})
		}
		all.Wait()
	}
}
