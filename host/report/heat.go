package report

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
)

// mostCells is the largest number of classes whose matrix is a table; others are a picture. Of up
// to mostTold classes each cell tells a pointer in a sentence what it is.
const (
	mostCells = 30
	mostTold  = 15
)

// heatMap is a Q×Q matrix as the page shows it: [row][column].
type heatMap struct {
	Title, Note   string
	Rows, Columns string // what they are
	Classes       []string
	Cells         [][]heatCell // of up to mostCells classes
	Picture       template.URL // of more
}

// heatCell is a number with a colour from 0 to 10, and what a pointer on it is told.
type heatCell struct {
	Text, More string
	Level      int
}

// levels of colour.
const levels = 10

// newHeatMap draws shares in [0, 1], each by text and more.
func newHeatMap(m heatMap, share func(i, j int) float64, text, more func(i, j int) string) (heatMap,
	error) {
	q := len(m.Classes)
	if q > mostCells {
		var err error
		m.Picture, err = heatPicture(q, share)
		return m, err
	}
	m.Cells = make([][]heatCell, q)
	for i := range q {
		for j := range q {
			cell := heatCell{Text: text(i, j), Level: level(share(i, j))}
			if q <= mostTold && cell.Text != "" {
				cell.More = more(i, j)
			}
			m.Cells[i] = append(m.Cells[i], cell)
		}
	}
	return m, nil
}

// level is the colour of a share: a root, for small ones matter.
func level(share float64) int {
	return int(math.Round(levels * math.Sqrt(min(1, max(0, share)))))
}

// heatPicture draws one pixel for each cell, as a PNG in a data: URL.
func heatPicture(q int, share func(i, j int) float64) (template.URL, error) {
	colours := make(color.Palette, levels+1)
	for k := range colours {
		t := float64(k) / levels
		mix := func(from, to float64) uint8 { return uint8(from + t*(to-from)) }
		colours[k] = color.RGBA{mix(247, 8), mix(251, 48), mix(255, 107), 255}
	}
	p := image.NewPaletted(image.Rect(0, 0, q, q), colours)
	for i := range q {
		for j := range q {
			p.SetColorIndex(j, i, uint8(level(share(i, j))))
		}
	}
	return dataURL(p)
}

// Picture returns a PNG, as a data: URL, of an example whose values are width×height
// pixels, row by row, the smallest black and the largest white.
func Picture(values []float32, width, height int) (string, error) {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	p := image.NewGray(image.Rect(0, 0, width, height))
	for i, v := range values[:width*height] {
		if high > low {
			p.Pix[i] = uint8(255 * (v - low) / (high - low))
		}
	}
	url, err := dataURL(p)
	return string(url), err
}

func dataURL(p image.Image) (template.URL, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, p); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
