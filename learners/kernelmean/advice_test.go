package kernelmean

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestAdviseAtoms: only where all examples are atoms and an hour does not do.
func TestAdviseAtoms(t *testing.T) {
	for _, c := range []struct {
		n, atoms int
		advised  bool
	}{{60000, 0, false}, {599999, 0, false}, {600000, 0, true}, {10_000_000, 4000, false}, {10_000_000,
		-1, false}} {
		if said := adviseAtoms(c.n, c.atoms); (said != "") != c.advised {
			t.Errorf("%d examples, %d atoms: said %q", c.n, c.atoms, said)
		}
	}
	if said := adviseAtoms(1_200_000, 0); !facts.Told(said, "4 hours") {
		t.Errorf("said %q", said)
	}
}
