package app

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// learnedColumns are the flags about columns whose answer a model keeps.
var learnedColumns = []string{"categories", "levels", "missing", "text", "text-features", "text-min-df", "text-ngrams"}

// columnFlags say what becomes of the columns of a table that are more than numbers.
func columnFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "categories",
			Usage: "comma `LIST` of columns that are categories, as those of words are"},
		&cli.IntFlag{Name: "levels", DefaultText: fmt.Sprint(dataset.DefaultLevels),
			Usage: "most `LEVELS` of a category, each a feature"},
		&cli.StringFlag{Name: "text", Usage: "comma `LIST` of columns of free text, of which tf-idf becomes features"},
		&cli.IntFlag{Name: "text-features", DefaultText: fmt.Sprint(dataset.DefaultTextFeatures),
			Usage: "most `TERMS`, words and runs of words, of a text's vocabulary"},
		&cli.IntFlag{Name: "text-min-df", DefaultText: fmt.Sprint(dataset.DefaultTextMinExamples),
			Usage: "fewest `EXAMPLES` that have a term of it"},
		&cli.IntFlag{Name: "text-ngrams", DefaultText: fmt.Sprint(dataset.DefaultTextWords),
			Usage: "most `WORDS` in a run"},
		&cli.StringFlag{Name: "missing", Value: "error",
			Usage: "`RULE` for missing values: error, mean, indicator (and a feature)"},
		&cli.StringFlag{Name: "unseen", Value: "zero",
			Usage: "`RULE` for levels that the model does not know: zero (none) or error"},
	}
}

// columnOptions checks the flags of columnFlags.
func columnOptions(c *cli.Context, o *dataset.Options) (err error) {
	o.Encode = &dataset.EncodeOptions{Levels: c.Int("levels")}
	if list := c.String("categories"); list != "" {
		o.Encode.Categories = strings.Split(list, ",")
	}
	text := &o.Encode.Text
	if list := c.String("text"); list != "" {
		text.Columns = strings.Split(list, ",")
	}
	for _, number := range []struct {
		flag string
		into *int
		most int
	}{
		{"text-features", &text.Features, math.MaxInt32}, {"text-min-df", &text.MinExamples, math.MaxInt32},
		{"text-ngrams", &text.Words, dataset.MostTextWords},
	} {
		if !c.IsSet(number.flag) {
			continue
		}
		if *number.into = c.Int(number.flag); *number.into < 1 || *number.into > number.most {
			return Usagef(c, "--%s is %d, wanted 1 to %d", number.flag, *number.into, number.most)
		}
		if text.Columns == nil {
			return Usagef(c, "--%s is given without --text", number.flag)
		}
	}
	if c.IsSet("levels") && o.Encode.Levels < 1 {
		return Usagef(c, "--levels is %d, wanted at least 1", o.Encode.Levels)
	}
	if o.Encode.Missing, err = OneOf(c, "missing", "error", "mean", "indicator"); err != nil {
		return err
	}
	o.Unseen, err = OneOf(c, "unseen", "zero", "error")
	return err
}

// missingText tells which columns lack values.
func missingText(missing []dataset.MissingCount) string {
	const most = 5
	var parts []string
	for k, m := range missing {
		if k == most {
			parts = append(parts, fmt.Sprintf("… (%d columns in all)", len(missing)))
			break
		}
		parts = append(parts, fmt.Sprintf("%d in %s", m.Values, m.Column))
	}
	if parts == nil {
		return ""
	}
	return "; missing values: " + strings.Join(parts, ", ")
}

// AsModel has o read the columns of a table as those that became features f. Flags that ask for something else are
// wrong, but where a training goes on, which may be given its flags once more.
func AsModel(c *cli.Context, o *dataset.Options, f model.Features) error {
	for _, flag := range learnedColumns {
		if c.IsSet(flag) && !Visible(c, "resume") {
			return Usagef(c, "--%s is given with a model, which knows what becomes of the columns; give it to train", flag)
		}
	}
	o.Features, o.Encoding, o.Encode = f.Count, f.Encoding, nil
	return nil
}

// Brief is a name from a file without characters that steer a terminal, cut to what a line has room for.
func Brief(name string) string {
	const most = 40
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, name))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return string(text)
}
