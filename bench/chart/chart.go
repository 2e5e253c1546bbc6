// Package chart draws curves with error bars, and writes the picture to a file.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Series holds the points of a curve.
type Series struct {
	plotter.XYs
	plotter.YErrors
	Crosses plotter.XYs // values of others, drawn as crosses
}

// Draw adds the series to p. Lines join the points if joined says so.
func (s *Series) Draw(p *plot.Plot, name string, c color.Color, joined bool) error {
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
	if len(s.Crosses) == 0 {
		return nil
	}
	crosses, err := plotter.NewScatter(s.Crosses)
	if err != nil {
		return err
	}
	crosses.Color, crosses.Shape, crosses.Radius = c, draw.CrossGlyph{}, vg.Points(4)
	p.Add(crosses)
	return nil
}

// Format returns the format of a picture by its file name: svg or png; "" for other names.
func Format(path string) string {
	switch format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."); format {
	case "svg", "png":
		return format
	}
	return ""
}

// Save writes p to a file in the format of its name.
func Save(path string, p *plot.Plot) error {
	w, err := p.WriterTo(16*vg.Centimeter, 11*vg.Centimeter, Format(path))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return osfile.Write(path, func(file io.Writer) error {
		_, err := w.WriteTo(file)
		return err
	})
}
