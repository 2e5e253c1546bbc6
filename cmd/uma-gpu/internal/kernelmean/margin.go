package kernelmean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/kernel/meanmodel"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Margin are the options of kernelmean margin.
type Margin struct {
	classify.Options
	Most int // landmarks to try
}

func newMargin() *cli.Command {
	o := new(Margin)
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
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples with right labels"),
			o.Data.NoLabelsFlag(), o.Model.MatchFlag(),
			app.Range(&cli.IntFlag{Name: "landmarks", Value: 1024, Destination: &o.Most,
				Usage: "try up to `K` landmarks"}, 1, math.MaxInt),
			o.Device.Flags(&o.Common), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(&o.Common, o.run),
	}
}

// run prints the margins.
func (o *Margin) run(ctx context.Context) (err error) {
	where, err := o.Device.Choose()
	if err != nil {
		return err
	}
	path := o.Model.Path
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if _, err := m.Fold(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	d, err := o.DataFor(ctx, m)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	e, err := where.Open(o.Notes,
		device.WorkOnComponents(max(d.N, m.Projection.Landmarks.N), m.D, m.Q))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, err := meanmodel.Margins(ctx, e, m, d.Examples, d.Y, o.Most)
	if ctx.Err() != nil {
		return app.Interrupted(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, app.AdviseMemory(err))
	}
	return o.Print(found, func(w io.Writer) error {
		return printMargins(w, found, d.Y == nil, o.Most)
	})
}

func printMargins(w io.Writer, found []meanmodel.Margin, own bool, most int) error {
	lost := "more wrong"
	if own {
		lost = "of other classes than now"
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(w,
			"no margin: the score of no example's class is above those of the others")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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
