package app

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/urfave/cli/v2"
)

// ModelFlag says which model predicts.
func ModelFlag() cli.Flag {
	return InputFlag{StringFlag: &cli.StringFlag{Name: "model", Usage: "model that train wrote: `FILE`.npz (required)"}}
}

// MatchFlag says how the features of the data are matched with those of a model.
func MatchFlag() cli.Flag {
	return &cli.StringFlag{Name: "match-features", Value: "name",
		Usage: "match features with those of the model by `KEY`: name or position"}
}

// ReadFor reads the data of the flags for what was fitted to features f: these are
// chosen by name and brought into order, if there are names and --match-features
// agrees.
func ReadFor(c *cli.Context, o dataset.Options, f model.Features, n Notes) (*dataset.Dataset, error) {
	how, err := OneOf(c, "match-features", "name", "position")
	if err != nil {
		return nil, err
	}
	if err := AsModel(c, &o, f); err != nil {
		return nil, err
	}
	if how == "name" && len(f.Names) > 0 {
		o.FeatureNames = f.Names
	}
	d, err := ReadData(c.Context, c.String("data"), o, n)
	if err == nil && o.FeatureNames == nil && d.Features != nil {
		n.Say("data: %s: the features are matched by position, whatever their names", d.Path)
	}
	return d, err
}
