package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent":  percent,
	"cutShare": func(v float64) string { return percent(possible(v)) },
	"share": func(v *float64) string {
		if v == nil {
			return "–"
		}
		return percent(possible(*v))
	},
	"count":      count,
	"chance":     Chance,
	"hundredths": hundredths,
	"hue":        hue,
	"number":     func(v float64) string { return fmt.Sprintf("%.4g", v) },
	"bar":        func(v float64) string { return fmt.Sprintf("%.0f", 100*possible(v)) },
	"cut":        cut,

	"abbreviated": abbreviated,
	"safe":        func(s string) template.URL { return template.URL(s) }, // what Picture made
	// places of shares in a diagram, to a tenth
	"x":     func(v float64) float64 { return math.Round(600+4120*possible(v)) / 10 },
	"y":     func(v float64) float64 { return math.Round(2560-2480*possible(v)) / 10 },
	"ticks": func() []float64 { return []float64{0, 0.2, 0.4, 0.6, 0.8, 1} },
}).Parse(pageText))

// Limits of the page.
const (
	mostClasses  = 60  // in the table of classes
	mostCells    = 30  // classes in the table of a matrix
	mostText     = 280 // characters of a text
	openSuspects = 12  // suspects that are visible before the rest is unfolded
)

// view is the input of the page's template.
type view struct {
	*Report
	JSON                string // name of the file beside it
	Style               template.CSS
	Script              template.JS
	Policy              string // of scripts, by Script's hash
	Calibration         []dot
	Noise, Errors, Seen *heatMap
	PerClass            []classRow
	ClassesLeftOut      int
	First, Rest         suspects
}

// suspects is a part of the list of suspects.
type suspects struct {
	List     []Suspect
	Pictures bool
	Texts    bool
	Shown    string // the column of the texts
}

// heatMap is a matrix as the page shows it: Shares[row][column].
type heatMap struct {
	Title, Note   string
	Rows, Columns string // what they are
	Classes       []string
	Shares        [][]float64
	Kind          string // of its look: plain without right and wrong cells, tall of many names
}

// classRow is a row of the table of classes.
type classRow struct {
	Class                 string
	Examples              string
	Recall, Precision, F1 *float64
	Interval              string // of the recall
}

// dot is a bin of the calibration, with two standard errors to each side.
type dot struct{ Probability, Right, Low, High float64 }

// WriteHTML writes the page. json is the name of the file with the same numbers.
func (r *Report) WriteHTML(w io.Writer, json string) error {
	v := view{Report: r, JSON: json, Style: template.CSS(style), Script: template.JS(script),
		Policy: policy(script)}
	if n := r.Noise; n != nil && n.Matrix != nil {
		v.Noise = r.heat(heatMap{Title: "The labels: P(noisy label | true class), %",
			Note: "It was " + n.Source + ".", Rows: "noisy label"}, n.Matrix)
		if n.Errors != nil {
			v.Errors = r.heat(heatMap{Title: "Standard errors, %", Rows: "noisy label", Kind: " plain"},
				n.Errors)
		}
	}
	j := r.Judged
	note := "Compared with the labels as they are."
	if j.Corrected != nil {
		note = "Compared with right labels, estimated."
	}
	shares := make([][]float64, len(r.Classes))
	for p := range shares {
		for q := range r.Classes {
			shares[p] = append(shares[p], j.share(p, q))
		}
	}
	v.Seen = r.heat(heatMap{Title: "The predictions: P(predicted | true class), %", Note: note,
		Rows: "predicted"}, shares)
	v.Calibration = calibration(j.Reliability)
	v.classes(j)
	pictures := slices.ContainsFunc(r.Suspects, func(s Suspect) bool { return s.Picture != "" })
	texts := slices.ContainsFunc(r.Suspects, func(s Suspect) bool { return s.Text != "" })
	n := min(openSuspects, len(r.Suspects))
	v.First = suspects{r.Suspects[:n], pictures, texts, r.Shown}
	v.Rest = suspects{r.Suspects[n:], pictures, texts, r.Shown}
	return page.Execute(w, &v)
}

// heat returns the map of a Q×Q matrix of true classes in columns: of many classes, those whose
// entries on the diagonal are the smallest.
func (r *Report) heat(m heatMap, shares [][]float64) *heatMap {
	m.Columns, m.Classes, m.Shares = "true class", r.Classes, shares
	longest := 0
	for _, name := range r.Classes {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	if q := len(r.Classes); longest > 3 && (q > 8 || q > 2 && q*longest > 60) {
		m.Kind += " tall"
	}
	if q := len(r.Classes); q > mostCells {
		which := lists.UpTo[int](q)
		slices.SortStableFunc(which, func(a, b int) int {
			return cmp.Compare(shares[a][a], shares[b][b])
		})
		which = which[:mostCells]
		slices.Sort(which)
		m.Classes, m.Shares = lists.At(r.Classes, which), nil
		for _, row := range lists.At(shares, which) {
			m.Shares = append(m.Shares, lists.At(row, which))
		}
		m.Note = strings.TrimSpace(fmt.Sprintf("%s These are %d of %d classes, with the smallest "+
			"entries on the diagonal.", m.Note, mostCells, q))
	}
	return &m
}

// calibration returns the bins to draw: of five examples or more whose share is known well.
func calibration(bins []metric.Bin) (dots []dot) {
	for _, b := range bins {
		if b.Examples >= 5 && b.StandardError <= 0.2 {
			dots = append(dots, dot{b.Probability, b.Right, b.Right - 2*b.StandardError,
				b.Right + 2*b.StandardError})
		}
	}
	return dots
}

// classes fills the table of classes.
func (v *view) classes(j *Judged) {
	if c := j.Corrected; c != nil {
		for _, p := range c.PerClass {
			row := classRow{Class: p.Class, Examples: percent(possible(p.Share)), F1: p.F1}
			if e := p.Recall; e != nil {
				row.Recall = &e.Value
				row.Interval = percent(possible(e.Low)) + " to " + percent(possible(e.High))
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

// hue is the class of a cell: right on the diagonal, wrong elsewhere, the deeper the larger the
// share, by a root, for small ones matter.
func hue(row, column int, share float64) string {
	kind := "wrong"
	if row == column {
		kind = "right"
	}
	return fmt.Sprintf("%s h%d", kind, int(math.Round(10*math.Sqrt(possible(share)))))
}

// policy is the content security policy of a page whose only script is this one.
func policy(script string) string {
	hash := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'"
}

// Say returns a text with its options spelt for the page's readers.
func (v *view) Say(text string) string {
	if v.Phrase == nil {
		return text
	}
	return v.Phrase(text)
}

// abbreviated returns names without the words that all of them begin with, if they are long.
func abbreviated(names []string) []string {
	common, longest := names[0], 0
	for _, name := range names {
		for !strings.HasPrefix(name, common) {
			common = common[:strings.LastIndexAny(strings.TrimRight(common, " ./_-"), " ./_-")+1]
		}
		longest = max(longest, utf8.RuneCountInString(name))
	}
	const short = 16
	if longest <= short || common == "" || len(names) < 2 {
		return names
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = "…" + strings.TrimPrefix(name, common)
	}
	return list
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

// Picture returns a PNG, as a data: URL, of an example whose values are width×height
// pixels, row by row, the smallest black and the largest white.
func Picture(values []float32, width, height int) (string, error) {
	low, high := slices.Min(values), slices.Max(values)
	p := image.NewGray(image.Rect(0, 0, width, height))
	for i, v := range values[:width*height] {
		if high > low {
			p.Pix[i] = uint8(255 * (v - low) / (high - low))
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, p); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
