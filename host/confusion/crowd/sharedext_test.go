package crowd_test

import "github.com/uma-gpu/uma-gpu/host/confusion/internal/confusiontest"

var (
	abc       = confusiontest.ABC
	draw      = confusiontest.Draw
	meanError = confusiontest.MeanError
	names     = confusiontest.Names
)
