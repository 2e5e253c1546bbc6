package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": percent,
	"share": func(v *float64) string {
		if v == nil {
			return "–"
		}
		return percent(*v)
	},
	"count":  count,
	"chance": Chance,
	"number": func(v float64) string { return fmt.Sprintf("%.4g", v) },
	"bar":    func(v float64) string { return fmt.Sprintf("%.0f", 100*min(1, max(0, v))) },
	"cut":    cut,
	"safe":   func(s string) template.URL { return template.URL(s) }, // pictures that Picture made
}).Parse(pageText))

// mostClasses is how many classes the page's table shows, the hardest first.
const mostClasses = 60

// mostText is how many characters of a text the page shows.
const mostText = 280

// view is the input of the page's template.
type view struct {
	*Report
	JSON                string // name of the file beside it
	Style               template.CSS
	Calibration         *diagram
	Noise, Errors, Seen *heatMap
	PerClass            []classRow
	ClassesLeftOut      int
	Pictures            bool
	First, Rest         suspects
}

// suspects is a part of the list of suspects.
type suspects struct {
	List     []Suspect
	Pictures bool
	Texts    bool
}

// openSuspects is how many suspects are visible before the rest is unfolded.
const openSuspects = 12

// classRow is a row of the table of classes.
type classRow struct {
	Class                 string
	Examples              string
	Recall, Precision, F1 *float64
	Interval              string // of the recall
}

// WriteHTML writes the page. json is the name of the file with the same numbers.
func (r *Report) WriteHTML(w io.Writer, json string) error {
	v := view{Report: r, JSON: json, Style: template.CSS(style)}
	if err := v.noise(); err != nil {
		return err
	}
	if j := r.Judged; j != nil {
		if err := v.judged(j); err != nil {
			return err
		}
	}
	for _, s := range r.Suspects {
		v.Pictures = v.Pictures || s.Picture != ""
	}
	texts := slices.ContainsFunc(r.Suspects, func(s Suspect) bool { return s.Text != "" })
	n := min(openSuspects, len(r.Suspects))
	v.First = suspects{r.Suspects[:n], v.Pictures, texts}
	v.Rest = suspects{r.Suspects[n:], v.Pictures, texts}
	return page.Execute(w, v)
}

// noise draws the confusion matrix of the labels and its standard errors.
func (v *view) noise() error {
	n := v.Report.Noise
	if n == nil {
		return nil
	}
	draw := func(shares [][]float64, m heatMap) (*heatMap, error) {
		m.Rows, m.Columns, m.Classes = "noisy label", "true class", v.Classes
		text := func(i, j int) string { return hundredths(shares[i][j]) }
		more := func(i, j int) string {
			return fmt.Sprintf("%.2[2]f %% of %[1]s are labelled %[3]s", v.Classes[j], 100*shares[i][j],
				v.Classes[i])
		}
		h, err := newHeatMap(m, func(i, j int) float64 { return shares[i][j] }, text, more)
		return &h, err
	}
	var err error
	v.Noise, err = draw(n.Matrix, heatMap{Title: "The labels: P(noisy label | true class), %",
		Note: "It was " + n.Source + "."})
	if err != nil || n.Errors == nil {
		return err
	}
	v.Errors, err = draw(n.Errors, heatMap{Title: "Standard errors, %"})
	return err
}

// judged draws the quality of the predictions.
func (v *view) judged(j *Judged) (err error) {
	v.Calibration = calibration(j.Reliability)
	note := "Compared with the labels as they are."
	if j.Corrected != nil {
		note = "Compared with right labels, estimated."
	}
	h, err := newHeatMap(heatMap{Title: "The predictions: P(predicted | true class), %", Note: note,
		Rows: "predicted", Columns: "true class", Classes: v.Classes}, j.share,
		func(i, k int) string { return hundredths(j.share(i, k)) }, func(i, k int) string {
			return fmt.Sprintf("%s examples of %s are predicted as %s", count(j.examples(i, k)),
				v.Classes[k], v.Classes[i])
		})
	if err != nil {
		return err
	}
	v.Seen = &h
	v.classes(j)
	return nil
}

// classes fills the table of classes.
func (v *view) classes(j *Judged) {
	if c := j.Corrected; c != nil {
		for _, p := range c.PerClass {
			row := classRow{Class: p.Class, Examples: percent(p.Share), F1: p.F1}
			if e := p.Recall; e != nil {
				row.Recall, row.Interval = &e.Value, percent(e.Low)+" to "+percent(e.High)
			}
			if e := p.Precision; e != nil {
				row.Precision = &e.Value
			}
			v.PerClass = append(v.PerClass, row)
		}
	} else {
		for _, p := range j.PerClass {
			v.PerClass = append(v.PerClass, classRow{p.Class, fmt.Sprint(p.Examples), p.Recall, p.Precision,
				p.F1, ""})
		}
	}
	if n := len(v.PerClass); n > mostClasses {
		v.PerClass, v.ClassesLeftOut = v.PerClass[:mostClasses], n-mostClasses
	}
}

// hundredths formats a share in percent for a small cell, "" for nearly none.
func hundredths(v float64) string {
	switch p := 100 * v; {
	case p < 0.05:
		return ""
	case p < 9.95:
		return fmt.Sprintf("%.1f", p)
	default:
		return fmt.Sprintf("%.0f", p)
	}
}

// cut shortens a text to mostText characters.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > mostText {
		return string(r[:mostText-1]) + "…"
	}
	return text
}

// Chance formats a probability.
func Chance(v float64) string {
	if v < 0.0005 {
		return "under 0.1 %"
	}
	return percent(v)
}
