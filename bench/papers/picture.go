package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"github.com/uma-gpu/uma-gpu/bench/chart"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

func readRows(path string) ([]Row, error) {
	text, err := osfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the rows: %w", path, err)
	}
	var rows []Row
	for k, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r Row
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || r.Experiment == "" {
			return nil, fmt.Errorf("%s:%d: found %.40q (%v), want a row of an experiment", path, k+1, line,
				err)
		}
		if len(rows) > 0 && r.Experiment != rows[0].Experiment {
			return nil, fmt.Errorf("%s:%d: found a row of %s behind one of %s, wanted rows of one "+
				"experiment", path, k+1, r.Experiment, rows[0].Experiment)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// picture draws figures as curves of the learners, tables, whose axis has the learners, as points
// of the data sets, and what has several measures, which are its axis, as points of the learners.
func picture(rows []Row) (*plot.Plot, error) {
	d := find(rows[0].Experiment)
	if d == nil {
		return nil, fmt.Errorf("found rows of %q, which is no experiment of this version",
			rows[0].Experiment)
	}
	all := map[string]*chart.Series{}
	measures := several(rows, func(r Row) string { return r.Measure })
	var names, columns []string
	for _, r := range rows {
		name, column := r.Learner, ""
		switch {
		case d.Axis != "" && several(rows, func(r Row) string { return r.Data }):
			name += ", " + r.Data
		case d.Axis != "" && measures:
			name += ", " + strings.ReplaceAll(r.Measure, "_", " ")
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
			all[name], names = &chart.Series{}, append(names, name)
		}
		s := all[name]
		s.XYs = append(s.XYs, plotter.XY{X: r.X, Y: r.Mean})
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{r.StandardError, r.StandardError})
		if r.Paper != nil {
			s.Crosses = append(s.Crosses, plotter.XY{X: r.X, Y: *r.Paper})
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
		if err := all[name].Draw(p, name, plotutil.Color(k), columns == nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func several(rows []Row, of func(Row) string) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return of(r) != of(rows[0]) })
}
