package split

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Flags fill the options.
func TestNew(t *testing.T) {
	var got *Options
	run := func(_ context.Context, o *Options) error {
		got = o
		return nil
	}
	_, _, err := apptest.Run(t, New(run), "--data", "d.csv", "--counts", "3,rest", "--seed", "7",
		"--out", "a.csv", "--out", "b.csv", "--header", "no")
	if err != nil || got.Data.Path != "d.csv" || got.Data.Header != "no" ||
		got.Counts != "3,rest" ||
		got.Seed != 7 || !slices.Equal(got.Out.Value(), []string{"a.csv", "b.csv"}) {
		t.Errorf("found %+v, %v", got, err)
	}
	var usage *app.UsageError
	_, _, err = apptest.Run(t, New(run), "--data", "d.csv", "--header", "non")
	if !errors.As(err, &usage) || !facts.Told(err, `--header "non" auto yes no`) ||
		usage.Command != "uma-gpu split" {
		t.Errorf("found %v", err)
	}
}

// Parts that make no sense are refused.
func TestSizes(t *testing.T) {
	for _, o := range []*Options{{}, {Fractions: "0.5", Counts: "3"}, {Fractions: "0.7,0.7"},
		{Fractions: "0"}, {Counts: "rest,rest"}, {Counts: "-1"}, {Counts: "x"}} {
		if _, _, err := o.sizes(); err == nil {
			t.Errorf("%q, %q: no error", o.Fractions, o.Counts)
		}
	}
	if _, counts, err := (&Options{Counts: "1e2, rest"}).sizes(); err != nil || len(counts) != 2 {
		t.Errorf("found the counts %d, %v", counts, err)
	}
}
