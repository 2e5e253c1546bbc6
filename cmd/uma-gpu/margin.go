package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/kernel/meanmodel"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func marginCommand() *cli.Command {
	flags := append([]cli.Flag{app.ModelFlag()}, app.DataFlags("examples with right labels")...)
	flags = append(flags, app.NoLabelsFlag(), app.MatchFlag(),
		&cli.IntFlag{Name: "landmarks", Value: 1024, Usage: "try up to `K` landmarks"})
	return &cli.Command{
		Name:  "margin",
		Usage: "how much a kernel model stands: scores off, fewer landmarks, wrong labels",
		Description: "The margin for error of a classifier is how far each of its scores may be off " +
			"and no more than a\n" +
			"share of the examples becomes wrong (van Rooyen et al., Section 4.1). From it follow, for " +
			"that share:\n" +
			"to how few landmarks uma-gpu compress may bring the model, powers of 2 being tried; and, of " +
			"the mean\n" +
			"classifier of right labels, which rate of symmetric noise its labels could have had (Lemma " +
			"9, 95 times of\n" +
			"100) and which part of them may be wrong in the worst way (Corollary 8). These are " +
			"promises: what a\n" +
			"model really stands is more, and often far more. With --no-labels the classes are those it " +
			"predicts.\n\n" +
			"Example: uma-gpu kernelmean margin --model m.npz --data train.csv",
		Flags:  append(append(flags, device.Flags()...), app.JSONFlag(), app.QuietFlag()),
		Action: margin,
	}
}

func margin(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "model", "data"); err != nil {
		return err
	}
	most := c.Int("landmarks")
	if most < 1 {
		return app.Usagef(c, "--landmarks is %d, wanted at least 1", most)
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	path := c.String("model")
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if _, err := m.Fold(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	n := app.NewNotes(c)
	d, err := dataToCompare(c, m, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	e, err := where.Open(n, device.WorkOnComponents(max(d.N, m.Projection.Landmarks.N), m.D, m.Q))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, err := meanmodel.Margins(c.Context, e, m, d.Examples, d.Y, most)
	if c.Context.Err() != nil {
		return app.Interrupted(c.Context)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, app.AdviseMemory(err))
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, found)
	}
	return printMargins(c, found, d.Y == nil, most)
}

func printMargins(c *cli.Context, found []meanmodel.Margin, own bool, most int) error {
	lost := "more wrong"
	if own {
		lost = "of other classes than now"
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(c.App.Writer,
			"no margin: the score of no example's class is above those of the others")
		return err
	}
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	labels := found[0].Labels > 0
	fmt.Fprintf(t, "%s\tscores off by less than\tlandmarks", lost)
	if labels {
		fmt.Fprint(t, "\tlabels wrong by chance\tlabels wrong in the worst way")
	}
	fmt.Fprintln(t)
	for _, m := range found {
		landmarks := fmt.Sprint(m.Landmarks)
		if m.Landmarks == 0 {
			landmarks = fmt.Sprintf("more than %d", most)
		}
		fmt.Fprintf(t, "%.4g %%\t%.3g\t%s", 100*m.Share, m.Error, landmarks)
		if labels {
			fmt.Fprintf(t, "\t%.3g %%\t%.3g %%", 100*m.Noise, 100*m.Labels)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
