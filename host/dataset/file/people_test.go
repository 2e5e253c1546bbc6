package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// shared are texts, with what they are read by.
func sharedTexts() map[string]string {
	var plain, names, numbered, sparse, comment bytes.Buffer
	names.WriteString("\xef\xbb\xbf\"first\",\"second\",\"class\"\r\n\r\n")
	numbered.WriteString(",a,b,label\n")
	for i := range 20000 {
		a, b := float64(i%37)*1.25, float64(i*i%101)/3
		fmt.Fprintf(&plain, "%v,%v,%d,c%d\n", a, b, i%3, i%5)
		fmt.Fprintf(&names, "%v,%v,c%d\r\n", a, b, (i/4000)%7)
		fmt.Fprintf(&numbered, "%d,%v,%v,%d\n", i, a, b, 12-i%11)
		fmt.Fprintf(&comment, "%v;%v;x%d\r\n", a, b, i%2)
		if i%5000 == 7 {
			comment.WriteString("# nothing\n")
		}
		fmt.Fprintf(&sparse, "%d %d:%v # %d\n", i%4, 1+i%50, a+1, i)
		if i%13 == 0 {
			sparse.WriteString("# nothing\n\t \n")
		}
	}
	return map[string]string{"plain.csv": plain.String(), "names.csv": names.String(),
		"numbered.csv": numbered.String(), "comment.csv": comment.String(),
		"sparse.svm": sparse.String()}
}

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

func sameRecipe(a, b *dataset.Encoding) bool {
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, two)
}

func equalExamples(a, b dataset.Examples) bool {
	bits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	return a.N == b.N && a.D == b.D && slices.EqualFunc(a.X, b.X, bits) && slices.Equal(a.Starts,
		b.Starts) && slices.Equal(a.Columns, b.Columns) && slices.EqualFunc(a.Values, b.Values, bits)
}
