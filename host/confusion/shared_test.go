package confusion

import "github.com/uma-gpu/uma-gpu/host/confusion/internal/confusiontest"

var (
	abc          = confusiontest.ABC
	float64Bytes = confusiontest.Float64Bytes
	gzipped      = confusiontest.Gzipped
	names        = confusiontest.Names
	npyDict      = confusiontest.NPYDict
	npyFile      = confusiontest.NPYFile
	save         = confusiontest.Save
)
