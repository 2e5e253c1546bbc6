package file

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// peopleText is a table of more than numbers: ids, truths, a category, missing values, texts that
// go on in the next line, and some bad examples.
func peopleText(n int, bad ...int) string {
	var b strings.Builder
	b.WriteString("id,member,colour,age,text,class\n")
	for i := range n {
		age, colour := fmt.Sprint(float64(i%900)/7), []string{"red", "blue", `"light, blue"`,
			"NA"}[i*i%7%4]
		if i%11 == 3 {
			age = ""
		}
		if i == n-5 {
			colour = "rare"
		}
		class := "c" + fmt.Sprint(i%4)
		if slices.Contains(bad, i) {
			age = "what"
		}
		fmt.Fprintf(&b, "e%d,%v,%s,%s,\"Word%d and\nword%d, the \"\"%d\"\" # word\",%s\n", i, i%3 == 0,
			colour, age, i%97, i%89, i%7, class)
	}
	return b.String()
}

// peopleOptions read what peopleText has.
func peopleOptions() Options {
	return Options{Table: Table{LabelColumn: "class", IDColumn: "id",
		Encode: &features.EncodeOptions{Missing: "indicator",
			Text: features.TextOptions{Columns: []string{"text"}, MinExamples: 2, Features: 150}}}}
}

func equalExamples(a, b dataset.Examples) bool {
	bits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	return a.N == b.N && a.D == b.D && slices.EqualFunc(a.X, b.X, bits) && slices.Equal(a.Starts,
		b.Starts) && slices.Equal(a.Columns, b.Columns) && slices.EqualFunc(a.Values, b.Values, bits)
}
