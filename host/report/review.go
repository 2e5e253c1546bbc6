package report

import (
	_ "embed" // the page
	"html/template"
	"io"
)

//go:embed review.html
var reviewText string

//go:embed review.js
var reviewScript string

var reviewPage = template.Must(template.New("review").Parse(reviewText))

// Review is a page on which people decide about labels, row by row. It saves the decisions as a CSV
// of rows and right labels.
type Review struct {
	Title   string      `json:"title"` // the name of the data
	Date    string      `json:"date"`  // "" for none
	Again   string      `json:"again"` // code that takes the CSV
	Classes []string    `json:"classes"`
	Columns []string    `json:"columns"` // of the values of rows
	Rows    []ReviewRow `json:"rows"`
	More    int         `json:"more"` // suspects left out
	// Checked are rows that were decided before, and their labels: lines of the CSV.
	Checked [][2]string `json:"checked"`
}

// ReviewRow is a row to decide about. Classes are places in Review.Classes.
type ReviewRow struct {
	Row       string    `json:"row"`   // in the CSV
	Name      string    `json:"name"`  // for people
	Given     int       `json:"given"` // the label; below 0 for none
	Suggested int       `json:"suggested"`
	Wrong     float64   `json:"wrong"` // probability
	Sure      float64   `json:"sure"`  // probability of the suggestion
	Reason    string    `json:"reason"`
	Suspect   bool      `json:"suspect"` // the label is likely wrong
	Next      bool      `json:"next"`    // to check next
	Values    []string  `json:"values"`
	Near      []NearRow `json:"near"` // the nearest first
}

// NearRow is a row similar to another one.
type NearRow struct {
	Name   string   `json:"name"`
	Given  int      `json:"given"`
	Values []string `json:"values"`
}

// WriteHTML writes the page.
func (r *Review) WriteHTML(w io.Writer) error {
	all := script + reviewScript
	return reviewPage.Execute(w, struct {
		*Review
		Style  template.CSS
		Script template.JS
		Policy string
	}{r, template.CSS(style), template.JS(all), policy(all)})
}
