package fitting

import (
	"context"

	"github.com/uma-gpu/uma-gpu/learners"
)

type (
	Search = gammaSearch
	Trial  = trial
)

func (s gammaSearch) Find(ctx context.Context, p *learners.Problem) ([]Trial, int, error) {
	return s.find(ctx, p)
}

// Systematic is systematic.
var Systematic = systematic

// Boundary is boundary.
var Boundary = boundary
