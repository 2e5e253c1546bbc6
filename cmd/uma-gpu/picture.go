package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/uma-gpu/uma-gpu/bench/papers"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/smallfile"
)

func pictureCommand() *cli.Command {
	return &cli.Command{
		Name:  "plot",
		Usage: "draw the rows of an experiment",
		Description: "Means with their standard errors; crosses are the paper's values. The same rows give the same\n" +
			"picture.\n\n" +
			"Example: uma-gpu reproduce plot --rows rows.jsonl --picture figure.svg",
		Flags: []cli.Flag{
			app.InputFlag{StringFlag: &cli.StringFlag{Name: "rows", Usage: "`FILE` that reproduce wrote (required)"}},
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "picture", Usage: "`FILE` to write, .svg or .png (required)"}},
		},
		Action: drawRows,
	}
}

func drawRows(c *cli.Context) error {
	if err := app.CheckUsage(c, "rows", "picture"); err != nil {
		return err
	}
	if _, err := pictureFormat(c); err != nil {
		return err
	}
	rows, err := app.Awaited(c.Context, c.String("rows"), readRows)
	if err != nil {
		return err
	}
	p, err := picture(rows)
	if err != nil {
		return fmt.Errorf("%s: %w", c.String("rows"), err)
	}
	return savePicture(c, p)
}

// pictureFormat returns the format that the name of --picture asks for.
func pictureFormat(c *cli.Context) (string, error) {
	out := c.String("picture")
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), ".")
	if format != "svg" && format != "png" {
		return "", app.Usagef(c, "--picture is %q, wanted a name that ends in .svg or .png", out)
	}
	return format, nil
}

// savePicture writes p to the file of --picture.
func savePicture(c *cli.Context, p *plot.Plot) error {
	out := c.String("picture")
	format, err := pictureFormat(c)
	if err != nil {
		return err
	}
	w, err := p.WriterTo(16*vg.Centimeter, 11*vg.Centimeter, format)
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return atomicfile.Write(out, func(file io.Writer) error {
		_, err := w.WriteTo(file)
		return err
	})
}

// readRows reads the rows of one experiment.
func readRows(path string) ([]papers.Row, error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the rows: %w", path, err)
	}
	var rows []papers.Row
	for k, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r papers.Row
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || r.Experiment == "" {
			return nil, fmt.Errorf("%s:%d: found %.40q (%v), wanted a row that reproduce wrote", path, k+1, line, err)
		}
		if len(rows) > 0 && r.Experiment != rows[0].Experiment {
			return nil, fmt.Errorf("%s:%d: found a row of %s behind one of %s, wanted rows of one experiment", path, k+1,
				r.Experiment, rows[0].Experiment)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// series are the points of one curve, of a table those of one data set.
type series struct {
	plotter.XYs
	plotter.YErrors // standard errors
	paper           plotter.XYs
}

// picture draws figures as curves of the learners, tables, whose axis has the learners, as points of the
// data sets, and what has several measures, which are its axis, as points of the learners.
func picture(rows []papers.Row) (*plot.Plot, error) {
	known := slices.IndexFunc(papers.All, func(d *papers.Definition) bool {
		return d.Name == rows[0].Experiment
	})
	if known < 0 {
		return nil, fmt.Errorf("found rows of %q, which is no experiment of this version", rows[0].Experiment)
	}
	d := papers.All[known]
	all := map[string]*series{}
	measures := several(rows, func(r papers.Row) string { return r.Measure })
	var names, columns []string
	for _, r := range rows {
		name, column := r.Learner, ""
		switch {
		case d.Axis != "" && several(rows, func(r papers.Row) string { return r.Data }):
			name += ", " + r.Data
		case d.Axis != "" && measures:
			name += ", " + measureNames.Replace(r.Measure)
		case measures:
			column = r.Measure
		case d.Axis == "":
			name, column = r.Data, r.Learner
		}
		if column != "" {
			if !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
			r.X = float64(slices.Index(columns, column))
		}
		if all[name] == nil {
			all[name], names = &series{}, append(names, name)
		}
		s := all[name]
		s.XYs = append(s.XYs, plotter.XY{X: r.X, Y: r.Mean})
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{r.StandardError, r.StandardError})
		if r.Paper != nil {
			s.paper = append(s.paper, plotter.XY{X: r.X, Y: *r.Paper})
		}
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = d.Paper, d.Axis, rows[0].Measure
	if measures {
		p.Y.Label.Text = ""
	}
	p.Y.Min = 0
	p.Legend.Top = columns != nil
	if columns != nil {
		p.NominalX(columns...)
	} else if c := all[names[0]].XYs; (c[len(c)-1].X-c[0].X)*(c[len(c)-1].Y-c[0].Y) > 0 {
		p.Legend.Top, p.Legend.Left = true, true // where a rising curve is not
	}
	for k, name := range names {
		if err := all[name].draw(p, name, plotutil.Color(k), columns == nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// several says whether rows differ in what of says.
func several(rows []papers.Row, of func(papers.Row) string) bool {
	return slices.ContainsFunc(rows, func(r papers.Row) bool { return of(r) != of(rows[0]) })
}

// draw adds the series to p, the points joined if so asked.
func (s *series) draw(p *plot.Plot, name string, c color.Color, joined bool) error {
	line, points, err := plotter.NewLinePoints(s.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return err
	}
	line.Color, points.Color, bars.Color = c, c, c
	points.Shape, points.Radius = draw.CircleGlyph{}, vg.Points(2)
	p.Add(points, bars)
	if joined {
		p.Add(line)
	}
	p.Legend.Add(name, points)
	if len(s.paper) == 0 {
		return nil
	}
	crosses, err := plotter.NewScatter(s.paper)
	if err != nil {
		return err
	}
	crosses.Color, crosses.Shape, crosses.Radius = c, draw.CrossGlyph{}, vg.Points(4)
	p.Add(crosses)
	return nil
}
