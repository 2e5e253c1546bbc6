package main

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/inject"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/show"
)

func confusionCommand() *cli.Command {
	return &cli.Command{
		Name:  "confusion",
		Usage: "estimate a confusion matrix, corrupt labels by one, look at one, or doubt it",
		Subcommands: []*cli.Command{estimateCommand(), inject.New(inject.Run), show.New(show.Run),
			checkCommand()},
	}
}
