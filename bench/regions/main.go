// Command regions draws the regions of two classes in the plane, as uma-gpu predict found
// them on a grid, and the noisy training examples.
//
//	regions -grid 400 > grid.csv
//	uma-gpu predict --model m.npz --data grid.csv --no-labels --out classes.txt
//	regions -grid 400 -examples noisy.csv -classes classes.txt -out banana.png
//
// bench/regions.sh does all of it. Both files are without a header.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"
)

// The square of the plane that is drawn, [-edge, edge]², in pixels of two a grid cell.
const (
	edge = 3.2
	cell = 2
)

var (
	soft   = []color.RGBA{{214, 228, 245, 255}, {250, 226, 206, 255}}
	strong = []color.RGBA{{44, 98, 160, 255}, {196, 98, 26, 255}}
)

func main() {
	size := flag.Int("grid", 300, "points of the grid along each axis")
	examples := flag.String("examples", "", "CSV `file` of x, y and class")
	classes := flag.String("classes", "", "`file` with the predicted class of each point of the grid")
	out := flag.String("out", "", "picture to write, `file`.png; without it the grid is printed")
	flag.Parse()
	if err := run(*size, *examples, *classes, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "regions:", err)
		os.Exit(1)
	}
}

func run(size int, examples, classes, out string, stdout io.Writer) error {
	if size < 2 {
		return fmt.Errorf("-grid is %d, wanted at least 2", size)
	}
	if out == "" {
		w := bufio.NewWriter(stdout)
		for i := range size * size {
			fmt.Fprintf(w, "%g,%g\n", at(i%size, size), -at(i/size, size))
		}
		return w.Flush()
	}
	predicted, err := lines(classes)
	if err != nil {
		return err
	}
	if len(predicted) != size*size {
		return fmt.Errorf("%s: found %d classes, wanted %d, one for each point of the grid", classes, len(predicted),
			size*size)
	}
	points, err := lines(examples)
	if err != nil {
		return err
	}
	picture := image.NewRGBA(image.Rect(0, 0, cell*size, cell*size))
	for y := range cell * size {
		for x := range cell * size {
			picture.SetRGBA(x, y, soft[class(predicted[y/cell*size+x/cell])])
		}
	}
	for n, line := range points {
		f := strings.Split(line, ",")
		if len(f) != 3 {
			return fmt.Errorf("%s:%d: found %d columns, wanted 3", examples, n+1, len(f))
		}
		x, errX := strconv.ParseFloat(f[0], 64)
		y, errY := strconv.ParseFloat(f[1], 64)
		if errX != nil || errY != nil {
			return fmt.Errorf("%s:%d: found %q, wanted two numbers and a class", examples, n+1, line)
		}
		px, py := int((x+edge)/(2*edge)*float64(cell*size)), int((edge-y)/(2*edge)*float64(cell*size))
		for d := range 4 {
			picture.SetRGBA(px+d%2, py+d/2, strong[class(f[2])])
		}
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := png.Encode(file, picture); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// at is the middle of cell i of size.
func at(i, size int) float64 { return edge * (2*float64(i) + 1 - float64(size)) / float64(size) }

// class is 0 for the names that begin with a minus, as banana's first does.
func class(name string) int {
	if strings.HasPrefix(name, "-") {
		return 0
	}
	return 1
}

func lines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), nil
}
