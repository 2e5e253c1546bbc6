package crowd

import "github.com/uma-gpu/uma-gpu/host/confusion/internal/confusiontest"

var (
	gzipped = confusiontest.Gzipped
	names   = confusiontest.Names
	save    = confusiontest.Save
)
