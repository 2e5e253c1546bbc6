package fitting

// Names of this package for its tests.
var (
	TryGammas  = tryGammas
	Systematic = systematic
	Boundary   = boundary
)
