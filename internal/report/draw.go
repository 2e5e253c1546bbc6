package report

import (
	"bytes"
	"html/template"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// Colours that pictures are drawn in. The page has names for them, whose values differ by day and
// by night.
var (
	ink    = color.RGBA{1, 1, 1, 255}
	first  = color.RGBA{2, 2, 2, 255}
	second = color.RGBA{3, 3, 3, 255}
	faint  = color.RGBA{4, 4, 4, 255}
)

var named = strings.NewReplacer("#010101", "var(--ink)", "#020202", "var(--first)", "#030303",
	"var(--second)", "#040404", "var(--faint)")

// fonts are the page's, not the plot's.
var fonts = regexp.MustCompile(`font-family:[^;"]*;?|font-variant:[^;"]*;?|font-weight:[^;"]*;?|font-style:[^;"]*;?`)

// newPlot has the page's colours.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.LineStyle.Color, a.Label.TextStyle.Color = ink, ink, ink
		a.Tick.Color, a.Tick.Label.Color = ink, ink
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
}

// inline is the picture as an element of the page, described for those who do not see it.
func inline(p *plot.Plot, description string) (template.HTML, error) {
	c := vgsvg.New(14*vg.Centimeter, 8.5*vg.Centimeter)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	text := b.String()
	from := strings.Index(text, "viewBox=")
	text = `<svg role="img" aria-label="` + template.HTMLEscapeString(description) + `" ` + text[from:]
	// all of it is made here
	return template.HTML(fonts.ReplaceAllString(named.Replace(text), "")), nil
}

// line adds a curve.
func line(p *plot.Plot, points plotter.XYs, c color.Color) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1.5)
	p.Add(l)
	if len(points) <= 30 {
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.Color, s.Shape, s.Radius = c, draw.CircleGlyph{}, vg.Points(2.2)
		p.Add(s)
	}
	return nil
}

// curve draws estimated and held-out errors by steps.
func curve(history []Moment) (template.HTML, error) {
	p := newPlot("steps", "error")
	var own, held plotter.XYs
	stride := 1 + len(history)/400 // a point per pixel is enough
	for k, m := range history {
		if k%stride == 0 || k == len(history)-1 {
			own = append(own, plotter.XY{X: float64(m.Step), Y: m.EstimatedError})
		}
		if m.HeldOutError != nil {
			held = append(held, plotter.XY{X: float64(m.Step), Y: *m.HeldOutError})
		}
	}
	if err := line(p, own, first); err != nil {
		return "", err
	}
	if held != nil {
		if err := line(p, held, second); err != nil {
			return "", err
		}
	}
	p.Y.Min = min(0, p.Y.Min)
	return inline(p, "Error by steps of the training; the numbers are in the JSON file.")
}

// Bins of fewer examples than leastInBin, or with a standard error above
// mostUnsure, say nothing that can be drawn.
const (
	leastInBin = 5
	mostUnsure = 0.2
)

// diagram draws how often what was promised came true, with two standard errors.
func diagram(bins []metric.Bin) (template.HTML, error) {
	p := newPlot("probability of the predicted class", "share that is right")
	diagonal, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	if err != nil {
		return "", err
	}
	diagonal.Color, diagonal.Dashes = ink, []vg.Length{vg.Points(3), vg.Points(3)}
	p.Add(diagonal)
	var points plotter.XYs
	var bars plotter.YErrors
	for _, b := range bins {
		if b.Examples >= leastInBin && b.StandardError <= mostUnsure {
			points = append(points, plotter.XY{X: b.Probability, Y: b.Right})
			bars = append(bars, struct{ Low, High float64 }{2 * b.StandardError, 2 * b.StandardError})
		}
	}
	if points == nil {
		return "", nil
	}
	if err := line(p, points, first); err != nil {
		return "", err
	}
	errors, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, bars})
	if err != nil {
		return "", err
	}
	errors.Color = first
	p.Add(errors)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, min(0, p.Y.Min), max(1, p.Y.Max)
	return inline(p, "Share of right predictions by their probability; the numbers are in the JSON "+
		"file.")
}
