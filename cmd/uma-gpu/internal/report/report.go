package training

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Who judges the examples of --data.
const (
	byFolds = "folds"
	byModel = "model"
)

func NewReport() *cli.Command {
	data := Without(app.DataFlags("examples with labels, noisy or not"), "data")
	data = append([]cli.Flag{app.InputFlag{StringFlag: &cli.StringFlag{Name: "data",
		Usage: "examples to judge by: `FILE`"}}}, data...)
	data = append(data, app.MatchFlag(),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion",
			Usage: "confusion matrix of their labels: `FILE`, CSV or .npy; " +
				"else the model's"}},
		app.AxesFlag(),
		&cli.StringFlag{Name: "judge", Value: "auto",
			Usage: "`WHO` judges: folds, trainings without each part; model; or auto"},
		&cli.IntFlag{Name: "folds", Value: 5, Usage: "hold out `K` parts in turn, from K trainings"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "history",
			Usage: "the training's curve: `FILE` that train --history wrote"}},
		&cli.StringFlag{Name: "show", Usage: "`COLUMN` of the data to show of suspicious rows: a text"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "show-file",
			Usage: "`FILE` with a line for each example, to show instead"}},
		&cli.StringFlag{Name: "pictures", DefaultText: "of IDX",
			Usage: "examples are pictures of `WxH` pixels, or none"})
	var flags []cli.Flag
	flags = append(flags, append([]cli.Flag{app.ModelFlag()}, data...)...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, []cli.Flag{
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "page to write, `FILE`.html, and its numbers, FILE.json; else text"}},
		app.JSONFlag(), app.QuietFlag()}...)
	return &cli.Command{
		Name:  "report",
		Usage: "show a model, its labels and how far to trust both, as one page",
		Description: "Writes a page of HTML that needs nothing else, neither scripts nor a network, " +
			"and the same numbers\n" +
			"as JSON beside it. Its first line says whether the confusion matrix helps, by how much, and " +
			"on\n" +
			"what evidence; then follow the learning curve, calibration, predictions and noise as heat " +
			"maps,\n" +
			"the hardest pairs of classes, a table of the classes, and the labels that are most likely " +
			"wrong.\n" +
			"Without --out the most of it is printed as text.\n\n" +
			"Of the data that the model learned from, each example is judged by a training without it, " +
			"with the\n" +
			"model's settings (--judge folds), and as many trainings without C tell whether C helps; of " +
			"other\n" +
			"data by the model, and their labels are taken for right unless --confusion says otherwise. " +
			"γ and\n" +
			"the number of components stay those of the model.\n\n" +
			"train --report FILE.html trains and reports in one go.\n\n" +
			"Example: uma-gpu report --model m.npz --data noisy.csv --out report.html",
		Flags:  flags,
		Action: reportModel,
	}
}

// reporter gathers what a report shows.
type reporter struct {
	report.Report
	out   string // "" for text
	notes app.Notes
}

// newReporter begins a report, which goes to the file out, of a model in a file.
func newReporter(c *cli.Context, out, file string, m *model.Model) *reporter {
	r := &reporter{out: out, notes: app.NewNotes(c)}
	r.Command = commandLine(c)
	r.Model, r.Classes = report.NewModel(file, m), m.Meta.Classes
	if m.Confusion != nil {
		r.Noise = &report.Noise{Source: "the one that was given to the training",
			Matrix: app.Rows(m.Confusion, m.Q)}
	} else if l := m.Learned; l != nil {
		r.Noise = &report.Noise{Source: "the one that was learned from the labels, with the model",
			Matrix: app.Rows(l.Confusion, m.Q),
			Errors: app.Rows(l.Error, m.Q)}
	}
	return r
}

// reportName checks the name of a page.
func reportName(c *cli.Context, flag string) (string, error) {
	out := c.String(flag)
	if ext := strings.ToLower(filepath.Ext(out)); out != "" && ext != ".html" && ext != ".htm" {
		return "", app.Usagef(c, "--%s is %q, wanted a name that ends in .html", flag, out)
	}
	return out, nil
}

// jsonName is the name of the file with the numbers of a page.
func jsonName(page string) string { return strings.TrimSuffix(page, filepath.Ext(page)) + ".json" }

func reportModel(c *cli.Context) error {
	if err := app.CheckUsage(c, "model"); err != nil {
		return err
	}
	out, err := reportName(c, "out")
	if err != nil {
		return err
	}
	g, err := newGrounds(c)
	if err != nil {
		return err
	}
	file := c.String("model")
	if g.Model, err = model.Load(file); err != nil {
		return err
	}
	r := newReporter(c, out, file, g.Model)
	if path := c.String("history"); path != "" {
		if r.History, err = app.Awaited(c.Context, path, ReadHistory); err != nil {
			return err
		}
	}
	if g.data == "" {
		if path := c.String("confusion"); path != "" {
			return app.Usagef(c, "--confusion is given without --data, whose labels are noisy by it")
		}
	} else if err := r.judge(c, g); err != nil {
		return err
	}
	return r.write(c)
}

// write writes the report, or prints it.
func (r *reporter) write(c *cli.Context) error {
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	r.Conclude()
	if r.out == "" {
		if c.Bool("json") {
			return r.WriteJSON(c.App.Writer)
		}
		return r.WriteText(c.App.Writer, 100)
	}
	numbers := jsonName(r.out)
	var files atomicfile.Group
	defer files.Discard()
	err := files.Write(numbers, r.WriteJSON)
	if err == nil {
		err = files.Write(r.out, func(w io.Writer) error {
			return r.WriteHTML(w,
				filepath.Base(numbers))
		})
	}
	if err == nil {
		err = files.Commit()
	}
	if err != nil {
		return err
	}
	r.notes.Say("report: %s, its numbers in %s", r.out, numbers)
	if c.Bool("json") && c.Command.Name == "report" {
		return r.WriteJSON(c.App.Writer)
	}
	return nil
}

// commandLine is what the user typed, for a shell.
func commandLine(c *cli.Context) string {
	line := "uma-gpu"
	args, _ := c.App.Metadata["args"].([]string)
	for _, a := range args {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz"+
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%", r)
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		line += " " + a
	}
	return line
}

// reported adds the report that train --report asks for.
func (t *Training) reported(c *cli.Context, trained *host.Trained, noise *confusion.Matrix,
	h *judge.History) error {
	if t.page == "" {
		return nil
	}
	r := newReporter(c, t.page, t.Model, trained.Model)
	r.History, r.Doubts = h.Moments, trained.Doubts
	s := t.seconds
	for _, p := range []report.Phase{{Name: "read", Seconds: s.Read}, {Name: "prepare",
		Seconds: s.Prepare},
		{Name: "open device", Seconds: s.Open}, {Name: "kernel", Seconds: s.Kernel}, {Name: "upload",
			Seconds: s.Upload},
		{Name: "train", Seconds: s.Train}} {
		if p.Seconds > 0 {
			r.Phases = append(r.Phases, p)
		}
	}
	err := r.judge(c, &Grounds{data: t.Data, Read: t.Read, device: t.Device, Model: trained.Model,
		judge: byFolds,
		folds: reportFolds, noiseOf: func([]string) (*confusion.Matrix, error) { return noise, nil }})
	if err != nil {
		return fmt.Errorf("the model was written, its report was not: %w", err)
	}
	return r.write(c)
}

// reportFolds is how many parts train --report holds out.
const reportFolds = 5

// checkReport checks --report and --history.
func (t *Training) checkReport(c *cli.Context) (err error) {
	if t.page, err = reportName(c, "report"); err != nil {
		return err
	}
	t.history = c.String("history")
	if t.history != "" {
		if err := checkHistory(c, t.history); err != nil {
			return err
		}
		if c.Bool("stream") {
			return app.Usagef(c, "--history goes not with --stream, which is one step")
		}
	}
	switch {
	case t.page == "":
		return nil
	case t.Data == "-":
		return app.Usagef(c,
			"--report wants to read the data twice, and standard input can be read once; write it to a file")
	case c.Bool("stream") || t.Annotators != "":
		return app.Usagef(c,
			"--report goes neither with --stream nor with --annotators; give report a model and data "+
				"with labels")
	case t.Model != "" && app.SamePlace(c, jsonName(t.page), t.Model):
		return app.Usagef(c, "--report writes its numbers to %s, which is --model", jsonName(t.page))
	}
	return atomicfile.CheckWritable(jsonName(t.page))
}
