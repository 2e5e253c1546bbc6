package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/chart"
)

// pictureAxis returns the name of the parameter over which the picture is drawn, "" for no picture:
// that of the grid with the most numbers.
func (o *Options) pictureAxis(list []candidate) (axis string, err error) {
	switch {
	case o.Picture == "":
		return "", nil
	case chart.Format(o.Picture) == "":
		return "", app.Usage("--picture is %q, wanted a name that ends in .svg or .png", o.Picture)
	}
	most := 1
	for _, text := range o.Grid.Value() {
		name, _ := flagOf(text)
		var all []float64
		for _, way := range list {
			v, err := strconv.ParseFloat(flagIn(way.flags, name), 64)
			if err != nil {
				all = nil
				break
			}
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		if len(all) > most {
			axis, most = name, len(all)
		}
	}
	if axis == "" {
		return "", app.Usage("--picture is given without numbers to draw over, wanted such as " +
			"--grid aggressiveness=0.01..10:log7")
	}
	return axis, nil
}

// picture draws the accuracy of the ways with its interval over a parameter of the grid, a curve
// for each combination of all other flags, that of the best way first.
func (r *Report) picture(axis string) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = axis, r.measure()
	all := map[string]*chart.Series{}
	var curves []string
	var values []float64
	for _, one := range r.Tried {
		x, err := strconv.ParseFloat(flagIn(one.Flags, axis), 64)
		if err != nil {
			return nil, err
		}
		values = append(values, x)
		curve := strings.Join(slices.DeleteFunc(strings.Fields(one.Flags), func(word string) bool {
			name, _ := flagOf(word)
			return name == axis
		}), " ")
		s := all[curve]
		if s == nil {
			s = &chart.Series{}
			all[curve], curves = s, append(curves, curve)
		}
		at, _ := slices.BinarySearchFunc(s.XYs, x, func(p plotter.XY, x float64) int {
			return cmp.Compare(p.X, x)
		})
		a := one.Accuracy
		s.XYs = slices.Insert(s.XYs, at, plotter.XY{X: x, Y: a.Value})
		s.YErrors = slices.Insert(s.YErrors, at, struct{ Low, High float64 }{a.Value - a.Low,
			a.High - a.Value})
	}
	if least := slices.Min(values); least > 0 && slices.Max(values) >= 10*least {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for k, curve := range curves {
		if err := all[curve].Draw(p, curve, plotutil.Color(k), true); err != nil {
			return nil, err
		}
	}
	return p, nil
}
